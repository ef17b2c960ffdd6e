//go:build unix

package sqldb

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A program that is being started shares the files of this process for a moment. The migration lock
// does not outlive close because of it.
func TestMigrationLockIsReleasedAtOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cardwall.db")
	first, err := lockMigration(file)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := unix.Dup(int(first.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(shared) }()
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	second, err := lockMigration(file)
	if err != nil {
		t.Fatalf("lock after close: %v", err)
	}
	if err := second.close(); err != nil {
		t.Error(err)
	}
}
