// Package proc reads what Linux tells of a process.
package proc

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"
)

// Memory answers a figure of /proc/PID/status in bytes: "VmRSS" is the resident memory, "VmHWM" its peak.
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
	return 0, fmt.Errorf("read memory: /proc/PID/status has no %s", figure)
}

// Mapped is how many bytes of the files below a folder a process has in its memory because it maps them. They are part
// of its resident memory, once for each mapping, but the system's to take back, as all that it keeps of files.
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
		case !unicode.IsUpper(rune(line[0])): // FROM-TO MODE OFFSET DEVICE INODE PATH: a mapping begins
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

// size reads a figure such as "  1234 kB", in bytes.
func size(value string) (int64, error) {
	kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read a size: %w", err)
	}
	return kilobytes << 10, nil
}
