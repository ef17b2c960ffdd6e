package docs

import (
	"fmt"
	"html"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// section is the part of the page about one operation or schema, unescaped.
func section(t *testing.T, whole, id string) string {
	t.Helper()
	_, rest, ok := strings.Cut(whole, `<article class="op" id="`+id+`"`)
	if !ok {
		t.Fatalf("no section %s", id)
	}
	part, _, _ := strings.Cut(rest, "</article>")
	return html.UnescapeString(part)
}

func TestOperationShowsWhatACallerNeeds(t *testing.T) {
	part := section(t, page(t, sampleDocument()), "move_card")
	wants(t, part,
		`<span class="method m-POST">POST</span>`, `<var>{cardId}</var>`, `needs the scope </span>write`,
		`<code>listId</code> <span class="must">required</span>`,
		`<span class="dim">position.</span>before</code> <span class="flag">one form</span>`,
		`One of <code>top</code>, <code>bottom</code>`, `at most 512 characters`, `Default <code>bottom</code>`,
		"curl -X POST '"+testBase+"/api/public/v1/cards/crd_01jq/move'", `-H "Authorization: Bearer $CARDWALL_TOKEN"`,
		`-d '{"listId":"lst_01jr"}'`,
		`<span class="dim">data.</span>title`, `<a href="#schema-Card">Card</a>`, `"boardVersion": 412`,
		`<a href="#error-capacity_full"><code>capacity_full</code></a>`, "Response headers", "X-RateLimit-Limit",
	)
}

func TestQueryParametersAndEnumOfItems(t *testing.T) {
	part := section(t, page(t, sampleDocument()), "list_cards")
	wants(t, part, "1 to 200", "Default <code>50</code>", "array of string", "One of <code>overdue</code>",
		"/boards/BOARD_ID/cards'")
}

func TestRecursiveSchemaStopsWithALink(t *testing.T) {
	part := section(t, page(t, sampleDocument()), "schema-Node")
	wants(t, part, `array of <a href="#schema-Node">Node</a>`)
	if strings.Contains(part, "children[].children") {
		t.Error("the schema was unfolded within itself")
	}
}

func TestTypesInWords(t *testing.T) {
	part := section(t, page(t, sampleDocument()), "schema-Odd")
	wants(t, part,
		`string or integer or null`, // a type array with null
		`<a href="#schema-Card">Card</a> or <a href="#schema-Node">Node</a> or null`,
		`<a href="#schema-Node">Node</a> or null`, // anyOf of one and null
		`map of <a href="#schema-Card">Card</a>`, `string (date-time)`, `Missing`, `One of <code>fixed</code>`,
		`any`,
	)
	merged := section(t, page(t, sampleDocument()), "schema-Merged")
	wants(t, merged, "<code>title</code>", `<code>extra</code> <span class="must">required</span>`)
}

func TestMarkdown(t *testing.T) {
	d := &document{anchors: map[string]string{"get_card": "#get_card"}}
	got := d.markdown("One *two*\nthree `a|b` **four**.\n\n# Top\n### Deep\n- x\n- y\n  z\n\n1. n\n```\n<b>\n```\n| a | b |\n|---|---|\n| `p|q` | r \\| s |\n\n[ok](https://e.org) [bad](javascript:alert(1)) `get_card` 2 * 3 * 4", 3)
	var kinds []string
	for _, b := range got {
		kinds = append(kinds, fmt.Sprint(b.Kind, b.Level))
	}
	if s := strings.Join(kinds, " "); s != "paragraph0 heading3 heading4 list0 numbered0 code0 table0 paragraph0" {
		t.Fatal(s)
	}
	if s := got[6].Rows[0]; s[0][0] != (span{Kind: "code", Text: "p|q"}) || s[1][0].Text != "r | s" {
		t.Errorf("cells %v", s)
	}
	if s := fmt.Sprint(got[7].Text); !strings.Contains(s, "{link ok https://e.org}") ||
		!strings.Contains(s, "[bad](javascript:alert(1))") ||
		!strings.Contains(s, "{code get_card #get_card}") || strings.Contains(s, "{em") {
		t.Error(s)
	}
	if got[3].Items[1][0].Text != "y z" {
		t.Errorf("items %v", got[3].Items)
	}
}

func TestShellQuoting(t *testing.T) {
	if got := quote("it's $(x)"); got != `'it'\''s $(x)'` {
		t.Error(got)
	}
}

// TestColoursHaveContrast holds every pair of text and ground to 4.5 to 1
// (WCAG 2.2, 1.4.3) in both schemes.
func TestColoursHaveContrast(t *testing.T) {
	css, err := files.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).FindAllStringSubmatch(string(css), -1) {
		colours[m[1]] = [2]string{m[2], m[3]}
	}
	pairs := [][2]string{{"ink", "page"}, {"ink", "raised"}, {"ink", "code"}, {"soft", "page"}, {"soft", "raised"},
		{"soft", "code"},
		{"link", "page"}, {"link", "code"}, {"link", "mark"}, {"must", "page"}, {"ink", "mark"}, {"soft", "mark"}}
	for _, name := range []string{"get", "post", "put", "patch", "delete", "other"} {
		pairs = append(pairs, [2]string{name + "-ink", name + "-tint"})
	}
	for _, pair := range pairs {
		for scheme := range 2 {
			a, b := luminance(colours[pair[0]][scheme]), luminance(colours[pair[1]][scheme])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); !(ratio >= 4.5) {
				t.Errorf("%s on %s: %.2f to 1", pair[0], pair[1], ratio)
			}
		}
	}
}

// luminance is the relative luminance of WCAG 2.2; NaN for no colour.
func luminance(hex string) float64 {
	if len(hex) != 7 {
		return math.NaN()
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return math.NaN()
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// TestFilesStaySmall keeps every file of the package under 400 lines.
func TestFilesStaySmall(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n >= 400 {
			t.Errorf("%s has %d lines", e.Name(), n)
		}
	}
}
