package file

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"
)

// unfinished is the folder of blobs that are being written. It begins with a dot, unlike
// the name of any blob.
const unfinished = ".unfinished"

// Folder stores each blob in a file of a folder. Several servers can use the same folder if
// its filesystem has atomic renames.
type Folder struct {
	root    *os.Root
	writing sync.Mutex // held while a part of a file is written, or a file is synced
}

// OpenFolder opens a folder and creates it if it does not exist.
func OpenFolder(folder string) (*Folder, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder for files: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder for files: %w", err)
	}
	f := &Folder{root: root}
	if err := f.createFolder(unfinished); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

// openExisting opens a folder only for reading. It creates nothing.
func openExisting(folder string) (*Folder, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder for files: %w", err)
	}
	return &Folder{root: root}, nil
}

// Close closes the folder. Open blobs can still be read.
func (f *Folder) Close() error { return f.root.Close() }

// copySize is the number of bytes that are written at once.
const copySize = 64 << 10

// Put implements Blobs. It writes and syncs a temporary file, and then renames it.
func (f *Folder) Put(ctx context.Context, name string, r io.Reader) (int64, error) {
	if err := checkName(name); err != nil {
		return 0, err
	}
	temporary := unfinished + "/" + rand.Text()
	file, err := f.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, folderError("create a file", err)
	}
	from := &source{ctx: ctx, r: r}
	size, err := io.CopyBuffer(InTurn(&f.writing, file), from, make([]byte, copySize))
	if err == nil {
		f.writing.Lock()
		err = file.Sync()
		f.writing.Unlock()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = f.rename(temporary, name)
	}
	if err == nil {
		return size, nil
	}
	_ = f.root.Remove(temporary) // RemoveUnfinished removes it later if this fails
	if from.err != nil {
		return 0, from.err
	}
	return 0, folderError("write a file", err)
}

// rename renames a file, and creates the folders of its new name. When it returns nil, the
// new name is durable.
func (f *Folder) rename(from, to string) error {
	folder := path.Dir(to)
	err := f.root.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) { // either the folder of the new name or the file is missing
		if err := f.createFolder(folder); err != nil {
			return err
		}
		err = f.root.Rename(from, to)
	}
	if err != nil {
		return err
	}
	return f.sync(folder)
}

// createFolder creates a folder and its parents. When it returns nil, they are durable.
func (f *Folder) createFolder(folder string) error {
	if err := f.root.MkdirAll(folder, 0o700); err != nil {
		return folderError("create a folder", err)
	}
	for folder != "." {
		folder = path.Dir(folder)
		if err := f.sync(folder); err != nil {
			return err
		}
	}
	return nil
}

// sync makes the entries of a folder durable.
func (f *Folder) sync(folder string) error {
	opened, err := f.root.Open(folder)
	if err != nil {
		return folderError("open a folder", err)
	}
	if err := errors.Join(opened.Sync(), opened.Close()); err != nil {
		return folderError("sync a folder", err)
	}
	return nil
}

// Open implements Blobs. The result is an *os.File.
func (f *Folder) Open(_ context.Context, name string) (io.ReadSeekCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, folderError("open a file", err)
	}
	return file, nil
}

// Move implements Blobs.
func (f *Folder) Move(_ context.Context, from, to string) error {
	if err := checkName(from, to); err != nil {
		return err
	}
	if err := f.rename(from, to); err != nil {
		return folderError("rename a file", err)
	}
	return nil
}

// Remove implements Blobs. It keeps empty folders, because another server may be about to
// move a file there.
func (f *Folder) Remove(_ context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return folderError("remove a file", err)
	}
	return nil
}

// List implements Blobs. Names are in order if each segment has only letters, digits and
// underscores.
func (f *Folder) List(ctx context.Context, prefix string, fn func(Info) error) error {
	return fs.WalkDir(f.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile
		case err != nil:
			return folderError("list files", err)
		case name == ".":
			return nil
		case entry.IsDir() && (name == unfinished || !overlap(name+"/", prefix)):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasPrefix(name, prefix):
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return folderError("list files", err)
		}
		return fn(Info{Name: name, Size: info.Size(), Changed: info.ModTime()})
	})
}

// overlap reports whether one of two prefixes begins with the other, so that a name can
// begin with both.
func overlap(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// RemoveUnfinished implements Blobs.
func (f *Folder) RemoveUnfinished(ctx context.Context, before time.Time) error {
	entries, err := fs.ReadDir(f.root.FS(), unfinished)
	if err != nil {
		return folderError("list unfinished files", err)
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		info, err := entry.Info()
		if err == nil && info.ModTime().Before(before) {
			err = f.root.Remove(unfinished + "/" + entry.Name())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return folderError("remove an unfinished file", err)
		}
	}
	return nil
}

// folderError adds the action to an error of the filesystem, and converts the error to one
// of this package if one corresponds to it.
func folderError(action string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = ErrMissing
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		err = fmt.Errorf("%w: %w", ErrFull, err)
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ESTALE):
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", action, err)
}
