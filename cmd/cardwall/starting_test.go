package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cardwall/internal/apptest"
)

// startingServer is a server in this process that may not be ready yet.
type startingServer struct {
	t     *testing.T
	base  string
	log   *apptest.Buffer
	ended chan int // receives the exit status
	stop  context.CancelFunc
}

// bootServer runs the serve command and does not wait until the server is ready.
func bootServer(t *testing.T, flags ...string) *startingServer {
	t.Helper()
	b := &startingServer{t: t, base: "http://" + apptest.ReserveAddress(t), log: &apptest.Buffer{}, ended: make(chan int, 1)}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(t.Context())
	args := append([]string{"serve", "--addr", strings.TrimPrefix(b.base, "http://")}, flags...)
	go func() {
		b.ended <- runUntil(ctx, args, strings.NewReader(""), io.Discard, b.log)
	}()
	t.Cleanup(b.stop)
	return b
}

// get sends a request and returns the status, the body and the headers. If the request fails, the
// status is 0 and the body is the error.
func (b *startingServer) get(method, path, accept string) (status int, body string, header http.Header) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error(), nil
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header
}

// awaitReadyz waits until /readyz returns the given status and a body that contains text.
func (b *startingServer) awaitReadyz(status int, text string) {
	b.t.Helper()
	apptest.Await(b.t, fmt.Sprintf("/readyz returns %d and %q", status, text), func() (seen string, done bool) {
		got, body, _ := b.get("GET", "/readyz", "*/*")
		return fmt.Sprintf("%d %s; log:\n%s", got, body, b.log), got == status && strings.Contains(body, text)
	})
}

// checkNotReady checks that /healthz reports a running server, and that other paths report that the
// server is not ready.
func (b *startingServer) checkNotReady() {
	b.t.Helper()
	if status, body, _ := b.get("GET", "/healthz", "*/*"); status != http.StatusOK {
		b.t.Errorf("/healthz returned %d %s, want 200", status, body)
	}
	addr := strings.TrimPrefix(b.base, "http://")
	if run([]string{"health", "--live", "--addr", addr}, strings.NewReader(""), io.Discard, io.Discard) != 0 {
		b.t.Error("cardwall health --live failed for a server that is alive but not ready, want success")
	}
	if run([]string{"health", "--addr", addr}, strings.NewReader(""), io.Discard, io.Discard) != 1 {
		b.t.Error("cardwall health succeeded for a server that is not ready")
	}
	for _, path := range []string{"/readyz", "/api/public/v1/boards", "/api/app/v1/me", "/mcp", "/assets/x.js"} {
		for _, method := range []string{"GET", "POST"} {
			status, body, header := b.get(method, path, "application/json")
			if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" ||
				!strings.Contains(body, `{"error":{"code":"unavailable"`) {
				b.t.Errorf("%s %s returned %d %q with headers %v, want 503, code unavailable and Retry-After", method, path, status, body, header)
			}
		}
	}
	status, body, header := b.get("GET", "/boards/brd_1", "text/html,*/*")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, `http-equiv="refresh"`) ||
		header.Get("Retry-After") == "" {
		b.t.Errorf("a page returned %d %q with headers %v, want 503, a refresh and Retry-After", status, body, header)
	}
}

// awaitEnd waits until the server has ended and returns its exit status.
func (b *startingServer) awaitEnd() (status int) {
	b.t.Helper()
	apptest.Await(b.t, "the server has ended", func() (log *apptest.Buffer, done bool) {
		select {
		case status = <-b.ended:
			return b.log, true
		default:
			return b.log, false
		}
	})
	return status
}

// stopAndCheck stops the server and checks that it exits with status 0.
func (b *startingServer) stopAndCheck() {
	b.t.Helper()
	b.stop()
	if status := b.awaitEnd(); status != 0 {
		b.t.Errorf("the server exited with status %d, want 0:\n%s", status, b.log)
	}
}

// While PostgreSQL is unreachable, the server listens and reports the cause, and can be stopped.
// It becomes ready when the database is reachable.
func TestServeWaitsForPostgreSQL(t *testing.T) {
	t.Parallel()
	database, err := url.Parse(apptest.EmptyPostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	unreachable, address := *database, apptest.ReserveAddress(t)
	unreachable.Host, unreachable.RawQuery = address, "sslmode=disable"
	b := bootServer(t, "--data", t.TempDir(), "--database", unreachable.String())
	b.awaitReadyz(http.StatusServiceUnavailable, "PostgreSQL cannot be reached. It has been in this state for ")
	b.checkNotReady()
	b.stopAndCheck()
	if strings.Count(b.log.String(), "waiting for the database") != 1 {
		t.Errorf("got log\n%s\nwant one line about waiting for the database", b.log)
	}

	b = bootServer(t, "--data", t.TempDir(), "--database", unreachable.String())
	b.awaitReadyz(http.StatusServiceUnavailable, "PostgreSQL cannot be reached. It has been in this state for ")
	forward(t, address, database)
	b.awaitReadyz(http.StatusOK, "ready")
	if !strings.Contains(b.log.String(), "recovered: waiting for the database: PostgreSQL cannot be reached.") {
		t.Errorf("got log\n%s\nwant a line about the recovered database", b.log)
	}
	b.stopAndCheck()
}

// forward forwards connections from an address to a PostgreSQL server until the returned function,
// cut, is called.
func forward(t *testing.T, address string, to *url.URL) (cut func()) {
	t.Helper()
	network, target := "tcp", to.Host
	if folder := to.Query().Get("host"); strings.HasPrefix(folder, "/") {
		network, target = "unix", filepath.Join(folder, ".s.PGSQL."+cmp.Or(to.Query().Get("port"), "5432"))
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu     sync.Mutex
		conns  []net.Conn
		closed bool
	)
	cut = sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		closed = true
		_ = l.Close()
		for _, c := range conns {
			_ = c.Close()
		}
	})
	t.Cleanup(cut)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial(network, target)
			if err != nil {
				t.Errorf("connect to PostgreSQL: %v", err)
				_ = conn.Close()
				return
			}
			mu.Lock()
			conns = append(conns, conn, upstream)
			if closed { // since it was accepted
				_, _ = conn.Close(), upstream.Close()
			}
			mu.Unlock()
			go func() { _, _ = io.Copy(upstream, conn); _ = upstream.Close() }()
			go func() { _, _ = io.Copy(conn, upstream); _ = conn.Close() }()
		}
	}()
	return cut
}

// If an idle server loses its database, it logs each failing task once instead of several times per
// second. It also logs the recovery.
func TestIdleServerWithoutItsDatabaseLogsLittle(t *testing.T) {
	t.Parallel()
	database, err := url.Parse(apptest.EmptyPostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	forwarded, address := *database, apptest.ReserveAddress(t)
	forwarded.Host, forwarded.RawQuery = address, "sslmode=disable"
	cut := forward(t, address, database)
	// At the level debug, the log contains all failures.
	b := bootServer(t, "--data", t.TempDir(), "--database", forwarded.String(), "--log-level", "debug")
	b.awaitReadyz(http.StatusOK, "ready")
	before := len(b.log.String())
	cut()
	tasks := []string{"boards with rules not found", "webhook shards not leased"}
	for _, task := range tasks {
		apptest.Await(t, "the task has failed three times: "+task, func() (log *apptest.Buffer, done bool) {
			return b.log, strings.Count(b.log.String(), `"msg":"`+task+`"`) >= 3
		})
	}
	warnings := map[string]int{}
	for _, m := range regexp.MustCompile(`"level":"WARN","msg":"([^"]+)"`).FindAllStringSubmatch(b.log.String()[before:], -1) {
		warnings[m[1]]++
	}
	for task, n := range warnings {
		if n > 1 {
			t.Errorf("the log contains the warning %q %d times, want once:\n%s", task, n, b.log)
		}
	}
	forward(t, address, database)
	b.awaitReadyz(http.StatusOK, "ready")
	for _, task := range tasks {
		if warnings[task] == 0 {
			t.Errorf("the log does not contain the warning %q:\n%s", task, b.log)
		}
		apptest.Await(t, "the log contains the recovery of the task: "+task, func() (log *apptest.Buffer, done bool) {
			return b.log, strings.Contains(b.log.String(), `"msg":"recovered: `+task+`"`)
		})
	}
	b.stopAndCheck()
}

// The server waits for a database that does not exist yet, and logs the cause.
func TestServeWaitsForAMissingDatabase(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(apptest.EmptyPostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	name := address.Path
	address.Path = "/nowhere_" + strings.TrimPrefix(name, "/")
	b := bootServer(t, "--data", t.TempDir(), "--database", address.String())
	b.awaitReadyz(http.StatusServiceUnavailable, "The database does not exist on the PostgreSQL server.")
	b.checkNotReady()
	if log := b.log.String(); !strings.Contains(log, "waiting for the database: The database does not exist") {
		t.Errorf("got log\n%s\nwant a line about the missing database", log)
	}
	b.stopAndCheck()
}

// The server exits immediately if a setting is invalid, even if the database is unreachable.
func TestServeRejectsInvalidSettingsImmediately(t *testing.T) {
	t.Parallel()
	unreachable := "postgres://cardwall@127.0.0.1:1/cardwall"
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--database", "mysql://x"}, "--database must be"},
		{[]string{"--database", "postgres://x:y:z@127.0.0.1:notaport/q"}, "not a valid PostgreSQL address"},
		{[]string{"--database", unreachable, "--operators", "nobody"}, "--operators"},
		{[]string{"--database", unreachable, "--webhook-retry-pauses", "soon"}, "--webhook-retry-pauses"},
		{[]string{"--database", unreachable, "--webhook-ca-file", "/nonexistent.pem"}, "--webhook-ca-file"},
		{[]string{"--database", unreachable, "--smtp-url", "http://mail"}, "mail"},
		{[]string{"--database", unreachable, "--metrics-addr", "256.0.0.1:1"}, "for metrics"},
		{[]string{"--database", unreachable, "--secret-key", "short"}, "CARDWALL_SECRET_KEY"},
	} {
		b := bootServer(t, append([]string{"--data", t.TempDir()}, c.flags...)...)
		status := b.awaitEnd() // a server that waits for the database would not end
		if log := b.log.String(); status != 1 || !strings.Contains(log, c.want) || strings.Contains(log, "waiting") {
			t.Errorf("serve %v: status %d, want 1 and %q in the log, but no waiting:\n%s", c.flags, status, c.want, log)
		}
	}
}

// While another process is migrating the SQLite file, the server reports that it is not ready. It
// becomes ready when the migration has finished.
func TestServeRespondsDuringAMigration(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "cardwall.db")
	lock, err := os.Create(file + ".migrating") // the lock that a migrating process holds
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	// The server must remove the partial copy that a killed process left behind.
	partial := filepath.Join(folder, ".cardwall.db.partial-before-migration-9-20260101T000000")
	if err := os.WriteFile(partial, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := bootServer(t, "--data", folder)
	b.awaitReadyz(http.StatusServiceUnavailable, "Another process is migrating the database. It has been in this state for ")
	b.checkNotReady()
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	b.awaitReadyz(http.StatusOK, "ready")
	b.stopAndCheck()
	if _, err := os.Stat(partial); !os.IsNotExist(err) {
		t.Errorf("the partial copy still exists: %v", err)
	}
}

func TestLogFormatsDurations(t *testing.T) {
	t.Parallel()
	f := &apptest.Buffer{}
	newLog(f, "info").Info("x", "drain", 2*time.Second)
	if got := f.String(); !strings.Contains(got, `"drain":"2s"`) {
		t.Errorf("the log line is %s; want it to contain %q", got, `"drain":"2s"`)
	}
}
