package main

import (
	"errors"
	"os"
	"path/filepath"
)

// outputFile is a file that a command writes completely or not at all: its content is in a
// temporary file beside it until the command has succeeded. A path that is not a regular
// file, such as a named pipe, is written directly.
type outputFile struct {
	path      string
	file      *os.File // nil before the first write
	temporary bool     // whether file still has a temporary name
}

func (f *outputFile) Write(p []byte) (int, error) {
	if f.file == nil {
		if err := f.open(); err != nil {
			return 0, err
		}
	}
	return f.file.Write(p)
}

func (f *outputFile) open() error {
	info, err := os.Stat(f.path)
	if err == nil && !info.Mode().IsRegular() {
		f.file, err = os.OpenFile(f.path, os.O_WRONLY, 0)
		return err
	}
	if err == nil { // replace the target of a symbolic link, not the link
		if f.path, err = filepath.EvalSymlinks(f.path); err != nil {
			return err
		}
	}
	f.file, err = os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+"-*")
	if err != nil {
		return err
	}
	f.temporary = true
	if info != nil {
		return f.file.Chmod(info.Mode().Perm())
	}
	return nil
}

// end closes the file. If the command has succeeded, it gives the file its name. Otherwise,
// it removes the file and returns failed.
func (f *outputFile) end(failed error) error {
	if f.file == nil {
		return failed
	}
	if !f.temporary {
		return errors.Join(failed, f.file.Close())
	}
	if failed == nil {
		failed = f.file.Sync()
	}
	failed = errors.Join(failed, f.file.Close())
	if failed == nil {
		failed = os.Rename(f.file.Name(), f.path)
	}
	if failed != nil {
		return errors.Join(failed, os.Remove(f.file.Name()))
	}
	return nil
}
