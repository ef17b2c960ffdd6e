package apptest

import (
	"os/exec"
	"sync"
	"syscall"
	"testing"
)

// Start starts a program in a process group of its own. When the test ends, the program and its
// children are killed. They are also killed if the process of the test ends before, even by SIGKILL.
// Call wait instead of cmd.Wait; it may be called more than once, and by several goroutines.
func Start(t testing.TB, cmd *exec.Cmd) (wait func() error) {
	t.Helper()
	// The guard leads the group. Its input ends when this process does, however it ends. It starts
	// first, so that the program is never without it.
	guard := exec.Command("sh", "-c", "read -r _; kill -KILL 0")
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	hold, err := guard.StdinPipe()
	if err == nil {
		err = guard.Start()
	}
	if err != nil {
		t.Fatalf("start the guard of %s: %v", cmd.Path, err)
	}
	attributes := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attributes = *cmd.SysProcAttr
	}
	attributes.Setpgid, attributes.Pgid = true, guard.Process.Pid
	cmd.SysProcAttr = &attributes
	if err := cmd.Start(); err != nil {
		_ = hold.Close()
		_ = guard.Wait()
		t.Fatalf("start %s: %v", cmd.Path, err)
	}
	wait = sync.OnceValue(cmd.Wait)
	t.Cleanup(func() {
		_ = hold.Close()
		_ = guard.Wait() // it kills itself too
		_ = wait()
	})
	return wait
}
