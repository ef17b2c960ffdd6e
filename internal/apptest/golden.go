package apptest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Golden fails the test if got differs from a golden file. If UPDATE_GOLDEN is "1", as in
// `make golden`, it writes the file instead. what describes got in failure messages.
func Golden(t testing.TB, file, what string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run make golden", err)
	}
	if bytes.Equal(got, want) {
		return
	}
	const review = "if the change is intended, run make golden and review the difference"
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			t.Fatalf("%s differs from %s, first in line %d: got %s, want %s; %s", what, file, i+1, bytes.TrimSpace(g[i]),
				bytes.TrimSpace(w[i]), review)
		}
	}
	t.Fatalf("%s differs from %s: got %d lines, want %d; %s", what, file, len(g), len(w), review)
}
