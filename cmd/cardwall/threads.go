package main

import (
	"os"
	"runtime"
)

// addThreads lets more goroutines run at the same time than there are cores, unless the
// environment variable GOMAXPROCS is set.
//
// A server runs some long work at any time: reports, exports and files to import. The
// scheduler of Go interrupts a goroutine only every 10 ms, so with one such task per core
// each step of a short request could wait that long. The kernel preempts a busy thread as
// soon as another thread has something to do. On two cores, with eight searches at a
// time, half of the other requests took 23 ms without and 2 ms with more threads.
//
// A container with a limit on CPU time keeps Go's default, because the kernel would stop
// all of its threads once they have used up the limit of a period.
func addThreads() {
	cores := runtime.NumCPU()
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) == cores {
		runtime.GOMAXPROCS(threads(cores))
	}
}

// threads returns one thread per core, and one for each task that may be long: half as
// many reports and streams as there are cores, and at least two of each.
func threads(cores int) int { return cores + 2*max(2, cores/2) }
