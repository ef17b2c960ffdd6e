package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Importing a large file prints progress.
func TestSystemImportOfALargeFileShowsItsProgress(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	workspace, file := c.prepareImport(t, 600)
	status, out, stderr := c.run("", "import", "cardwall", file, "--workspace", workspace)
	if status != 0 || !strings.Contains(out, `Imported "Large" as brd_`) || !strings.Contains(out, "cards 600") {
		t.Fatalf("import: status %d, printed %q and %q", status, out, stderr)
	}
	if !regexp.MustCompile(`^([0-9]+%\n)+$`).MatchString(stderr) {
		t.Errorf("import printed %q to standard error, want lines with percentages", stderr)
	}
	if got := c.must("doctor"); got != "No problems found." {
		t.Errorf("doctor printed %q, want %q", got, "No problems found.")
	}
}

// An interrupted import leaves no partial board.
func TestInterruptedImportIsCancelled(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	workspace, file := c.prepareImport(t, 600)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out bytes.Buffer
	stderr := &matchWriter{pattern: regexp.MustCompile(`[4-8]\d%`), matched: interrupt} // at 25%, the file has been read
	args := []string{"import", "cardwall", file, "--workspace", workspace, "--data", c.data}
	status := runUntil(ctx, args, strings.NewReader(""), &out, stderr)
	if status == 0 {
		t.Fatalf("the interrupted import succeeded and printed %q", out.String())
	}
	if document := c.must("export", "--workspace", workspace); !strings.Contains(document, `"boards":[]`) {
		t.Errorf("after the interrupted import, the workspace contains %.300s, want no boards", document)
	}
	if !strings.Contains(stderr.text.String(), "nothing was imported") {
		t.Errorf("the interrupted import printed %q, want it to contain \"nothing was imported\"", stderr.text.String())
	}
}

// An export that fails leaves an existing file as it was.
func TestFailedExportKeepsTheFile(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	c.must("user", "add", "--email", "ada@example.com", "--name", "Ada")
	file := filepath.Join(t.TempDir(), "export.json")
	if err := os.WriteFile(file, []byte("the last export"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := c.run("", "export", "--board", "brd_00000000000000000000000000", "--output", file); status == 0 {
		t.Errorf("the export of a missing board succeeded and printed %q", stderr)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "the last export" {
		t.Errorf("after the failed export, the file contains %q (%v), want what it contained before", got, err)
	}
	workspace := c.must("workspace", "add", "--owner", "ada@example.com", "--name", "Engines")
	c.must("export", "--workspace", workspace, "--output", file)
	if got, err := os.ReadFile(file); err != nil || !strings.Contains(string(got), `"complete":true`) {
		t.Errorf("the export contains %q (%v), want a complete document", got, err)
	}
}

// prepareImport creates a workspace, and a file to import that contains a board with the given number
// of cards.
func (c cli) prepareImport(t *testing.T, cards int) (workspace, file string) {
	c.must("user", "add", "--email", "ada@example.com", "--name", "Ada")
	file = filepath.Join(t.TempDir(), "large.json")
	if err := writeLargeBoard(file, cards); err != nil {
		t.Fatal(err)
	}
	return c.must("workspace", "add", "--owner", "ada@example.com", "--name", "Engines"), file
}

// matchWriter calls matched after each write if the text written so far matches pattern.
type matchWriter struct {
	mu      sync.Mutex
	pattern *regexp.Regexp
	matched func()
	text    bytes.Buffer
}

func (w *matchWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if w.pattern.Match(w.text.Bytes()) {
		w.matched()
	}
	return len(p), nil
}

// With --download, an import of a Trello board attaches files from servers that the setting of
// webhooks allows, and prints progress.
func TestImportDownloadsFiles(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	shown := make(chan struct{}) // closed when progress was printed
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/39" {
			<-shown
		}
		_, _ = io.WriteString(w, "the content of "+r.URL.Path)
	}))
	defer server.Close()
	var files []string
	for n := range 40 {
		files = append(files, fmt.Sprintf(`{"id": "a%d", "name": "%[1]d.txt", "url": "%[2]s/%[1]d", "isUpload": true}`, n, server.URL))
	}
	document := `{"name": "Launch", "lists": [{"id": "l", "name": "To do"}], "cards": [{"id": "c", "idShort": 1, "idList": "l",
		"name": "Venue", "attachments": [` + strings.Join(files, ",") + `]}]}`
	c.must("user", "add", "--email", "ada@example.com", "--name", "Ada")
	workspace := c.must("workspace", "add", "--owner", "ada@example.com", "--name", "Engines")
	for _, run := range []struct {
		flags []string
		want  string
	}{
		{nil, "comments 0."},
		{[]string{"--download"}, "(the address is not allowed), now links: 40"},
		{[]string{"--download", "--webhook-allow", strings.TrimPrefix(server.URL, "http://")}, "Imported attached files: 40"},
	} {
		var out bytes.Buffer
		stderr := &matchWriter{pattern: regexp.MustCompile(`[3-7]\d%`), matched: func() {}}
		if strings.HasPrefix(run.want, "Imported") {
			stderr.matched = sync.OnceFunc(func() { close(shown) })
		}
		args := append([]string{"import", "trello", "-", "--workspace", workspace, "--data", c.data}, run.flags...)
		status := runUntil(t.Context(), args, strings.NewReader(document), &out, stderr)
		if status != 0 || !strings.Contains(out.String(), run.want) {
			t.Errorf("import %q: status %d, printed %q and %q, want %q", run.flags, status, out.String(), stderr.text.String(), run.want)
		}
	}
	if out := c.must("doctor", "--all-files"); out != "No problems found." {
		t.Errorf("doctor printed %q, want no problems", out)
	}
}
