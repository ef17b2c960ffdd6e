package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// FolderArchive is an Archive that writes to a folder. A server creates a FolderArchive
// when it starts, so each run of a server writes its own files: one file of compressed JSON
// lines for each kind of record. Each write appends a complete gzip member, so everything
// that was written before a crash can be read.
type FolderArchive struct {
	folder string
	stamp  string
	files  map[string]*os.File
}

// NewFolderArchive returns an archive that writes to a folder. The first Write creates the
// folder if it does not exist.
func NewFolderArchive(folder string, now time.Time) *FolderArchive {
	return &FolderArchive{folder: folder, stamp: now.UTC().Format("20060102T150405Z"), files: map[string]*os.File{}}
}

// Write implements Archive.
func (a *FolderArchive) Write(_ context.Context, kind string, lines [][]byte) error {
	f, err := a.open(kind)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for _, line := range lines {
		_, _ = z.Write(append(line, '\n')) // writing to a bytes.Buffer cannot fail
	}
	if err := z.Close(); err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.Write(b.Bytes()); err != nil { // the disk may be full; leave no partial member
		return errors.Join(err, f.Truncate(size))
	}
	return f.Sync()
}

func (a *FolderArchive) open(kind string) (*os.File, error) {
	if f := a.files[kind]; f != nil {
		return f, nil
	}
	if err := os.MkdirAll(a.folder, 0o700); err != nil {
		return nil, fmt.Errorf("create the archive folder: %w", err)
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%s-%d.ndjson.gz", kind, a.stamp, n)
		f, err := os.OpenFile(filepath.Join(a.folder, name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue // another server that started in the same second has created it
		}
		if err != nil {
			return nil, err
		}
		if err := syncFolder(a.folder); err != nil { // makes the file name survive a crash
			return nil, errors.Join(err, f.Close())
		}
		a.files[kind] = f
		return f, nil
	}
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Close closes the files.
func (a *FolderArchive) Close() error {
	var err error
	for _, f := range a.files {
		err = errors.Join(err, f.Close())
	}
	clear(a.files)
	return err
}
