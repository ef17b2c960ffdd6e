package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a file system of a few megabytes.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size); err != nil {
		if os.Getenv("CI") == "true" && os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skipf("a small filesystem cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}

// fill uses up the space of a folder's file system. The returned function frees it.
func fill(t *testing.T, folder string) (free func()) {
	t.Helper()
	name := filepath.Join(folder, "fill")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// A server that starts on a full disk serves reads and rejects writes. It accepts writes again
// when there is space. This holds after a clean stop, after a kill, and with a write-ahead log
// that does not fit into the database.
func TestServeStartsForReadingOnAFullDisk(t *testing.T) {
	t.Parallel()
	for _, ended := range []string{"stopped", "killed", "killed with a long log"} {
		t.Run(ended, func(t *testing.T) {
			t.Parallel()
			made := t.TempDir()
			s := newStation(t, filepath.Join(made, "cardwall.db"))
			if ended == "killed with a long log" {
				for range 40 {
					s.must("POST", "/api/public/v1/cards",
						map[string]any{"listId": s.list, "title": "Paint", "description": strings.Repeat("hull deck mast ", 1000)})
				}
			}
			disk := smallDisk(t, "24m")
			if ended == "stopped" {
				s.stop()
			}
			// Copying the files of an idle server gives the state that a killed process leaves.
			for _, name := range []string{"cardwall.db", "cardwall.db-wal", "cardwall.db-shm", "secret.key"} {
				text, err := os.ReadFile(filepath.Join(made, name))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(disk, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			free := fill(t, disk)
			b := boot(t, "--data", disk)
			b.until(http.StatusOK, "ready")
			ask := func(method, path, body string) int {
				r, err := http.NewRequestWithContext(t.Context(), method, b.base+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+s.token)
				r.Header.Set("Content-Type", "application/json")
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				return res.StatusCode
			}
			write := func() int {
				return ask("POST", "/api/public/v1/cards",
					`{"listId":"`+s.list+`","title":"Rig","description":"`+strings.Repeat("sail ", 3000)+`"}`)
			}
			if status := ask("GET", "/api/public/v1/workspaces", ""); status != http.StatusOK {
				t.Errorf("a read returned %d, want 200:\n%s", status, b.log)
			}
			if status := write(); status != http.StatusServiceUnavailable {
				t.Errorf("a write returned %d, want 503", status)
			}
			free()
			for deadline := time.Now().Add(20 * time.Second); write() != http.StatusCreated; time.Sleep(100 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("writes do not recover:\n%s", b.log)
				}
			}
			if ended == "killed with a long log" && !strings.Contains(b.log.String(), "disk full: starting read-only") {
				t.Errorf("the log is:\n%s", b.log)
			}
			b.ends()
		})
	}
}
