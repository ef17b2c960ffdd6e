//go:build linux

package proc

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What a process has read of a file that it maps counts, for the folder of that file and for no other.
func TestMapped(t *testing.T) {
	folder := t.TempDir()
	const size = 1 << 20
	name := filepath.Join(folder, "data")
	if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mapped, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(mapped); err != nil {
			t.Error(err)
		}
	}()
	sum := 0
	for i := 0; i < size; i += os.Getpagesize() {
		sum += int(mapped[i])
	}
	for where, want := range map[string]int64{folder: size, folder + "/": size, t.TempDir(): 0, folder[:len(folder)-1]: 0} {
		if got, err := Mapped(os.Getpid(), where); err != nil || got != want {
			t.Errorf("%d bytes below %s are mapped (%v, sum %d), want %d", got, where, err, sum, want)
		}
	}
}
