package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/catalog"
)

// The error counter of every operation starts at 0, so that an alert sees the first increase.
func TestInternalErrorSeriesExistFromTheStart(t *testing.T) {
	t.Parallel()
	s := newStation(t, filepath.Join(t.TempDir(), "cardwall.db"))
	text := s.scrape()
	for _, o := range catalog.New(catalog.Parts{}).All() {
		if !strings.Contains(text,
			fmt.Sprintf("\ncardwall_operations_total{operation=%q,outcome=\"internal\"} 0\n", o.Name)) {
			t.Errorf("the metrics do not contain a series for internal errors of %s", o.Name)
		}
	}
	for _, want := range []string{
		`cardwall_http_requests_total{door="api",status="500"} 0`,
		`cardwall_transactions_total{kind="write",outcome="unavailable"} 0`,
		`cardwall_operations_shed_total{class="writes"} 0`, `cardwall_webhooks_switched_off_total{reason="gone"} 0`,
		"cardwall_ready 1",
		"cardwall_backup_last_success_timestamp_seconds 0", "cardwall_data_free_bytes ", "cardwall_data_size_bytes ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("the metrics do not contain %s", want)
		}
	}
}

// The metrics include the time of the last successful backup, which a failed backup does not change.
func TestLastBackupIsInTheMetrics(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		s := newStation(t, database)
		last := func() float64 {
			t.Helper()
			found := regexp.MustCompile(`(?m)^cardwall_backup_last_success_timestamp_seconds (\S+)$`).FindStringSubmatch(s.scrape())
			if found == nil {
				t.Fatal("the metrics do not contain the time of the last backup")
			}
			at, err := strconv.ParseFloat(found[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		if last() != 0 {
			t.Error("the metrics contain the time of a backup, although there was none")
		}
		failed := append([]string{"backup", filepath.Join(t.TempDir(), "no", "such", "folder")}, s.flags...)
		if run(failed, strings.NewReader(""), io.Discard, io.Discard) == 0 || last() != 0 {
			t.Error("a backup to a missing folder succeeded or changed the metric")
		}
		earliest := time.Now().Add(-time.Second)
		s.command("backup", filepath.Join(t.TempDir(), "x.backup"))
		if at := time.UnixMilli(int64(last() * 1000)); at.Before(earliest) || at.After(time.Now().Add(time.Second)) {
			t.Errorf("the last backup was at %s, want between %s and now", at, earliest)
		}
	})
}

// A backup to a folder gets a new file name, and --keep removes all but the newest backups.
func TestBackupFolderKeepsTheNewest(t *testing.T) {
	t.Parallel()
	data, folder := t.TempDir(), t.TempDir()
	command := func(want int, args ...string) string {
		t.Helper()
		var out, stderr strings.Builder
		if status := run(append(args, "--data", data), strings.NewReader(""), &out, &stderr); status != want {
			t.Fatalf("cardwall %v: got status %d, want %d: %s", args, status, want, &stderr)
		}
		return stderr.String()
	}
	command(0, "user", "add", "--email", "ada@example.com", "--name", "Ada")
	for _, name := range []string{"cardwall-20240101T000000Z.backup", "cardwall-20250101T000000Z.backup",
		"cardwall-keep.backup", "other.txt"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command(0, "backup", "--keep", "2", folder)
	found, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range found {
		names = append(names, e.Name())
	}
	list := strings.Join(names, " ")
	if len(names) != 5 || strings.Contains(list, "20240101") || !strings.Contains(list, "20250101") ||
		!strings.Contains(list, "keep") || !strings.Contains(list, "other") || strings.Count(list, "Z.backup.files") != 1 {
		t.Errorf("the folder contains %s, want all files except the oldest backup, and the list of the new one", list)
	}
	if stderr := command(1, "backup", "--keep", "2", filepath.Join(folder, "a.backup")); !strings.Contains(stderr, "--keep") {
		t.Errorf("backup --keep to a file printed %q, want it to contain %q", stderr, "--keep")
	}
}

// Profiles are served only on the metrics address.
func TestProfilesAreOnlyOnTheMetricsAddress(t *testing.T) {
	t.Parallel()
	s := newStation(t, filepath.Join(t.TempDir(), "cardwall.db"))
	get := func(address string) (int, []byte) {
		t.Helper()
		res, err := s.client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, body
	}
	base := strings.TrimSuffix(s.metrics, "/metrics") + "/debug/pprof/"
	status, list := get(base)
	for _, p := range pprof.Profiles() {
		if status != http.StatusOK || !strings.Contains(string(list), p.Name()) {
			t.Errorf("/debug/pprof/: got status %d, body %s; want all profiles", status, list)
		}
	}
	for _, name := range []string{"profile?seconds=1", "heap", "goroutine"} {
		if status, body := get(base + name); status != http.StatusOK || len(body) < 100 || body[0] != 0x1f ||
			body[1] != 0x8b {
			t.Errorf("%s: got status %d, %d bytes, want 200 and a compressed profile", name, status, len(body))
		}
	}
	if status, body := get(base + "goroutine?debug=1"); status != http.StatusOK ||
		!strings.Contains(string(body), "goroutine profile: total") {
		t.Errorf("goroutine?debug=1: got status %d, body %.80s; want 200 and a profile as text", status, body)
	}
	for path, want := range map[string]int{"nothing": 404, "profile?seconds=0": 400, "profile?seconds=9999": 400} {
		if status, _ := get(base + path); status != want {
			t.Errorf("%s: got status %d, want %d", path, status, want)
		}
	}
	if status, body := get(s.base + "/debug/pprof/heap"); status == http.StatusOK {
		t.Errorf("the main address served a profile: %.80q", body)
	}
}

// failingListener fails to accept connections, as if the process had no free file descriptors.
type failingListener struct{ net.Listener }

func (failingListener) Accept() (net.Conn, error) {
	return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
}
func (failingListener) Addr() net.Addr { return &net.TCPAddr{} }

// Repeated accept errors are logged at most once per acceptLogInterval.
func TestTooManyOpenFilesAreLogged(t *testing.T) {
	t.Parallel()
	out := &apptest.Buffer{}
	l := &loggingListener{Listener: failingListener{}, log: newLog(out, "info")}
	for range 100 {
		if _, err := l.Accept(); err == nil {
			t.Fatal("Accept returned no error")
		}
	}
	if log := out.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "too many open files") ||
		!strings.Contains(log, "LimitNOFILE") || !strings.Contains(log, `"level":"WARN"`) {
		t.Errorf("got log\n%s\nwant one warning about open files", log)
	}
	l.logged = l.logged.Add(-acceptLogInterval)
	_, _ = l.Accept()
	if log := out.String(); strings.Count(log, "\n") != 2 || !strings.Contains(log, `"failures":100`) {
		t.Errorf("got log\n%s\nwant a second line that reports 100 failures", log)
	}
}
