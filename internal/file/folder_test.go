package file_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/file"
)

func openFolder(t *testing.T, path string) *file.Folder {
	t.Helper()
	f, err := file.OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// Blobs are readable only by the user that runs the server.
func TestFolderIsPrivate(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/files"
	put(t, openFolder(t, path), "org_1/ab/c", []byte("x"))
	if err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, want no access for others", name, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A symbolic link cannot be used to read or write files outside the folder.
func TestFolderRefusesToLeave(t *testing.T) {
	t.Parallel()
	outside, path := t.TempDir(), t.TempDir()
	if err := errors.Join(os.WriteFile(outside+"/secret", []byte("x"), 0o600), os.Symlink(outside, path+"/link")); err != nil {
		t.Fatal(err)
	}
	f := openFolder(t, path)
	if r, err := f.Open(t.Context(), "link/secret"); err == nil {
		_ = r.Close()
		t.Error("a file outside the folder was opened, want an error")
	}
	if _, err := f.Put(t.Context(), "link/new", strings.NewReader("x")); err == nil {
		t.Error("a file outside the folder was written, want an error")
	}
	if _, err := os.Stat(outside + "/new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v for the file outside, want %v", err, fs.ErrNotExist)
	}
}

// RemoveUnfinished removes the files that a killed server has left, and keeps those that a
// running server is writing.
func TestUnfinishedFilesAreRemoved(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	f := openFolder(t, path)
	put(t, f, "a", []byte("x"))
	left := filepath.Join(path, ".unfinished", "left")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	begun, finish := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := f.Put(t.Context(), "b", io.MultiReader(strings.NewReader("first "), readerFunc(func([]byte) (int, error) {
			close(begun)
			<-finish
			return 0, io.EOF
		})))
		done <- err
	}()
	<-begun
	if err := f.RemoveUnfinished(t.Context(), time.Now().Add(-24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v for the old file, want it removed", err)
	}
	close(finish)
	if err := <-done; err != nil {
		t.Errorf("the running Put failed: %v", err)
	}
	if got := names(t, f, ""); !slices.Equal(got, []string{"a 1", "b 6"}) {
		t.Errorf("got blobs %q, want a and b", got)
	}
	if entries, err := os.ReadDir(filepath.Join(path, ".unfinished")); err != nil || len(entries) != 0 {
		t.Errorf("got %d unfinished files (%v), want none", len(entries), err)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
