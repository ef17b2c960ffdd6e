package main

import "os"

// lateFile is a file that is created or truncated by the first write, so that a command
// that fails before it writes anything leaves an existing file as it was.
type lateFile struct {
	path string
	file *os.File // nil before the first write
}

func (f *lateFile) Write(p []byte) (int, error) {
	if f.file == nil {
		file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return 0, err
		}
		f.file = file
	}
	return f.file.Write(p)
}

// Close closes the file if it was opened.
func (f *lateFile) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
