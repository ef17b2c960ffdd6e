package docs

import (
	"html"
	"html/template"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// section returns the part of a page about one operation or schema, unescaped.
func section(t *testing.T, page, id string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<article class="op" id="`+id+`"`)
	if !ok {
		t.Fatalf("the page has no section %s", id)
	}
	part, _, _ := strings.Cut(rest, "</article>")
	return html.UnescapeString(part)
}

func TestOperationShowsWhatACallerNeeds(t *testing.T) {
	part := section(t, page(t, sampleDocument()), "move_card")
	wantContains(t, part,
		`<span class="method m-POST">POST</span>`, `<var>{cardId}</var>`, `requires the scope </span>write`,
		`<code>listId</code> <span class="must">required</span>`,
		`<span class="dim">position.</span>before</code> <span class="flag">one form</span>`,
		`One of <code>top</code>, <code>bottom</code>`, `at most 512 characters`, `Default <code>bottom</code>`,
		"curl -X POST '"+testBase+"/api/public/v1/cards/crd_01jq/move'", `-H "Authorization: Bearer $CARDWALL_TOKEN"`,
		`-d '{"listId":"lst_01jr"}'`,
		`<span class="dim">data.</span>title`, `<a href="#schema-Card">Card</a>`, `"boardVersion": 412`,
		`<a href="#error-capacity_full"><code>capacity_full</code></a>`, "Response headers", "X-RateLimit-Limit",
	)
}

func TestExamplesInAllLanguages(t *testing.T) {
	html := page(t, sampleDocument())
	part := section(t, html, "move_card")
	for _, language := range languages {
		wantContains(t, html, `<option value="`+language+`">`)
		wantContains(t, part, `data-language="`+language+`"`)
	}
	wantContains(t, part, "client.POST('/cards/{cardId}/move'", "client.move_card(", "client.MoveCard(ctx, ")
	wantContains(t, html, "cardwall.New(&#34;"+testBase+"&#34;") // without the path of the API
}

func TestQueryParametersAndEnumOfItems(t *testing.T) {
	part := section(t, page(t, sampleDocument()), "list_cards")
	wantContains(t, part, "1 to 200", "Default <code>50</code>", "array of string", "One of <code>overdue</code>",
		"/boards/BOARD_ID/cards'")
}

func TestRecursiveSchemaStopsWithALink(t *testing.T) {
	part := section(t, page(t, sampleDocument()), "schema-Node")
	wantContains(t, part, `array of <a href="#schema-Node">Node</a>`)
	if strings.Contains(part, "children[].children") {
		t.Error("got a schema that is expanded within itself, want only a link")
	}
}

func TestTypeDescriptions(t *testing.T) {
	part := section(t, page(t, sampleDocument()), "schema-Odd")
	wantContains(t, part,
		`string or integer or null`, // a type array with null
		`<a href="#schema-Card">Card</a> or <a href="#schema-Node">Node</a> or null`,
		`<a href="#schema-Node">Node</a> or null`, // anyOf with null
		`map of <a href="#schema-Card">Card</a>`, `string (date-time)`, `Missing`, `One of <code>fixed</code>`,
		`<code>yes</code>, <code>""</code>, <code>null</code>`, `any`,
	)
	merged := section(t, page(t, sampleDocument()), "schema-Merged")
	wantContains(t, merged, "<code>title</code>", `<code>extra</code> <span class="must">required</span>`)
}

// renderMarkdown returns the HTML of a description.
func renderMarkdown(t *testing.T, d *document, source string, top int) string {
	t.Helper()
	parts, err := template.ParseFS(files, "parts.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := parts.ExecuteTemplate(&out, "blocks", d.markdown(source, top)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestMarkdown(t *testing.T) {
	const link = `" rel="noreferrer">`
	d := &document{anchors: map[string]string{"get_card": "#get_card"}}
	for _, c := range []struct{ name, source, want string }{
		{
			"paragraph", "One *two*\nthree `a|b` **four `x`**.\n\nFive.",
			"<p>One <em>two</em> three <code>a|b</code> <strong>four <code>x</code></strong>.</p>\n<p>Five.</p>\n",
		},
		{"headings", "# Top\n#### Deep\n## Back", "<h3>Top</h3>\n<h4>Deep</h4>\n<h4>Back</h4>\n"},
		{
			"list", "Such as:\n- x\n- y\n  z\n  - inner",
			"<p>Such as:</p>\n<ul><li>x</li><li>y z<ul><li>inner</li></ul>\n</li></ul>\n",
		},
		{"numbered", "1. n\n2. m", "<ol><li>n</li><li>m</li></ol>\n"},
		{"numbered from three", "3. n", "<ol start=\"3\"><li>n</li></ol>\n"},
		{
			"code", "```json\n<b>\n\n  {}\n```",
			`<div class="code"><pre><code>&lt;b&gt;` + "\n\n  {}</code></pre></div>\n",
		},
		{
			"table", "| a | b |\n|---|---|\n| `p\\|q` | r \\| s |",
			`<table class="plain"><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>` +
				"<tbody><tr><td><code>p|q</code></td><td>r | s</td></tr></tbody></table>\n",
		},
		{
			"links", "[ok](https://e.org) ![pic](/p.png) <https://e.org>",
			`<p><a href="https://e.org` + link + `ok</a> <a href="/p.png` + link + `pic</a> <a href="https://e.org` +
				link + "https://e.org</a></p>\n",
		},
		{
			"unsafe links", "[bad](javascript:alert(1)) ![bad](data:x) [bad](//e.org) <data:x>",
			"<p>[bad](javascript:alert(1)) [bad](data:x) [bad](//e.org) [data:x](data:x)</p>\n",
		},
		{
			"HTML", "<b onclick=x>\n<!-- y -->\n\na <i>b</i> &lt;c>",
			"<p>&lt;b onclick=x&gt; &lt;!-- y --&gt;</p>\n<p>a &lt;i&gt;b&lt;/i&gt; &lt;c&gt;</p>\n",
		},
		{
			"names of operations", "`get_card` `get_cards`",
			"<p><a href=\"#get_card\"><code>get_card</code></a> <code>get_cards</code></p>\n",
		},
		{"no markup", "2 * 3 * 4, snake_case_name, \\*x\\*", "<p>2 * 3 * 4, snake_case_name, *x*</p>\n"},
		{
			"quote, rule, indented code, line break", "> said\n\n---\n\n    code\n\na  \nb",
			"<blockquote><p>said</p>\n</blockquote>\n<hr>\n" +
				`<div class="code"><pre><code>code</code></pre></div>` + "\n<p>a<br>b</p>\n",
		},
	} {
		if got := renderMarkdown(t, d, c.source, 3); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	const bold = "<p><strong>No <em>heading</em></strong></p>\n"
	if got := renderMarkdown(t, d, "# No *heading*", noHeadings); got != bold {
		t.Errorf("heading in a table: got %s, want %s", got, bold)
	}
}

func TestShellQuoting(t *testing.T) {
	if got, want := quote("it's $(x)"), `'it'\''s $(x)'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestColorsHaveContrast checks that text and background colors have a contrast of at least
// 4.5 to 1 (WCAG 2.2, 1.4.3) in both color schemes.
func TestColorsHaveContrast(t *testing.T) {
	css, err := files.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	colors := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).FindAllStringSubmatch(string(css), -1) {
		colors[m[1]] = [2]string{m[2], m[3]}
	}
	pairs := [][2]string{{"ink", "page"}, {"ink", "raised"}, {"ink", "code"}, {"soft", "page"}, {"soft", "raised"},
		{"soft", "code"},
		{"link", "page"}, {"link", "code"}, {"link", "mark"}, {"must", "page"}, {"ink", "mark"}, {"soft", "mark"}}
	for _, name := range []string{"get", "post", "put", "patch", "delete", "other"} {
		pairs = append(pairs, [2]string{name + "-ink", name + "-tint"})
	}
	for _, pair := range pairs {
		for scheme := range 2 {
			a, b := luminance(colors[pair[0]][scheme]), luminance(colors[pair[1]][scheme])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); !(ratio >= 4.5) {
				t.Errorf("%s on %s: got a contrast of %.2f to 1, want at least 4.5", pair[0], pair[1], ratio)
			}
		}
	}
}

// luminance returns the relative luminance of WCAG 2.2, or NaN if hex is not a color.
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

// TestFilesStaySmall checks that every file of the package has fewer than 400 lines, except
// the generated one.
func TestFilesStaySmall(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "snippets.json" {
			continue
		}
		b, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n >= 400 {
			t.Errorf("%s: got %d lines, want fewer than 400", e.Name(), n)
		}
	}
}
