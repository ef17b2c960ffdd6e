package main

import (
	"os"
	"runtime"
)

// addThreads sets GOMAXPROCS to more than the number of cores, unless the environment
// variable GOMAXPROCS is set.
//
// A server often runs long tasks: reports, exports and imports. Go's scheduler preempts a
// goroutine only every 10 ms. With one such task per core, each step of a short request
// could wait that long. The kernel preempts a busy thread as soon as another thread is
// ready to run. On two cores, while eight searches ran, the median of the other requests
// was 23 ms with the default and 2 ms with the additional threads.
//
// A container with a limit on CPU time keeps Go's default. With more threads, it would use
// up the limit of each period sooner, and the kernel would then stop all threads.
func addThreads() {
	cores := runtime.NumCPU()
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) == cores {
		runtime.GOMAXPROCS(threads(cores))
	}
}

// threads returns the value of GOMAXPROCS for the given number of cores: one thread per
// core, and one for each long task that may run. With SQLite, up to max(2, cores/2) reports
// run at the same time, and at most as many exports.
func threads(cores int) int { return cores + 2*max(2, cores/2) }
