package apptest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// startsPrograms is set in the process of a test that TestStartedProgramsEndWithTheTest kills.
const startsPrograms = "CARDWALL_TEST_STARTS_PROGRAMS"

func TestStartedProgramsEndWithTheTest(t *testing.T) {
	if os.Getenv(startsPrograms) != "" {
		cmd := exec.Command("sh", "-c", "sleep 600 & echo $! $$; wait")
		cmd.Stdout = os.Stdout
		_ = Start(t, cmd)()
		return
	}
	t.Parallel()
	test := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	test.Env = append(os.Environ(), startsPrograms+"=1")
	out, err := test.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	wait := Start(t, test)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := test.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = wait()
	var child, parent int
	if _, err := fmt.Sscan(line, &child, &parent); err != nil {
		t.Fatalf("the test printed %q, want two process ids", line)
	}
	for _, pid := range []int{child, parent} {
		Eventually(t, fmt.Sprintf("process %d ends", pid), func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH || zombie(pid) })
	}
}

// zombie reports whether a process has ended, and its parent has not noticed yet.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}
