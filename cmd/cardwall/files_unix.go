//go:build unix

package main

import (
	"errors"
	"syscall"
)

// outOfFiles reports whether the process or the system has reached its limit of
// open files.
func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
