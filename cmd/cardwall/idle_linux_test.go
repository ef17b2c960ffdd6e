package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// maxWakes is how often the threads of a server without requests may wake in a second.
const maxWakes = 60

// A server without requests hardly uses the processor, because few timers wake its threads.
func TestIdleServerSleeps(t *testing.T) {
	t.Parallel()
	c := newCrashServer(t)
	defer c.start()()
	var seconds []int // the wakes of each second, the first of which follow the start
	for range 30 {
		before := wakes(t, c.pid)
		time.Sleep(time.Second)
		n := wakes(t, c.pid) - before
		if n <= maxWakes {
			return
		}
		seconds = append(seconds, n)
	}
	t.Errorf("the threads of an idle server woke %v times in a second, want at most %d in at least one", seconds, maxWakes)
}

// voluntary matches the number of times that a thread has waited.
var voluntary = regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s+(\d+)$`)

// wakes returns how often the threads of a process have waited so far.
func wakes(t *testing.T, pid int) (total int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("list the threads of process %d: %v", pid, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		if m := voluntary.FindSubmatch(text); m != nil {
			n, err := strconv.Atoi(string(m[1]))
			if err != nil {
				t.Fatal(err)
			}
			total += n
		}
	}
	return total
}
