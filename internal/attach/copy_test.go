package attach_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/attach"
	"cardwall/internal/board"
	"cardwall/internal/file"
	"cardwall/internal/store"
)

// openFolder opens a folder for blobs until the end of the test.
func openFolder(t *testing.T, path string) *file.Folder {
	t.Helper()
	f, err := file.OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// used returns a blob with a content, to which an attachment with the given id refers.
func used(id, content string) store.UsedBlob {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	return store.UsedBlob{Blob: board.Blob{OrganizationID: "org_1", Hash: sum}, Size: int64(len(content)), AttachmentID: id}
}

func nameOf(u store.UsedBlob) string { return file.Name(u.Blob.OrganizationID, u.Blob.Hash) }

// putAs stores content under the name of a blob.
func putAs(t *testing.T, blobs file.Blobs, u store.UsedBlob, content string) {
	t.Helper()
	if _, err := blobs.Put(t.Context(), nameOf(u), strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}

// contents returns all blobs of a storage by name.
func contents(t *testing.T, blobs file.Blobs) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := blobs.List(t.Context(), "", func(i file.Info) error {
		r, err := blobs.Open(t.Context(), i.Name)
		if err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		out[i.Name] = string(content)
		return errors.Join(err, r.Close())
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// copyAll copies blobs.
func copyAll(ctx context.Context, from, to file.Blobs, blobs []store.UsedBlob) (attach.Copied, error) {
	return attach.Copy(ctx, attach.CopyOptions{
		From: from, To: to, Count: len(blobs), Progress: func(string) {},
		Each: func(_ context.Context, fn func(store.UsedBlob) error) error {
			for _, u := range blobs {
				if err := fn(u); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// Copy copies what is missing, between folders and buckets. It reports each damaged file and
// copies all others.
func TestCopyReportsDamagedFiles(t *testing.T) {
	t.Parallel()
	folder := func(t *testing.T) file.Blobs { return openFolder(t, t.TempDir()) }
	bucket := func(t *testing.T) file.Blobs {
		b, err := file.OpenBucket(t.Context(), apptest.StartBucket(t).Address)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, open := range map[string][2]func(*testing.T) file.Blobs{
		"folder to folder": {folder, folder}, "folder to bucket": {folder, bucket}, "bucket to folder": {bucket, folder},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := open[0](t), open[1](t)
			large := strings.Repeat("0123456789abcdef", 600_000) // 9.6 MB, more than a part in a bucket
			stored := map[string]string{
				"good": "good", "empty": "", "large": large, "short": "shor", "other": "0ther", "broken": large[1:] + "0", "half": "half", "there": "?",
			}
			content := map[string]string{"empty": "", "large": large, "broken": large[2:] + "01"}
			var blobs []store.UsedBlob
			want := map[string]string{}
			for _, id := range []string{"good", "empty", "large", "missing", "short", "other", "broken", "half", "there"} {
				text, ok := content[id]
				if !ok {
					text = id
				}
				u := used(id, text)
				blobs = append(blobs, u)
				if text, ok := stored[id]; ok {
					putAs(t, from, u, text)
				}
				if !slices.Contains([]string{"missing", "short", "other", "broken"}, id) {
					want[nameOf(u)] = text
				}
			}
			putAs(t, to, used("", "half"), "ha")
			putAs(t, to, used("", "there"), "there")
			for n, copied := range []attach.Copied{{Blobs: 4, Present: 1}, {Present: 5}} {
				done, err := copyAll(t.Context(), from, to, blobs)
				var failed *attach.CopyError
				if done != copied || !errors.As(err, &failed) || failed.Count != 4 || len(failed.Named) != 4 {
					t.Fatalf("run %d: got %+v and error %v, want %+v and four files that were not copied", n, done, err, copied)
				}
				for id, problem := range map[string]string{"missing": "is missing", "short": "has 4 bytes instead of 5",
					"other": "has different content", "broken": "has different content"} {
					if !strings.Contains(err.Error(), "of the attachment "+id+" "+problem) {
						t.Errorf("run %d: got error %v, want that the file of %s %s", n, err, id, problem)
					}
				}
				got := contents(t, to)
				for name, text := range want {
					if got[name] != text {
						t.Errorf("run %d: %s has %d bytes with different content, want %d", n, name, len(got[name]), len(text))
					}
				}
				if len(got) != len(want) {
					t.Errorf("run %d: got %d blobs, want %d", n, len(got), len(want))
				}
			}
		})
	}
}

// strange is a storage whose methods a test can replace.
type strange struct {
	file.Blobs
	put  func() error
	open func(name string) error
}

func (s strange) Put(ctx context.Context, name string, r io.Reader) (int64, error) {
	if s.put != nil {
		if err := s.put(); err != nil {
			return 0, err
		}
	}
	return s.Blobs.Put(ctx, name, r)
}

func (s strange) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	if s.open != nil {
		if err := s.open(name); err != nil {
			return nil, err
		}
	}
	return s.Blobs.Open(ctx, name)
}

// A copy stops if nothing can be written or read, or if it is canceled. It copies the rest when it
// runs again.
func TestCopyContinues(t *testing.T) {
	t.Parallel()
	from := openFolder(t, t.TempDir())
	var blobs []store.UsedBlob
	for n := range 40 {
		text := strings.Repeat(fmt.Sprint("content ", n), 1000)
		u := used(fmt.Sprint("att_", n), text)
		putAs(t, from, u, text)
		blobs = append(blobs, u)
	}
	fifth := nameOf(blobs[5])
	offline := fmt.Errorf("%w: connection refused", file.ErrUnavailable)
	for name, test := range map[string]struct {
		fail func(from, to *strange, cancel func())
		want error
		all  bool // whether all others are copied
	}{
		"full":     {func(_, to *strange, _ func()) { to.put = func() error { return file.ErrFull } }, file.ErrFull, false},
		"gone":     {func(_, to *strange, _ func()) { to.open = func(string) error { return offline } }, file.ErrUnavailable, false},
		"offline":  {func(from, _ *strange, _ func()) { from.open = func(string) error { return offline } }, file.ErrUnavailable, false},
		"canceled": {func(from, _ *strange, stop func()) { from.open = func(string) error { stop(); return nil } }, context.Canceled, false},
		"unreadable": {func(from, _ *strange, _ func()) {
			from.open = func(name string) error {
				if name == fifth {
					return offline
				}
				return nil
			}
		}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := t.TempDir()
			to := openFolder(t, path)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			source, target := &strange{Blobs: from}, &strange{Blobs: to}
			test.fail(source, target, cancel)
			done, err := copyAll(ctx, source, target, blobs)
			var failed *attach.CopyError
			if test.all && (!errors.As(err, &failed) || failed.Count != 1 || !strings.Contains(err.Error(), "att_5 cannot be read")) ||
				!test.all && (!errors.Is(err, test.want) || errors.As(err, &failed)) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
			if got := len(contents(t, to)); got != done.Blobs || test.all && got != len(blobs)-1 || !test.all && got == len(blobs) {
				t.Errorf("got %d blobs, of which %d are said to be copied", got, done.Blobs)
			}
			if left, err := os.ReadDir(filepath.Join(path, ".unfinished")); err != nil || len(left) > 0 {
				t.Errorf("got the partial files %v (%v), want none", left, err)
			}
			before := done.Blobs
			if done, err = copyAll(t.Context(), from, to, blobs); err != nil || done.Present != before || done.Blobs != len(blobs)-before {
				t.Errorf("again: got %+v and error %v, want the other %d", done, err, len(blobs)-before)
			}
		})
	}
}

// Prune removes what no manifest names. It removes nothing if it cannot read a manifest.
func TestPruneKeepsNamedFiles(t *testing.T) {
	t.Parallel()
	folder := openFolder(t, t.TempDir())
	var blobs []store.UsedBlob
	for n := range 300 {
		u := used("", fmt.Sprint(n))
		u.Blob.OrganizationID = fmt.Sprint("org_", n%3)
		putAs(t, folder, u, fmt.Sprint(n))
		blobs = append(blobs, u)
	}
	slices.SortFunc(blobs, func(a, b store.UsedBlob) int { return strings.Compare(nameOf(a), nameOf(b)) })
	if _, err := folder.Put(t.Context(), "photos/2026.jpg", bytes.NewReader(nil)); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"photos/2026.jpg": true}
	var first, second strings.Builder
	for n, u := range blobs {
		line := attach.ManifestLine(u.Blob)
		if n%2 == 0 {
			first.WriteString(line)
		}
		if n%3 == 0 {
			second.WriteString(line)
		}
		if n%2 == 0 || n%3 == 0 {
			want[nameOf(u)] = true
		}
	}
	second.WriteString(attach.ManifestLine(board.Blob{OrganizationID: "org_x", Hash: strings.Repeat("f", 64)})) // missing
	lists := t.TempDir()
	list := func(name, text string) string {
		t.Helper()
		path := filepath.Join(lists, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := []string{list("first", first.String()), list("second", second.String()), list("empty", "")}
	lines := strings.SplitAfter(first.String(), "\n")
	for name, path := range map[string]string{
		"missing":     filepath.Join(lists, "none"),
		"a folder":    lists,
		"truncated":   list("a", first.String()[:first.Len()-1]),
		"unsorted":    list("b", lines[1]+lines[0]),
		"twice":       list("c", lines[0]+lines[0]),
		"other hash":  list("d", strings.Repeat("0", 64)+lines[0][64:]),
		"other text":  list("e", "Things to buy\n"),
		"other blob":  list("f", strings.Repeat("0", 64)+"  thumbs/org_1/"+strings.Repeat("0", 64)+"/small\n"),
		"long line":   list("g", strings.Repeat("x", 1<<20)),
		"line breaks": list("h", strings.ReplaceAll(first.String(), "\n", "\r\n")),
	} {
		removed, err := attach.Prune(t.Context(), folder, append(slices.Clone(good), path))
		if got := len(contents(t, folder)); err == nil || removed != 0 || got != 301 {
			t.Errorf("%s: got error %v and %d blobs after %d were removed, want an error and all 301", name, err, got, removed)
		}
	}
	removed, err := attach.Prune(t.Context(), folder, good)
	got := contents(t, folder)
	if err != nil || removed != 100 || len(got) != len(want) {
		t.Errorf("got error %v and %d blobs after %d were removed, want %d after 100", err, len(got), removed, len(want))
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s was removed, although a manifest names it", name)
		}
	}
}
