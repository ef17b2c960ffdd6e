//go:build unix

package main

import (
	"errors"
	"syscall"
)

// outOfFiles reports whether the process or the system has no file left to open.
func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
