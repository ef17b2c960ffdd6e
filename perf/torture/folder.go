package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"cardwall/perf/process"
)

// The names of folders, namespaces and bridges contain the process id of the run. The next run can therefore remove
// what a killed run has left behind.
const (
	folderPrefix    = "cardwall-torture-"
	namespacePrefix = "cwt-"
)

// newFolder creates the temporary folder of this run. PostgreSQL runs as another user and must be able to enter the
// folder. If keep is set, the folder has a different name, so that the next run does not remove it.
func newFolder(keep bool) (string, error) {
	dir := filepath.Join(os.TempDir(), folderPrefix+strconv.Itoa(os.Getpid()))
	if keep {
		dir = filepath.Join(os.TempDir(), "kept-"+filepath.Base(dir))
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("create temporary folder: %w", err)
	}
	return dir, nil
}

// removeLeftovers removes the mounts, folders, network namespaces and bridges of runs that have ended.
func removeLeftovers() error {
	var errs []error
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	errs = append(errs, err)
	for _, dir := range folders {
		if isRunning(strings.TrimPrefix(filepath.Base(dir), folderPrefix)) {
			continue
		}
		mounts, err := os.ReadFile("/proc/self/mounts")
		errs = append(errs, err)
		for line := range strings.Lines(string(mounts)) {
			if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
				_, err := process.Run("umount", fields[1])
				errs = append(errs, err)
			}
		}
		errs = append(errs, os.RemoveAll(dir))
	}
	namespaces, _ := os.ReadDir("/run/netns")
	for _, s := range namespaces {
		id, _, _ := strings.Cut(strings.TrimPrefix(s.Name(), namespacePrefix), "-")
		if strings.HasPrefix(s.Name(), namespacePrefix) && !isRunning(id) {
			killNamespace(s.Name())
			_, err := process.Run("ip", "netns", "del", s.Name())
			errs = append(errs, err)
		}
	}
	links, err := filepath.Glob("/sys/class/net/cwt*/bridge")
	errs = append(errs, err)
	for _, path := range links {
		if link := filepath.Base(filepath.Dir(path)); !isRunning(strings.TrimPrefix(link, "cwt")) {
			_, err := process.Run("ip", "link", "del", link)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// isRunning reports whether there is a process with the given id.
func isRunning(id string) bool {
	pid, err := strconv.Atoi(id)
	return err == nil && syscall.Kill(pid, 0) == nil
}
