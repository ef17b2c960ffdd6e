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

// TestWritesStopAfterAFailedSync makes each sync of the server fail. Writes are then rejected
// and stay undone, even if the server is killed afterwards. Earlier acknowledged writes stay.
func TestWritesStopAfterAFailedSync(t *testing.T) {
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
			t.Errorf("a write whose sync failed: got status %d, body %s, error %v; want 503", status, body, err)
		}
	}
	if ready := c.ready(); ready != http.StatusServiceUnavailable {
		t.Errorf("/readyz returned %d while writes fail, want 503", ready)
	}
	var read struct{ Data struct{ ID string } }
	c.fetch("/cards/"+before, &read)
	release()
	for deadline := time.Now().Add(time.Minute); c.ready() != http.StatusOK; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server accepts no writes a minute after the disk recovered")
		}
	}
	kill()
	kill = c.start()
	defer kill()
	var page struct{ Data []struct{ Title string } }
	if c.fetch("/boards/"+c.board()+"/cards", &page); len(page.Data) != 1 || page.Data[0].Title != "Before" {
		t.Errorf("after a kill there are %v, want only the acknowledged cards", page.Data)
	}
	if id := c.record("POST", "/cards", "in-doubt", map[string]any{"listId": c.list, "title": "In doubt"}); id == "" {
		t.Error("a rejected write cannot be repeated")
	}
}

// failSyncs makes each sync of the server fail until release is called.
func (c *crash) failSyncs() (release func()) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "strace", "-f", "-qq", "-p", strconv.Itoa(c.pid), "-e", "signal=none",
		"-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO")
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !traced(c.pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatal("strace did not attach to the server")
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

// ready returns the status of /readyz.
func (c *crash) ready() int {
	res, err := c.client.Get(c.base + "/readyz")
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}
