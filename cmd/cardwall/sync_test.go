package main

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/perf/fleet"
)

// TestWritesStopAfterAFailedSync makes each sync of the server fail. The server must then reject
// writes and must not apply them later, even if it is killed. Writes that were acknowledged before
// must remain.
func TestWritesStopAfterAFailedSync(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("strace is not installed; run tools/need strace")
		}
		t.Skip("strace is not installed; run tools/need strace")
	}
	c := newCrashServer(t)
	kill := c.start()
	before := c.mustSend("POST", "/cards", "before", map[string]any{"listId": c.list, "title": "Before"})
	restore := c.failSyncs()
	for _, key := range []string{"in-doubt", "in-doubt-too"} {
		_, err := c.send("POST", "/cards", key, map[string]any{"listId": c.list, "title": "In doubt"})
		if status, ok := errors.AsType[fleet.StatusError](err); !ok || status.Code != http.StatusServiceUnavailable {
			t.Errorf("write while syncs fail: got error %v, want status 503", err)
		}
	}
	if status := readyz(c.base); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz returned %d while writes fail, want 503", status)
	}
	var read struct{ Data struct{ ID string } }
	c.get("/cards/"+before, &read)
	restore()
	apptest.Eventually(t, "the server recovers from the failed sync", func() bool { return readyz(c.base) == http.StatusOK })
	kill()
	kill = c.start()
	defer kill()
	var page struct{ Data []struct{ Title string } }
	if c.get("/boards/"+c.board()+"/cards", &page); len(page.Data) != 1 || page.Data[0].Title != "Before" {
		t.Errorf("after a kill, got cards %v, want only the acknowledged card", page.Data)
	}
	if id := c.mustSend("POST", "/cards", "in-doubt", map[string]any{"listId": c.list, "title": "In doubt"}); id == "" {
		t.Error("retrying the rejected write returned no card")
	}
}

// failSyncs makes each sync of the server fail until the returned function is called.
func (c *crashServer) failSyncs() (restore func()) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "strace", "-f", "-qq", "-p", strconv.Itoa(c.pid), "-e", "signal=none",
		"-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO")
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	apptest.Eventually(c.t, "strace is attached to the server", func() bool { return traced(c.pid) })
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
