package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var imported = regexp.MustCompile(`from "(\./[^"]+)"`)

// Each script of make bench-web must import only files that exist. No other check loads these scripts.
func TestWebScriptsImportFilesThatExist(t *testing.T) {
	scripts, err := filepath.Glob("web/*.mjs")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("found %d scripts, error %v; want at least one script", len(scripts), err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range imported.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("web", string(name[1]))); err != nil {
				t.Errorf("%s imports %s, which does not exist: %v", script, name[1], err)
			}
		}
	}
}
