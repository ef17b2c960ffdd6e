package spool_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cardwall/internal/spool"
)

func open(t *testing.T, path string, limit int64) *spool.Folder {
	t.Helper()
	f, err := spool.Open(path, limit)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func files(t *testing.T, path string) int {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestFilesCountUntilTheyAreClosed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	f := open(t, path, 100)
	a, err := f.Create()
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write(bytes.Repeat([]byte("a"), 60)); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Write(bytes.Repeat([]byte("b"), 41)); n != 0 || !errors.Is(err, spool.ErrFull) || f.Used() != 60 {
		t.Errorf("beyond the limit: %d %v, %d used", n, err, f.Used())
	}
	if text, err := io.ReadAll(a.Reader()); err != nil || len(text) != 60 {
		t.Errorf("read %d bytes: %v", len(text), err)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil || f.Used() != 0 || files(t, path) != 0 {
		t.Errorf("after closing: %v, %d used, %d files", err, f.Used(), files(t, path))
	}
}

// What a dead server left is removed at the start. A running server keeps its open
// files, and nothing else in the folder is touched.
func TestLeftoversAreRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	first := open(t, path, 100)
	left, err := first.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := left.Write([]byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "README"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, path, 100)
	if n := files(t, path); n != 1 {
		t.Errorf("%d files are left", n)
	}
	if text, err := io.ReadAll(left.Reader()); err != nil || string(text) != "kept" {
		t.Errorf("the open file has %q: %v", text, err)
	}
	if err := left.Close(); err != nil || first.Used() != 0 {
		t.Errorf("closing: %v, %d used", err, first.Used())
	}
}

// A slow reader gets every byte in order. Small amounts stay in memory, and files are
// removed as they are read.
func TestPipeKeepsTheOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	f := open(t, path, 1<<30)
	p := f.Pipe()
	var want, have bytes.Buffer
	write := func(n int) {
		for range n {
			line := bytes.Repeat([]byte{byte(want.Len() / 1000)}, 1000)
			want.Write(line)
			if _, err := p.Write(line); err != nil {
				t.Fatal(err)
			}
		}
	}
	buf := make([]byte, 70_001)
	read := func(most int) {
		for have.Len() < most {
			n, err := p.Next(t.Context(), buf)
			if err != nil {
				t.Fatal(err)
			}
			have.Write(buf[:n])
		}
	}
	write(1000)
	if f.Used() != 0 {
		t.Errorf("%d of the first bytes are in files", f.Used())
	}
	write(39_000) // 40 MB
	if used := f.Used(); used < 38_000_000 || p.Behind() {
		t.Errorf("%d bytes are in files; behind: %v", used, p.Behind())
	}
	read(30_000_000)
	if used := f.Used(); used > 20_000_000 {
		t.Errorf("after three quarters %d bytes are in files", used)
	}
	write(70_000)
	if !p.Behind() {
		t.Error("with 80 MB unread the reader is not behind")
	}
	p.End(nil)
	read(want.Len())
	if n, err := p.Next(t.Context(), buf); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d %v", n, err)
	}
	if !bytes.Equal(want.Bytes(), have.Bytes()) || f.Used() != 0 || files(t, path) != 0 {
		t.Errorf("%d of %d bytes, %d used, %d files", have.Len(), want.Len(), f.Used(), files(t, path))
	}
}

func TestPipeEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	f := open(t, path, 16<<20)
	p := f.Pipe() // of four megabytes
	var err error
	for range 100 {
		if _, err = p.Write(make([]byte, 100_000)); err != nil {
			break
		}
	}
	if !errors.Is(err, spool.ErrFull) {
		t.Errorf("a reader that is too far behind: %v", err)
	}
	waiting := make(chan error)
	go func() { waiting <- p.Drained(context.Background()) }()
	if err := p.Close(); err != nil || f.Used() != 0 || files(t, path) != 0 {
		t.Errorf("closed: %v, %d used, %d files", err, f.Used(), files(t, path))
	}
	if err := <-waiting; !errors.Is(err, spool.ErrClosed) {
		t.Errorf("the writer that waits: %v", err)
	}
	if _, err := p.Write([]byte("x")); !errors.Is(err, spool.ErrClosed) {
		t.Errorf("after closing: %v", err)
	}
	other := f.Pipe()
	broken := errors.New("broken")
	if _, err := other.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	other.End(broken)
	buf := make([]byte, 10)
	if n, err := other.Next(t.Context(), buf); n != 1 || err != nil {
		t.Errorf("before the error: %d %v", n, err)
	}
	if _, err := other.Next(t.Context(), buf); !errors.Is(err, broken) {
		t.Errorf("the writer's error: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := f.Pipe().Next(ctx, buf); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a writer: %v", err)
	}
}

func TestPaceIsMeasuredPerWindow(t *testing.T) {
	t.Parallel()
	p := spool.NewPace(1000, 10*time.Second)
	first := p.Deadline()
	p.Count(9_999)
	if p.Deadline() != first {
		t.Error("a window began before its bytes had arrived")
	}
	p.Pause(time.Second)
	if p.Deadline().Sub(first) != time.Second {
		t.Error("a pause of the other side counts")
	}
	time.Sleep(10 * time.Millisecond)
	p.Count(1)
	if at := p.Deadline(); time.Until(at) < 9*time.Second || time.Until(at) > 10*time.Second {
		t.Errorf("the next window ends at %s", at)
	}
}
