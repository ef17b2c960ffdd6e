package file_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/file"
)

// both runs a test on a folder and on a bucket.
func both(t *testing.T, fn func(t *testing.T, blobs file.Blobs)) {
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		f, err := file.OpenFolder(t.TempDir() + "/files")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		fn(t, f)
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		fn(t, newBucket(t, apptest.StartBucket(t).Address))
	})
}

// random returns bytes that depend only on their number.
func random(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(out)
	return out
}

func put(t *testing.T, blobs file.Blobs, name string, content []byte) {
	t.Helper()
	if n, err := blobs.Put(t.Context(), name, bytes.NewReader(content)); err != nil || n != int64(len(content)) {
		t.Fatalf("put %s: got %d bytes and error %v, want %d bytes", name, n, err, len(content))
	}
}

func get(t *testing.T, blobs file.Blobs, name string) []byte {
	t.Helper()
	r, err := blobs.Open(t.Context(), name)
	if err != nil {
		t.Fatalf("open %s: %v", name, err)
	}
	content, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return content
}

func names(t *testing.T, blobs file.Blobs, prefix string) []string {
	t.Helper()
	found := []string{}
	if err := blobs.List(t.Context(), prefix, func(i file.Info) error {
		found = append(found, fmt.Sprint(i.Name, " ", i.Size))
		if age := time.Since(i.Changed); age < -time.Minute || age > time.Hour {
			t.Errorf("%s: got changed %v, want about now", i.Name, i.Changed)
		}
		return nil
	}); err != nil {
		t.Fatalf("list %q: %v", prefix, err)
	}
	slices.Sort(found)
	return found
}

func TestBlobsAreStored(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, blobs file.Blobs) {
		// A bucket stores larger blobs in parts of 8 MB.
		for _, size := range []int{0, 1, 1000, 8<<20 - 1, 8 << 20, 8<<20 + 1, 20 << 20} {
			name, content := fmt.Sprintf("org_1/%02d/blob", size%97), random(size)
			put(t, blobs, name, content)
			if got := get(t, blobs, name); !bytes.Equal(got, content) {
				t.Errorf("%s: got %d bytes with different content, want the %d that were stored", name, len(got), size)
			}
		}
		put(t, blobs, "org_1/a", []byte("first"))
		put(t, blobs, "org_1/a", []byte("second"))
		if got := string(get(t, blobs, "org_1/a")); got != "second" {
			t.Errorf("got %q, want the content that was stored last", got)
		}
	})
}

func TestPartsAreRead(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, blobs file.Blobs) {
		content := random(100_000)
		put(t, blobs, "a", content)
		r, err := blobs.Open(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		if size, err := r.Seek(0, io.SeekEnd); err != nil || size != int64(len(content)) {
			t.Errorf("got size %d (%v), want %d", size, err, len(content))
		}
		for _, from := range []int64{99_990, 0, 50_000} {
			if _, err := r.Seek(from, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 10)
			if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, content[from:from+10]) {
				t.Errorf("at %d: got different content or error %v, want the ten bytes that were stored there", from, err)
			}
		}
	})
}

// If the reader fails, nothing is stored, and a blob with the same name stays as it was.
func TestIncompleteBlobsAreNotStored(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, blobs file.Blobs) {
		put(t, blobs, "old", []byte("old"))
		broken := errors.New("connection lost")
		for _, size := range []int{0, 10, 20 << 20} {
			for _, name := range []string{"old", "new"} {
				r := io.MultiReader(bytes.NewReader(random(size)), iotest.ErrReader(broken))
				if _, err := blobs.Put(t.Context(), name, r); !errors.Is(err, broken) || errors.Is(err, file.ErrUnavailable) {
					t.Errorf("%d bytes: got error %v, want the reader's error", size, err)
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := blobs.Put(ctx, "new", strings.NewReader("x")); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled Put: got error %v, want %v", err, context.Canceled)
		}
		if got := names(t, blobs, ""); !slices.Equal(got, []string{"old 3"}) || string(get(t, blobs, "old")) != "old" {
			t.Errorf("got blobs %q, want only the old one", got)
		}
	})
}

func TestBlobsAreMovedAndRemoved(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, blobs file.Blobs) {
		put(t, blobs, "uploads/u1", []byte("one"))
		put(t, blobs, "uploads/u2", []byte("two"))
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte("one")))
		name := file.Name("org_1", sum)
		for _, from := range []string{"uploads/u1", "uploads/u2"} {
			if err := blobs.Move(t.Context(), from, name); err != nil {
				t.Fatal(err)
			}
		}
		if got := names(t, blobs, ""); !slices.Equal(got, []string{name + " 3"}) || string(get(t, blobs, name)) != "two" {
			t.Errorf("got blobs %q, want only the one that was moved last", got)
		}
		if err := blobs.Move(t.Context(), "uploads/u1", "a"); !errors.Is(err, file.ErrMissing) {
			t.Errorf("move a missing blob: got error %v, want %v", err, file.ErrMissing)
		}
		for range 2 {
			if err := blobs.Remove(t.Context(), name); err != nil {
				t.Errorf("remove: %v", err)
			}
		}
		if _, err := blobs.Open(t.Context(), name); !errors.Is(err, file.ErrMissing) {
			t.Errorf("open a removed blob: got error %v, want %v", err, file.ErrMissing)
		}
		if err := blobs.Remove(t.Context(), "no/folder"); err != nil {
			t.Errorf("remove in a missing folder: %v", err)
		}
	})
}

func TestBlobsAreListedByPrefix(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, blobs file.Blobs) {
		for _, name := range []string{"org_1/aa/1", "org_1/ab/2", "org_1-a", "org_10/aa/3", "z"} {
			put(t, blobs, name, []byte("x"))
		}
		for prefix, want := range map[string][]string{
			"":         {"org_1-a 1", "org_1/aa/1 1", "org_1/ab/2 1", "org_10/aa/3 1", "z 1"},
			"org_1/":   {"org_1/aa/1 1", "org_1/ab/2 1"},
			"org_1/a":  {"org_1/aa/1 1", "org_1/ab/2 1"},
			"org_1/ab": {"org_1/ab/2 1"},
			"org_1":    {"org_1-a 1", "org_1/aa/1 1", "org_1/ab/2 1", "org_10/aa/3 1"},
			"none/":    {},
		} {
			if got := names(t, blobs, prefix); !slices.Equal(got, want) {
				t.Errorf("prefix %q: got %q, want %q", prefix, got, want)
			}
		}
		stop := errors.New("stop")
		calls := 0
		if err := blobs.List(t.Context(), "org_1", func(file.Info) error { calls++; return stop }); !errors.Is(err, stop) || calls != 1 {
			t.Errorf("got %d calls and error %v, want List to stop after one call", calls, err)
		}
	})
}

func TestInvalidNamesAreRejected(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, blobs file.Blobs) {
		put(t, blobs, "a", []byte("x"))
		for _, name := range []string{
			"", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", ".hidden", "a/.hidden", `a\b`, "A", "é", "a b", "a\x00", "C:",
			strings.Repeat("a", 201),
		} {
			_, putErr := blobs.Put(t.Context(), name, strings.NewReader("x"))
			_, openErr := blobs.Open(t.Context(), name)
			for what, err := range map[string]error{
				"put": putErr, "open": openErr, "remove": blobs.Remove(t.Context(), name),
				"move from": blobs.Move(t.Context(), name, "b"), "move to": blobs.Move(t.Context(), "a", name),
			} {
				if err == nil || !strings.Contains(err.Error(), "not a valid name") {
					t.Errorf("%s %q: got error %v, want it to be rejected", what, name, err)
				}
			}
		}
		if got := names(t, blobs, ""); !slices.Equal(got, []string{"a 1"}) {
			t.Errorf("got blobs %q, want only a", got)
		}
	})
}

// Readers get either an error or a complete blob, whatever writers and removers do at the
// same time. The gateway may respond with a temporary error if another request concerns
// the same object.
func TestBlobsAreComplete(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, blobs file.Blobs) {
		content := random(300_000)
		_, inFolder := blobs.(*file.Folder)
		temporary := func(err error) bool {
			return errors.Is(err, file.ErrMissing) || !inFolder && errors.Is(err, file.ErrUnavailable)
		}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for range 10 {
					if _, err := blobs.Put(t.Context(), "a/b", bytes.NewReader(content)); err != nil && (inFolder || !temporary(err)) {
						t.Errorf("put: %v", err)
					}
				}
			})
			group.Go(func() {
				for range 10 {
					r, err := blobs.Open(t.Context(), "a/b")
					if err != nil {
						if !temporary(err) {
							t.Errorf("open: %v", err)
						}
						continue
					}
					if got, err := io.ReadAll(r); err != nil && !temporary(err) || err == nil && !bytes.Equal(got, content) {
						t.Errorf("got %d bytes and error %v, want the complete blob", len(got), err)
					}
					_ = r.Close()
				}
			})
		}
		group.Go(func() {
			for range 10 {
				if err := blobs.Remove(t.Context(), "a/b"); err != nil && !temporary(err) {
					t.Errorf("remove: %v", err)
				}
			}
		})
		group.Wait()
		put(t, blobs, "a/b", content)
		if !bytes.Equal(get(t, blobs, "a/b"), content) {
			t.Error("got different content, want what was stored last")
		}
	})
}

func TestNameDependsOnOrganizationAndContent(t *testing.T) {
	t.Parallel()
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("abc"))) // FIPS 180-4, example B.1
	const digits = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got, want := file.Name("org_1", sum), "org_1/ba/"+digits; got != want {
		t.Errorf("got name %q, want %q", got, want)
	}
}

// TestSlowUpload checks that an upload that waits for its client keeps no other from being stored.
func TestSlowUpload(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, blobs file.Blobs) {
		waiting, client := io.Pipe()
		done := make(chan error, 1)
		go func() {
			_, err := blobs.Put(t.Context(), "slow", waiting)
			done <- err
		}()
		first, rest := random(100_000), random(1000)
		if _, err := client.Write(first); err != nil { // returns when all of it was read
			t.Fatal(err)
		}
		put(t, blobs, "other", random(300_000))
		if _, err := client.Write(rest); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(client.Close(), <-done); err != nil {
			t.Fatal(err)
		}
		if got := get(t, blobs, "slow"); !bytes.Equal(got, slices.Concat(first, rest)) {
			t.Errorf("got %d bytes that differ from those that were sent", len(got))
		}
	})
}
