package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// clockTick is the unit of the times in /proc/PID/stat. It is 1/100 s on every Linux that Go supports.
const clockTick = 10 * time.Millisecond

// usage holds fields of /proc/PID/stat.
type usage struct {
	parent   int           // process id of the parent
	own      time.Duration // user and system time
	children time.Duration // user and system time of children that have ended and were waited for
}

func readUsage(pid int) (u usage, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, fmt.Errorf("read processor time: %w", err)
	}
	// The second field is the name of the program in parentheses. It can contain spaces and parentheses.
	_, rest, _ := strings.Cut(string(stat[max(bytes.LastIndexByte(stat, ')'), 0):]), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 15 {
		return u, fmt.Errorf("read processor time: /proc/%d/stat has too few fields", pid)
	}
	number := func(i int) int64 {
		n, numberErr := strconv.ParseInt(fields[i], 10, 64)
		err = errors.Join(err, numberErr)
		return n
	}
	u = usage{int(number(1)), time.Duration(number(11)+number(12)) * clockTick, time.Duration(number(13)+number(14)) * clockTick}
	if err != nil {
		return u, fmt.Errorf("read processor time: %w", err)
	}
	return u, nil
}

// CPU returns the user and system time that a process has used.
func CPU(pid int) (time.Duration, error) {
	u, err := readUsage(pid)
	return u.own, err
}

// TreeCPU returns the processor time of a process and all its descendants, including those that have ended and were
// waited for.
func TreeCPU(root int) (time.Duration, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	all := map[int]usage{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		u, err := readUsage(pid)
		switch {
		case err == nil:
			all[pid] = u
		case !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH): // these two mean that the process has ended
			return 0, err
		}
	}
	var sum time.Duration
	for pid, u := range all {
		for p := pid; p != 0; p = all[p].parent {
			if p == root {
				sum += u.own + u.children
				break
			}
		}
	}
	return sum, nil
}

// OwnCPU returns the user and system time of this process, or 0 if the system does not report it.
func OwnCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// OpenFiles returns the number of open file descriptors of a process.
func OpenFiles(pid int) (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0, fmt.Errorf("count open files: %w", err)
	}
	return len(entries), nil
}

// Traced reports whether a tracer is attached to every thread of a process.
func Traced(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), "TracerPid:\t0\n") {
			return false
		}
	}
	return true
}

// Memory returns a memory field of /proc/PID/status in bytes: "VmRSS" is the resident memory, "VmHWM" is its peak,
// and "RssAnon" is the part that is anonymous memory, which no file backs.
func Memory(pid int, field string) (int64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if name != field {
			continue
		}
		return parseSize(value)
	}
	return 0, fmt.Errorf("read memory: /proc/%d/status has no field %s", pid, field)
}

// Mapped returns how many bytes of a process's resident memory are mapped from files below the given folder. A page
// counts once for each mapping. The system can reclaim this memory like other pages of the file cache.
func Mapped(pid int, folder string) (int64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		return 0, fmt.Errorf("read mappings: %w", err)
	}
	defer file.Close()
	var (
		bytes int64
		below bool
		lines = bufio.NewScanner(file)
	)
	for lines.Scan() {
		line := lines.Text()
		name, value, _ := strings.Cut(line, ":")
		switch {
		case !unicode.IsUpper(rune(line[0])): // a mapping begins with the line: FROM-TO MODE OFFSET DEVICE INODE PATH
			_, path, _ := strings.Cut(line, "/")
			below = strings.HasPrefix("/"+path, strings.TrimSuffix(folder, "/")+"/")
		case name == "Rss" && below:
			n, err := parseSize(value)
			if err != nil {
				return 0, err
			}
			bytes += n
		}
	}
	return bytes, lines.Err()
}

// parseSize parses a size such as "  1234 kB" and returns it in bytes.
func parseSize(value string) (int64, error) {
	kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse size: %w", err)
	}
	return kilobytes << 10, nil
}

// PeakMemory calls work and returns the peak of the process's own memory (RssAnon) meanwhile, in bytes. It reads the
// memory every 20 ms. RssAnon excludes mapped files, which some kernels map in blocks of a megabyte.
func PeakMemory(pid int, work func() error) (peak int64, err error) {
	done := make(chan error, 1)
	go func() { done <- work() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		now, readErr := Memory(pid, "RssAnon")
		peak = max(peak, now)
		select {
		case err := <-done:
			return peak, errors.Join(err, readErr)
		case <-tick.C:
		}
	}
}
