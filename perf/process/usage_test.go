//go:build linux

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
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
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		tree, err := TreeCPU(child.PID())
		if err != nil {
			t.Fatal(err)
		}
		own, err := CPU(child.PID())
		if err != nil {
			t.Fatal(err)
		}
		if tree >= 5*clockTick && tree > own {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("timed out: TreeCPU = %v, CPU = %v; want a TreeCPU of at least 50 ms that is greater than CPU", tree, own)
		}
	}
}
