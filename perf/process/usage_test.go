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

// Mapped counts the pages of a mapped file that were read, for the folder of that file only.
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
			t.Errorf("%d bytes below %s are mapped (error %v, sum %d), want %d", got, where, err, sum, want)
		}
	}
}

// TreeCPU includes the process itself and its ended children.
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
			t.Fatalf("the tree used %v and the process itself %v", tree, own)
		}
	}
}
