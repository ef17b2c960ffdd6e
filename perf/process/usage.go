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

// usage is what /proc/PID/stat says about a process.
type usage struct {
	parent   int
	own      time.Duration // user and system time
	children time.Duration // of its children that have ended and been waited for
}

func readUsage(pid int) (u usage, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, fmt.Errorf("read processor time: %w", err)
	}
	// The second field is the program's name in parentheses, which can contain spaces and parentheses.
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

// TreeCPU returns the processor time of a process and all its descendants, including those that have ended.
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
		case !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH): // it has not ended meanwhile
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

// Memory returns a figure of /proc/PID/status in bytes: "VmRSS" is the resident memory, "VmHWM" its peak.
func Memory(pid int, figure string) (int64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if name != figure {
			continue
		}
		return size(value)
	}
	return 0, fmt.Errorf("read memory: /proc/%d/status has no %s", pid, figure)
}

// Mapped returns how many bytes of the files below a folder are in the memory of a process because it maps them. They
// are part of its resident memory, once per mapping, but the system can reclaim them like any page of its file cache.
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
		case !unicode.IsUpper(rune(line[0])): // the first line of a mapping: FROM-TO MODE OFFSET DEVICE INODE PATH
			_, path, _ := strings.Cut(line, "/")
			below = strings.HasPrefix("/"+path, strings.TrimSuffix(folder, "/")+"/")
		case name == "Rss" && below:
			n, err := size(value)
			if err != nil {
				return 0, err
			}
			bytes += n
		}
	}
	return bytes, lines.Err()
}

// size parses a figure such as "  1234 kB" and returns bytes.
func size(value string) (int64, error) {
	kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse size: %w", err)
	}
	return kilobytes << 10, nil
}
