// Package spool buffers data that slow clients send or receive: uploads until they are
// complete, and exports that the server produces faster than the client reads. The data
// is in memory, or in files of a folder that has a size limit.
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

// prefix is the prefix of the names of all files in a folder.
const prefix = "spool-"

// ErrFull means that a write would exceed the limit of the folder or of a pipe, or that
// the disk is full.
var ErrFull = errors.New("the spool folder is full")

// Folder holds the files of one server. It is safe for concurrent use.
type Folder struct {
	path  string
	limit int64

	mu   sync.Mutex
	used int64
}

// Open returns a folder whose files can have up to limit bytes in total. It creates the
// folder if necessary, and removes files that a previous server has left there. If that
// server is still running, it can continue to use its open files.
func Open(path string, limit int64) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("create the spool folder: %w", err)
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
			return nil, fmt.Errorf("remove an old file from the spool folder: %w", err)
		}
	}
	return &Folder{path: path, limit: limit}, nil
}

// Used returns the total size of the files in bytes.
func (f *Folder) Used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used
}

// Limit returns the maximum total size of the files in bytes.
func (f *Folder) Limit() int64 { return f.limit }

// reserve adds n to the number of used bytes. It returns ErrFull if that would exceed
// the limit. A negative n releases bytes.
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

// Create creates an empty file. The caller must close it.
func (f *Folder) Create() (*File, error) {
	file, err := os.CreateTemp(f.path, prefix)
	if err != nil {
		return nil, fmt.Errorf("create a spool file: %w", err)
	}
	return &File{folder: f, file: file}, nil
}

// Write appends p to the file. It returns ErrFull if the folder or its disk is full.
func (x *File) Write(p []byte) (int, error) {
	if err := x.folder.reserve(int64(len(p))); err != nil {
		return 0, err
	}
	n, err := x.file.WriteAt(p, x.size)
	x.size += int64(n)
	_ = x.folder.reserve(int64(n - len(p))) // releases the bytes that were not written; never fails
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	if err != nil {
		return n, fmt.Errorf("write to a spool file: %w", err)
	}
	return n, nil
}

// Size returns the size of the file in bytes.
func (x *File) Size() int64 { return x.size }

// Reader returns a new reader of everything that has been written to the file so far.
func (x *File) Reader() io.Reader { return io.NewSectionReader(x.file, 0, x.size) }

// Close closes and removes the file, and releases its bytes.
func (x *File) Close() error {
	err := errors.Join(x.file.Close(), os.Remove(x.file.Name()))
	_ = x.folder.reserve(-x.size) // never fails, because the number is not positive
	x.size = 0
	if errors.Is(err, os.ErrNotExist) {
		return nil // another server removed the file when it started
	}
	return err
}
