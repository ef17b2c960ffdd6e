//go:build linux

package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"cardwall/internal/apptest"
)

// Mapped counts the pages of a mapped file that have been read, but only if the file is below the given folder.
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
	for path, want := range map[string]int64{folder: size, folder + "/": size, t.TempDir(): 0, folder[:len(folder)-1]: 0} {
		if got, err := Mapped(os.Getpid(), path); err != nil || got != want {
			t.Errorf("Mapped(%s) = %d, %v; want %d (sum %d)", path, got, err, want, sum)
		}
	}
}

// TreeCPU includes the processor time of a process's children.
func TestTreeCPU(t *testing.T) {
	child, err := Start(exec.Command("sh", "-c", "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; sleep 60"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer child.Kill()
	type times struct{ tree, own time.Duration }
	apptest.Await(t, "TreeCPU is at least 50 ms and greater than CPU", func() (now times, done bool) {
		var treeErr, ownErr error
		now.tree, treeErr = TreeCPU(child.PID())
		now.own, ownErr = CPU(child.PID())
		if err := errors.Join(treeErr, ownErr); err != nil {
			t.Fatal(err)
		}
		return now, now.tree >= 5*clockTick && now.tree > now.own
	})
}
