//go:build unix

package sqldb

import (
	"os"

	"golang.org/x/sys/unix"
)

// DiskRoom returns how many bytes the filesystem of a folder has free for this
// account, and how many it has in all.
func DiskRoom(folder string) (free, total uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	return uint64(s.Bavail) * uint64(s.Bsize), uint64(s.Blocks) * uint64(s.Bsize), nil // types differ between systems
}

// lockFile takes the lock of an open file without waiting. The system releases it
// when the process ends.
func lockFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
