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

// The series of every operation exists before its first error, so that an alert sees the
// increase.
func TestInternalErrorSeriesExistFromTheStart(t *testing.T) {
	t.Parallel()
	s := newStation(t, filepath.Join(t.TempDir(), "cardwall.db"))
	text := s.scrape()
	for _, o := range catalog.New(catalog.Parts{}).All() {
		if !strings.Contains(text,
			fmt.Sprintf("\ncardwall_operations_total{operation=%q,outcome=\"internal\"} 0\n", o.Name)) {
			t.Errorf("%s has no series of internal errors", o.Name)
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

// The metrics include the last successful backup. A failed one does not count.
func TestLastBackupIsInTheMetrics(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		s := newStation(t, database)
		last := func() float64 {
			t.Helper()
			found := regexp.MustCompile(`(?m)^cardwall_backup_last_success_timestamp_seconds (\S+)$`).FindStringSubmatch(s.scrape())
			if found == nil {
				t.Fatal("the metric is missing")
			}
			at, err := strconv.ParseFloat(found[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		if last() != 0 {
			t.Error("a backup is reported before the first one")
		}
		failed := append([]string{"backup", filepath.Join(t.TempDir(), "no", "such", "folder")}, s.flags...)
		if run(failed, strings.NewReader(""), io.Discard, io.Discard) == 0 || last() != 0 {
			t.Error("a backup that failed counts")
		}
		began := time.Now().Add(-time.Second)
		s.command("backup", filepath.Join(t.TempDir(), "x.backup"))
		if at := time.UnixMilli(int64(last() * 1000)); at.Before(began) || at.After(time.Now().Add(time.Second)) {
			t.Errorf("the last backup was at %s", at)
		}
	})
}

// Backups into a folder get different names, and only the newest are kept.
func TestBackupFolderKeepsTheNewest(t *testing.T) {
	t.Parallel()
	data, folder := t.TempDir(), t.TempDir()
	command := func(want int, args ...string) string {
		t.Helper()
		var out, problems strings.Builder
		if status := run(append(args, "--data", data), strings.NewReader(""), &out, &problems); status != want {
			t.Fatalf("cardwall %v: %d %s, want %d", args, status, &problems, want)
		}
		return problems.String()
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
	if len(names) != 4 || strings.Contains(list, "20240101") || !strings.Contains(list, "20250101") ||
		!strings.Contains(list, "keep") || !strings.Contains(list, "other") {
		t.Errorf("the folder holds %s", list)
	}
	if said := command(1, "backup", "--keep", "2", filepath.Join(folder, "a.backup")); !strings.Contains(said, "--keep") {
		t.Errorf("--keep with a file: %s; want it to contain %q", said, "--keep")
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
			t.Errorf("the list of profiles is %d %s", status, list)
		}
	}
	for _, name := range []string{"profile?seconds=1", "heap", "goroutine"} {
		if status, body := get(base + name); status != http.StatusOK || len(body) < 100 || body[0] != 0x1f ||
			body[1] != 0x8b {
			t.Errorf("%s: got status %d, %d bytes, want a profile", name, status, len(body))
		}
	}
	if status, body := get(base + "goroutine?debug=1"); status != http.StatusOK ||
		!strings.Contains(string(body), "goroutine profile: total") {
		t.Errorf("the goroutines are %d %.80s", status, body)
	}
	for path, want := range map[string]int{"nothing": 404, "profile?seconds=0": 400, "profile?seconds=9999": 400} {
		if status, _ := get(base + path); status != want {
			t.Errorf("%s: got status %d, want %d", path, status, want)
		}
	}
	if status, body := get(s.base + "/debug/pprof/heap"); status == http.StatusOK {
		t.Errorf("the main address serves profiles: %.80q", body)
	}
}

// failing is a listener that is out of file descriptors.
type failing struct{ net.Listener }

func (failing) Accept() (net.Conn, error) {
	return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
}
func (failing) Addr() net.Addr { return &net.TCPAddr{} }

// Repeated accept errors are logged once, not at each attempt.
func TestTooManyOpenFilesAreLogged(t *testing.T) {
	t.Parallel()
	out := &safeBuffer{}
	l := &watchedListener{Listener: failing{}, log: newLog(out, "info")}
	for range 100 {
		if _, err := l.Accept(); err == nil {
			t.Fatal("a connection was accepted")
		}
	}
	if log := out.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "too many open files") ||
		!strings.Contains(log, "LimitNOFILE") || !strings.Contains(log, `"level":"WARN"`) {
		t.Errorf("the log is:\n%s", log)
	}
	l.logged = l.logged.Add(-acceptLogEvery)
	_, _ = l.Accept()
	if log := out.String(); strings.Count(log, "\n") != 2 || !strings.Contains(log, `"failures":100`) {
		t.Errorf("the log is:\n%s", log)
	}
}
