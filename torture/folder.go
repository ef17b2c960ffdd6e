package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// What a run makes outside of its processes carries the number of its own, so that the next run finds what one that was
// killed left behind.
const (
	folderPrefix    = "cardwall-torture-"
	namespacePrefix = "cwt-"
)

// newFolder is the temporary folder of this run; one that is kept is not taken for a leftover. Servers of another user's
// enter it.
func newFolder(kept bool) (string, error) {
	dir := filepath.Join(os.TempDir(), folderPrefix+strconv.Itoa(os.Getpid()))
	if kept {
		dir = filepath.Join(os.TempDir(), "kept-"+filepath.Base(dir))
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("make temporary folder: %w", err)
	}
	return dir, nil
}

// removeLeftovers takes away the mounts, folders and network namespaces of runs that are no more.
func removeLeftovers() error {
	var errs []error
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	errs = append(errs, err)
	for _, dir := range folders {
		if owned(strings.TrimPrefix(filepath.Base(dir), folderPrefix)) {
			continue
		}
		mounts, err := os.ReadFile("/proc/self/mounts")
		errs = append(errs, err)
		for line := range strings.Lines(string(mounts)) {
			if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
				_, err := run("umount", fields[1])
				errs = append(errs, err)
			}
		}
		errs = append(errs, os.RemoveAll(dir))
	}
	spaces, _ := os.ReadDir("/run/netns")
	for _, s := range spaces {
		number, _, _ := strings.Cut(strings.TrimPrefix(s.Name(), namespacePrefix), "-")
		if strings.HasPrefix(s.Name(), namespacePrefix) && !owned(number) {
			clearSpace(s.Name())
			_, err := run("ip", "netns", "del", s.Name())
			errs = append(errs, err)
		}
	}
	links, err := filepath.Glob("/sys/class/net/cwt*/bridge")
	errs = append(errs, err)
	for _, path := range links {
		if link := filepath.Base(filepath.Dir(path)); !owned(strings.TrimPrefix(link, "cwt")) {
			_, err := run("ip", "link", "del", link)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// owned says whether the process of a number is there.
func owned(number string) bool {
	pid, err := strconv.Atoi(number)
	return err == nil && syscall.Kill(pid, 0) == nil
}
