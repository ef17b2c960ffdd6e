//go:build unix

package sqldb

import (
	"os"

	"golang.org/x/sys/unix"
)

// DiskRoom returns the number of bytes that this user can still write to the filesystem
// of folder, and the total size of the filesystem.
func DiskRoom(folder string) (free, total uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	size := uint64(s.Bsize) // the types of these fields differ between systems
	return uint64(s.Bavail) * size, uint64(s.Blocks) * size, nil
}

// lockFile locks an open file. It does not wait for the lock. The system releases the
// lock when the process ends.
func lockFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// unlockFile releases the lock of an open file. Closing the file is not enough: if the process is
// starting a program, the child shares the lock until it executes the program.
func unlockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
