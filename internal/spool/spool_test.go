package spool_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
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
		t.Errorf("write over the limit: got %d, %v, %d bytes used; want 0, ErrFull, 60", n, err, f.Used())
	}
	if text, err := io.ReadAll(a.Reader()); err != nil || len(text) != 60 {
		t.Errorf("got %d bytes, error %v; want 60", len(text), err)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil || f.Used() != 0 || files(t, path) != 0 {
		t.Errorf("after closing: got error %v, %d bytes used, %d files; want none", err, f.Used(), files(t, path))
	}
}

// Open removes the files of a previous server. A running server can still use its open
// files. Other files in the folder remain.
func TestLeftoversAreRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	first := open(t, path, 100)
	file, err := first.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "README"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, path, 100)
	if n := files(t, path); n != 1 {
		t.Errorf("got %d files, want only README", n)
	}
	if text, err := io.ReadAll(file.Reader()); err != nil || string(text) != "kept" {
		t.Errorf("open file: got %q, error %v; want %q", text, err, "kept")
	}
	if err := file.Close(); err != nil || first.Used() != 0 {
		t.Errorf("after closing: got error %v, %d bytes used; want none", err, first.Used())
	}
}

// A slow reader gets all bytes in order. Small amounts stay in memory. Files are removed
// after they have been read.
func TestPipeKeepsTheOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	f := open(t, path, 1<<30)
	p := f.Pipe()
	var want, got bytes.Buffer
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
		for got.Len() < most {
			n, err := p.Next(t.Context(), buf)
			if err != nil {
				t.Fatal(err)
			}
			got.Write(buf[:n])
		}
	}
	write(1000)
	if f.Used() != 0 {
		t.Errorf("after 1 MB: got %d bytes in files, want none", f.Used())
	}
	write(39_000) // 40 MB
	if used := f.Used(); used < 38_000_000 || p.Behind() {
		t.Errorf("after 40 MB: got %d bytes in files, behind: %v; want at least 38 MB, false", used, p.Behind())
	}
	read(30_000_000)
	if used := f.Used(); used > 20_000_000 {
		t.Errorf("after reading 30 MB: got %d bytes in files, want at most 20 MB", used)
	}
	write(70_000)
	if !p.Behind() {
		t.Error("Behind with 80 MB of unread bytes = false, want true")
	}
	p.End(nil)
	read(want.Len())
	if n, err := p.Next(t.Context(), buf); n != 0 || err != io.EOF {
		t.Errorf("at the end: got %d, %v; want 0, EOF", n, err)
	}
	if !bytes.Equal(want.Bytes(), got.Bytes()) || f.Used() != 0 || files(t, path) != 0 {
		t.Errorf("got %d bytes, %d bytes used, %d files; want the %d written bytes and no files", got.Len(), f.Used(),
			files(t, path), want.Len())
	}
}

func TestPipeEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	f := open(t, path, 16<<20)
	p := f.Pipe() // allows at most 4 MiB of unread bytes
	var err error
	for range 100 {
		if _, err = p.Write(make([]byte, 100_000)); err != nil {
			break
		}
	}
	if !errors.Is(err, spool.ErrFull) {
		t.Errorf("Write with too many unread bytes: got error %v, want ErrFull", err)
	}
	waiting := make(chan error)
	go func() { waiting <- p.Drained(context.Background()) }()
	if err := p.Close(); err != nil || f.Used() != 0 || files(t, path) != 0 {
		t.Errorf("Close: got error %v, %d bytes used, %d files; want none", err, f.Used(), files(t, path))
	}
	if err := <-waiting; !errors.Is(err, spool.ErrClosed) {
		t.Errorf("Drained during Close: got error %v, want ErrClosed", err)
	}
	if _, err := p.Write([]byte("x")); !errors.Is(err, spool.ErrClosed) {
		t.Errorf("Write after Close: got error %v, want ErrClosed", err)
	}
	other := f.Pipe()
	broken := errors.New("broken")
	if _, err := other.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	other.End(broken)
	buf := make([]byte, 10)
	if n, err := other.Next(t.Context(), buf); n != 1 || err != nil {
		t.Errorf("Next before the error: got %d, %v; want 1, nil", n, err)
	}
	if _, err := other.Next(t.Context(), buf); !errors.Is(err, broken) {
		t.Errorf("Next after End: got error %v, want %v", err, broken)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := f.Pipe().Next(ctx, buf); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Next without data: got error %v, want DeadlineExceeded", err)
		}
	})
}

func TestMinRateIsAveragedOverTheWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testMinRate)
}

func testMinRate(t *testing.T) {
	r := spool.NewMinRate(1000, 10*time.Second)
	first := r.Deadline()
	r.Count(9_999)
	if r.Deadline() != first {
		t.Error("too few bytes: got a new deadline, want the same")
	}
	r.Pause(time.Second)
	if r.Deadline().Sub(first) != time.Second {
		t.Errorf("after Pause(1s): got a deadline %s later, want 1s", r.Deadline().Sub(first))
	}
	time.Sleep(time.Second)
	r.Count(1)
	if in := time.Until(r.Deadline()); in != 10*time.Second {
		t.Errorf("next window: got a deadline in %s, want 10s", in)
	}
}
