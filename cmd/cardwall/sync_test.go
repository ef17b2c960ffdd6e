package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingIsWrittenAfterAFailedSyncUntilTheDiskIsWell has each sync of the
// server fail. What was asked for then is refused, and stays refused when the
// server is killed after that; what was acknowledged before stays.
func TestNothingIsWrittenAfterAFailedSyncUntilTheDiskIsWell(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("strace is missing: tools/need strace installs it")
		}
		t.Skip("strace is missing: tools/need strace installs it")
	}
	c := newCrash(t)
	kill := c.start()
	before := c.record("POST", "/cards", "before", map[string]any{"listId": c.list, "title": "Before"})
	release := c.failSyncs()
	for _, key := range []string{"in-doubt", "in-doubt-too"} {
		if body, status, err := c.exchange("POST", "/cards", key,
			map[string]any{"listId": c.list, "title": "In doubt"}); err != nil || status != http.StatusServiceUnavailable {
			t.Errorf("a write whose sync failed was answered %d %s, %v; want 503", status, body, err)
		}
	}
	if ready := c.ready(); ready != http.StatusServiceUnavailable {
		t.Errorf("/readyz answers %d while nothing can be written, want 503", ready)
	}
	var read struct{ Data struct{ ID string } }
	c.fetch("/cards/"+before, &read)
	release()
	for deadline := time.Now().Add(time.Minute); c.ready() != http.StatusOK; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server takes no writes a minute after the disk was well again")
		}
	}
	kill()
	kill = c.start()
	defer kill()
	var page struct{ Data []struct{ Title string } }
	if c.fetch("/boards/"+c.board()+"/cards", &page); len(page.Data) != 1 || page.Data[0].Title != "Before" {
		t.Errorf("after a kill there are %v, want what was acknowledged alone", page.Data)
	}
	if id := c.record("POST", "/cards", "in-doubt", map[string]any{"listId": c.list, "title": "In doubt"}); id == "" {
		t.Error("a write that was refused cannot be sent again")
	}
}

// failSyncs has each sync of the server fail until release is called.
func (c *crash) failSyncs() (release func()) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "strace", "-f", "-qq", "-p", strconv.Itoa(c.pid), "-e", "signal=none",
		"-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO")
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !traced(c.pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatal("strace does not hold the server")
		}
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
}

// traced reports whether a tracer is attached to every thread of a process.
func traced(pid int) bool {
	threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/status")
	for _, path := range threads {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "TracerPid:\t0\n") {
			return false
		}
	}
	return len(threads) > 0
}

// ready is the status of /readyz.
func (c *crash) ready() int {
	res, err := c.client.Get(c.base + "/readyz")
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}
