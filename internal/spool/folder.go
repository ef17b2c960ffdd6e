// Package spool stores bytes that a slow client sends or receives: uploads until
// they are complete, and exports that are read faster than they are sent. The
// bytes are in memory, or in files of one folder with a common limit.
package spool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// prefix begins the names of all files of a folder.
const prefix = "spool-"

// ErrFull means that a file would exceed the limit of its folder.
var ErrFull = errors.New("the spool folder is full")

// Folder holds the files of one server. It is safe for concurrent use.
type Folder struct {
	path  string
	limit int64

	mu   sync.Mutex
	used int64
}

// Open returns a folder whose files may have limit bytes in total. It creates the
// folder, and removes the files that a killed server left there. A server that is
// still running keeps its open files.
func Open(path string, limit int64) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the spool folder: %w", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read the spool folder: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if err := os.Remove(filepath.Join(path, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("remove a file that was left in the spool folder: %w", err)
		}
	}
	return &Folder{path: path, limit: limit}, nil
}

// Used returns how many bytes the files have.
func (f *Folder) Used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used
}

// Limit returns how many bytes the files may have.
func (f *Folder) Limit() int64 { return f.limit }

// reserve counts n more bytes, or fewer if n is negative.
func (f *Folder) reserve(n int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n > 0 && f.used+n > f.limit {
		return ErrFull
	}
	f.used += n
	return nil
}

// File is a file of a folder. Its bytes count against the folder's limit until it is
// closed.
type File struct {
	folder *Folder
	file   *os.File
	size   int64
}

// Create returns a new file.
func (f *Folder) Create() (*File, error) {
	file, err := os.CreateTemp(f.path, prefix)
	if err != nil {
		return nil, fmt.Errorf("make a spool file: %w", err)
	}
	return &File{folder: f, file: file}, nil
}

// Write appends to the file. It returns ErrFull if the folder or its disk has no room.
func (x *File) Write(p []byte) (int, error) {
	if err := x.folder.reserve(int64(len(p))); err != nil {
		return 0, err
	}
	n, err := x.file.WriteAt(p, x.size)
	x.size += int64(n)
	_ = x.folder.reserve(int64(n - len(p))) // never fails, because it releases
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	if err != nil {
		return n, fmt.Errorf("write to a spool file: %w", err)
	}
	return n, nil
}

// Size returns how many bytes were written.
func (x *File) Size() int64 { return x.size }

// Reader returns a reader of all bytes from the beginning.
func (x *File) Reader() io.Reader { return io.NewSectionReader(x.file, 0, x.size) }

// Close removes the file and frees its space.
func (x *File) Close() error {
	err := errors.Join(x.file.Close(), os.Remove(x.file.Name()))
	_ = x.folder.reserve(-x.size) // never fails, because it releases
	x.size = 0
	if errors.Is(err, os.ErrNotExist) {
		return nil // a server that started meanwhile has removed it
	}
	return err
}
