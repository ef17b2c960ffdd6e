//go:build !unix

package sqldb

import (
	"errors"
	"os"
)

// DiskRoom is not supported on this system.
func DiskRoom(string) (free, total uint64, err error) {
	return 0, 0, errors.ErrUnsupported
}

// lockFile does nothing, because file locks are not supported on this system.
func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) error { return nil }
