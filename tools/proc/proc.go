// Package proc reads what Linux tells of a process.
package proc

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
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
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read memory: %w", err)
		}
		return kilobytes << 10, nil
	}
	return 0, fmt.Errorf("read memory: /proc/PID/status has no %s", figure)
}
