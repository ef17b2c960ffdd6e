package internal_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// phrase is wording to avoid, with a suggestion for what to write instead. Plain text
// search finds it, because regular expressions take over a minute for all files under
// the race detector.
type phrase struct {
	name    string
	find    func(line, lower string) bool // lower is the line in lower case
	instead string
}

var phrases = []phrase{
	{"anew", words("anew"), `"again" or "new"`},
	{"tells whether", words("tell whether", "tells whether", "say whether", "says whether"), `"reports whether"`},
	{"is none of", words("is none of", "are none of"), `"is not a …" or "must be one of a, b, c"`},
	{"mend", words("mend", "mends", "mended", "mending"), `"fix" or "repair"`},
	{"whoever", words("whoever"), `"anyone who", or name the caller`},
	{"take away", words("take away", "takes away", "taken away", "taking away"), `"remove" or "clear"`},
	{"stands in", words("stand in", "stands in", "stand behind", "stands behind"),
		`"is in", "is stored in" or "comes after"`},
	{"so many", words("so many"), `"many", "this many" or the number's name`},
	{"slice with %v", func(line, _ string) bool { return strings.Contains(line, "%v") && sliceVerb.MatchString(line) },
		"the values joined by commas"},
	{"long line", func(line, _ string) bool { return len(line) > 140 && utf8.RuneCountInString(line) > 140 },
		"a line of at most 140 characters"},
}

// sliceVerb matches a message that prints a list of values as a Go slice.
var sliceVerb = regexp.MustCompile(`(board\.(Invalid|Refuse|Forbidden)|Errorf)\(.*(one of|allowed|missing) %v`)

// words returns a function that reports whether a line contains one of the phrases as
// whole words. The phrases must be in lower case.
func words(phrases ...string) func(line, lower string) bool {
	return func(_, lower string) bool {
		return slices.ContainsFunc(phrases, func(phrase string) bool { return hasWords(lower, phrase) })
	}
}

func hasWords(line, phrase string) bool {
	for from := 0; ; {
		i := strings.Index(line[from:], phrase)
		if i < 0 {
			return false
		}
		begin := from + i
		end := begin + len(phrase)
		if (begin == 0 || !isWordByte(line[begin-1])) && (end == len(line) || !isWordByte(line[end])) {
			return true
		}
		from = begin + 1
	}
}

// isWordByte reports whether a byte is a word character as defined by \w in regular
// expressions.
func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

// structTag matches a line with a struct tag, which cannot be wrapped.
var structTag = regexp.MustCompile("`[a-z]+:\"")

// flagAlias matches former names of a flag, which still work.
var flagAlias = regexp.MustCompile(`aliases:"[^"]*"`)

// prose reports whether the language of a file is checked. Generated files and test data
// are not checked.
func prose(path string) bool {
	switch {
	case strings.Contains(path, "testdata/"), strings.Contains(path, "node_modules/"), strings.HasPrefix(path, "web/dist/"),
		strings.HasPrefix(path, "tools/generators/dist/"),
		strings.HasPrefix(path, "web/src/api/schema"), path == "internal/language_test.go", path == "CHANGELOG.md":
		return false
	}
	return slices.Contains([]string{".go", ".svelte", ".ts", ".md", ".mjs"}, filepath.Ext(path))
}

// limitsLineLength reports whether lines of a file are limited in length. Markdown
// tables and links and the paths of SVG icons may be longer.
func limitsLineLength(path string) bool {
	return filepath.Ext(path) != ".md" && path != "web/src/ui/icons.ts"
}

// Source code and documents contain none of the phrases.
func TestLanguage(t *testing.T) {
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
				if strings.Contains(line, "aliases:") {
					line = flagAlias.ReplaceAllString(line, "")
				}
				lower := strings.ToLower(line)
				for _, p := range phrases {
					if p.find(line, lower) && (p.name != "long line" || limitsLineLength(path) && !structTag.MatchString(line)) {
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
	for _, p := range phrases {
		if all := found[p.name]; len(all) > 0 {
			t.Errorf("%q occurs %d times; write %s instead. Last occurrences: %s.", p.name, len(all), p.instead,
				strings.Join(all[max(0, len(all)-10):], ", "))
		}
	}
}
