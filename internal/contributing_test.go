package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guides are the documents for contributors. They refer to files and code by name.
var guides = []string{"CONTRIBUTING.md", "docs/ARCHITECTURE.md"}

var (
	fence      = regexp.MustCompile("(?ms)^```.*?^```")
	span       = regexp.MustCompile("`[^`]+`")
	word       = regexp.MustCompile(`\w+`)
	identifier = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)*$`)
	fileName   = regexp.MustCompile(`^[\w.-]+\.(go|ts|svelte|css|sql|txt|json|md)$`)
	filePath   = regexp.MustCompile(`^[\w.][\w.*-]*(/[\w.*-]+)+/?$`)
	target     = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
)

// sources holds the names that a guide may refer to.
type sources struct {
	files   []string        // paths of files and folders
	words   map[string]bool // words in source files
	targets map[string]bool // targets of the Makefile
}

// missing returns the names in the text's code spans that s does not contain.
func (s sources) missing(text string) (missing []string) {
	for _, quoted := range span.FindAllString(fence.ReplaceAllString(text, ""), -1) {
		name := strings.Join(strings.Fields(strings.Trim(quoted, "`")), " ")
		command, rest, _ := strings.Cut(name, " ")
		var found bool
		switch {
		case strings.HasPrefix(name, "NNN"): // a pattern for file names
			found = true
		case command == "make" && rest != "":
			name, _, _ := strings.Cut(rest, " ")
			found = s.targets[name]
		case fileName.MatchString(name):
			found = slices.ContainsFunc(s.files, func(f string) bool { return filepath.Base(f) == name })
		case filePath.MatchString(name):
			found = slices.ContainsFunc(s.files, func(f string) bool { return s.isPath(name, f) })
		case identifier.MatchString(name):
			parts := strings.Split(name, ".")
			found = s.words[parts[len(parts)-1]]
		default:
			found = true
		}
		if !found && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// isPath reports whether a name in a guide is the path of a file, relative to the root
// folder, web or internal.
func (s sources) isPath(name, file string) bool {
	for _, top := range []string{"", "web/", "internal/"} {
		if ok, _ := filepath.Match(top+strings.TrimSuffix(name, "/"), file); ok {
			return true
		}
	}
	return false
}

func readSources(t *testing.T) sources {
	t.Helper()
	s := sources{words: map[string]bool{}, targets: map[string]bool{}}
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"node_modules", "dist", ".git", "bin", "data"}, d.Name()) {
			return fs.SkipDir
		}
		s.files = append(s.files, filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator))))
		if slices.Contains([]string{".go", ".ts", ".svelte", ".mjs", ".sql"}, filepath.Ext(path)) &&
			d.Name() != "contributing_test.go" {
			for _, w := range word.FindAllString(read(path), -1) {
				s.words[w] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range target.FindAllStringSubmatch(read("../Makefile"), -1) {
		s.targets[m[1]] = true
	}
	return s
}

func TestNamesInGuidesExist(t *testing.T) {
	s := readSources(t)
	for _, guide := range guides {
		text, err := os.ReadFile(filepath.Join("..", guide))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range s.missing(string(text)) {
			t.Errorf("%s refers to %s, which does not exist; correct the name", guide, name)
		}
	}
}

func TestMissingNames(t *testing.T) {
	s := sources{
		files: []string{"internal/app", "internal/app/card.go", "web/e2e/a.spec.ts"}, words: map[string]bool{"Emit": true, "make": true},
		targets: map[string]bool{"golden": true},
	}
	text := "`card.go` `internal/app/*.go` `e2e/a.spec.ts` `app/` `tx.Emit` `make golden` `make` `tx.Emit(x)` `NNN_a.sqlite.sql`\n" +
		"```sh\nmake nothing\n```\n"
	if got := s.missing(text); len(got) > 0 {
		t.Errorf("got missing names %q, want none", got)
	}
	text = "`list.go` `internal/app/list.go` `TestNothing` `tx.Load` `make gold`"
	if got := s.missing(text); len(got) != 5 {
		t.Errorf("got missing names %q, want all five names", got)
	}
}
