package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cardwall/internal/apptest"
)

// smallDisk mounts a filesystem of the given size, such as 24m, and returns its mount point.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size); err != nil {
		if os.Getenv("CI") == "true" && os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skipf("mount a small filesystem: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}

// fill uses up the free space on a folder's filesystem. The returned function frees the space.
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

// A server that starts on a full disk serves reads and rejects writes. It accepts writes again when
// there is space. This must work after a clean stop, after a kill, and if there is not enough space
// to checkpoint a long write-ahead log.
func TestServeStartsReadOnlyOnAFullDisk(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"stopped", "killed", "killed with a long WAL"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			source := t.TempDir()
			s := newStation(t, filepath.Join(source, "cardwall.db"))
			if state == "killed with a long WAL" {
				for range 40 {
					s.must("POST", "/api/public/v1/cards",
						map[string]any{"listId": s.list, "title": "Paint", "description": strings.Repeat("hull deck mast ", 1000)})
				}
			}
			disk := smallDisk(t, "24m")
			if state == "stopped" {
				s.stop()
			}
			// The files of an idle server are in the same state as those of a killed server.
			for _, name := range []string{"cardwall.db", "cardwall.db-wal", "cardwall.db-shm", "secret.key"} {
				text, err := os.ReadFile(filepath.Join(source, name))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(disk, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			free := fill(t, disk)
			b := bootServer(t, "--data", disk)
			b.awaitReadyz(http.StatusOK, "ready")
			request := func(method, path, body string) int {
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
				return request("POST", "/api/public/v1/cards",
					`{"listId":"`+s.list+`","title":"Rig","description":"`+strings.Repeat("sail ", 3000)+`"}`)
			}
			if status := request("GET", "/api/public/v1/workspaces", ""); status != http.StatusOK {
				t.Errorf("a read returned %d, want 200:\n%s", status, b.log)
			}
			if status := write(); status != http.StatusServiceUnavailable {
				t.Errorf("a write returned %d, want 503", status)
			}
			free()
			apptest.Await(t, "a write succeeds", func() (log *apptest.Buffer, done bool) {
				return b.log, write() == http.StatusCreated
			})
			if state == "killed with a long WAL" && !strings.Contains(b.log.String(), "disk full: starting read-only") {
				t.Errorf("the log does not contain \"disk full: starting read-only\":\n%s", b.log)
			}
			b.stopAndCheck()
		})
	}
}
