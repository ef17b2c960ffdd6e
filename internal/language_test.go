package internal_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// phrase is wording that plain English does not need, and what to write instead.
type phrase struct {
	name    string
	pattern *regexp.Regexp
	instead string
}

var phrases = []phrase{
	{"anew", regexp.MustCompile(`(?i)\banew\b`), `"again" or "new"`},
	{"tells whether", regexp.MustCompile(`(?i)\b(tells?|says?) whether\b`), `"reports whether"`},
	{"is none of", regexp.MustCompile(`(?i)\b(is|are) none of\b`), `"is not a …" or "must be one of a, b, c"`},
	{"mend", regexp.MustCompile(`(?i)\bmend(s|ed|ing)?\b`), `"fix" or "repair"`},
	{"whoever", regexp.MustCompile(`(?i)\bwhoever\b`), `"anyone who", or name the caller`},
	{"take away", regexp.MustCompile(`(?i)\b(takes?|taken|taking) away\b`), `"remove" or "clear"`},
	{"stands in", regexp.MustCompile(`(?i)\bstands? (in|behind)\b`), `"is in", "is stored in" or "comes after"`},
	{"so many", regexp.MustCompile(`(?i)\bso many\b`), `"many", "this many" or the number's name`},
	{"slice with %v", regexp.MustCompile(`(board\.(Invalid|Refuse|Forbidden)|Errorf)\(.*(one of|allowed|missing) %v`),
		"the values joined by commas"},
	{"long line", regexp.MustCompile(`.{141,}`), "a line of at most 140 characters"},
}

// structTag matches a line with a struct tag, which cannot be wrapped.
var structTag = regexp.MustCompile("`[a-z]+:\"")

// flagAlias matches the earlier names of a flag, which still work.
var flagAlias = regexp.MustCompile(`aliases:"[^"]*"`)

// debtFile holds how often each phrase may occur. The numbers may only fall:
// UPDATE_GOLDEN=1 lowers them to what is left.
const debtFile = "testdata/language.json"

// prose are the files whose language is checked. Generated files and test data are not.
func prose(path string) bool {
	switch {
	case strings.Contains(path, "testdata/"), strings.Contains(path, "node_modules/"), strings.HasPrefix(path, "web/dist/"),
		strings.HasPrefix(path, "web/src/api/schema"), path == "internal/language_test.go", path == "CHANGELOG.md":
		return false
	}
	return slices.Contains([]string{".go", ".svelte", ".ts", ".md", ".mjs"}, filepath.Ext(path))
}

// longLines reports whether the limit of line lengths holds for a file: Markdown
// tables and links and the paths of drawn icons may be longer.
func longLines(path string) bool { return filepath.Ext(path) != ".md" && path != "web/src/ui/icons.ts" }

func TestGoldenLanguage(t *testing.T) {
	found := map[string][]string{}
	for _, folder := range []string{"cmd", "docs", "internal", "perf", "tools", "web/src", "web/e2e", "web/scripts"} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			path = filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
			if !prose(path) {
				return nil
			}
			text, err := os.ReadFile(filepath.Join("..", path))
			if err != nil {
				return err
			}
			for i, line := range strings.Split(string(text), "\n") {
				line = flagAlias.ReplaceAllString(line, "")
				for _, p := range phrases {
					if p.pattern.MatchString(line) && (p.name != "long line" || longLines(path) && !structTag.MatchString(line)) {
						found[p.name] = append(found[p.name], fmt.Sprintf("%s:%d", path, i+1))
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(debtFile)
	if err != nil {
		t.Fatal(err)
	}
	var debt map[string]int
	if err := json.Unmarshal(data, &debt); err != nil {
		t.Fatal(err)
	}
	for _, p := range phrases {
		all := found[p.name]
		if len(all) > debt[p.name] {
			t.Errorf("%q occurs %d times, at most %d are left to rewrite; write %s. The last ones: %s.",
				p.name, len(all), debt[p.name], p.instead, strings.Join(all[max(0, len(all)-10):], ", "))
		}
		debt[p.name] = min(debt[p.name], len(all))
		if debt[p.name] == 0 {
			delete(debt, p.name)
		}
	}
	if os.Getenv("UPDATE_GOLDEN") == "" {
		return
	}
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(debt)) {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "  %q: %d", name, debt[name])
	}
	if err := os.WriteFile(debtFile, []byte("{\n"+b.String()+"\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
