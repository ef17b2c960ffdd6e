package main

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A large file is imported in short transactions, and the progress is printed.
func TestImportOfALargeFileShowsItsProgress(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	workspace, file := c.importInto(t, 600)
	status, out, problems := c.run("", "import", "cardwall", file, "--workspace", workspace)
	if status != 0 || !strings.Contains(out, `Imported "Large" as brd_`) || !strings.Contains(out, "cards 600") {
		t.Fatalf("status %d, printed %q and %q", status, out, problems)
	}
	if !regexp.MustCompile(`^([0-9]+ %\n)+$`).MatchString(problems) {
		t.Errorf("the progress is %q; want lines with percentages", problems)
	}
	if got := c.must("doctor"); got != "No problems found." {
		t.Errorf("doctor printed %q", got)
	}
}

// An interrupted import leaves no board.
func TestInterruptedImportIsCancelled(t *testing.T) {
	t.Parallel()
	c := cli{t, t.TempDir()}
	workspace, file := c.importInto(t, 600)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out bytes.Buffer
	problems := &watched{text: regexp.MustCompile(`[4-8]\d %`), seen: interrupt} // after a quarter, the file was read
	args := []string{"import", "cardwall", file, "--workspace", workspace, "--data", c.data}
	status := runUntil(ctx, args, strings.NewReader(""), &out, problems)
	if status == 0 {
		t.Fatalf("the interrupted import printed %q", out.String())
	}
	if document := c.must("export", "--workspace", workspace); !strings.Contains(document, `"boards":[]`) {
		t.Errorf("after the interruption the workspace contains %.300s", document)
	}
	if !strings.Contains(problems.all.String(), "nothing was imported") {
		t.Errorf("the interrupted import printed %q", problems.all.String())
	}
}

// importInto creates a workspace and a file of a board with a number of cards.
func (c cli) importInto(t *testing.T, cards int) (workspace, file string) {
	c.must("user", "add", "--email", "ada@example.com", "--name", "Ada")
	file = filepath.Join(t.TempDir(), "large.json")
	if err := writeLargeBoard(file, cards); err != nil {
		t.Fatal(err)
	}
	return c.must("workspace", "add", "--owner", "ada@example.com", "--name", "Engines"), file
}

// watched calls seen when a text is written to it.
type watched struct {
	mu   sync.Mutex
	text *regexp.Regexp
	seen func()
	all  bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.Write(p)
	if w.text.Match(w.all.Bytes()) {
		w.seen()
	}
	return len(p), nil
}
