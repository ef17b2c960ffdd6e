package main

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cardwall/internal/apptest"
)

// booting is a server in this process whose database may be missing.
type booting struct {
	t     *testing.T
	base  string
	log   *safeBuffer
	ended chan int
	stop  context.CancelFunc
}

func boot(t *testing.T, flags ...string) *booting {
	t.Helper()
	b := &booting{t: t, base: "http://" + freeAddress(t), log: &safeBuffer{}, ended: make(chan int, 1)}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(t.Context())
	args := append([]string{"serve", "--addr", strings.TrimPrefix(b.base, "http://")}, flags...)
	go func() {
		b.ended <- runUntil(ctx, args, strings.NewReader(""), io.Discard, b.log)
	}()
	t.Cleanup(b.stop)
	return b
}

// get sends one request, and returns the status, the body and the headers.
func (b *booting) get(method, path, accept string) (status int, body string, header http.Header) {
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

// until waits until /readyz returns a status and a text.
func (b *booting) until(status int, text string) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		got, body, _ := b.get("GET", "/readyz", "*/*")
		if got == status && strings.Contains(body, text) {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("/readyz returned %d %s, want %d with %q; the log:\n%s", got, body, status, text, b.log)
		}
	}
}

// waits checks that a server that is not ready reports so everywhere.
func (b *booting) waits() {
	b.t.Helper()
	if status, body, _ := b.get("GET", "/healthz", "*/*"); status != http.StatusOK {
		b.t.Errorf("/healthz returned %d %s, want 200", status, body)
	}
	addr := strings.TrimPrefix(b.base, "http://")
	if run([]string{"health", "--live", "--addr", addr}, strings.NewReader(""), io.Discard, io.Discard) != 0 {
		b.t.Error("a waiting server is reported as not alive")
	}
	if run([]string{"health", "--addr", addr}, strings.NewReader(""), io.Discard, io.Discard) != 1 {
		b.t.Error("a waiting server is reported as ready")
	}
	for _, path := range []string{"/readyz", "/api/public/v1/boards", "/api/app/v1/me", "/mcp", "/assets/x.js"} {
		for _, method := range []string{"GET", "POST"} {
			status, body, header := b.get(method, path, "application/json")
			if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" ||
				!strings.Contains(body, `{"error":{"code":"unavailable"`) {
				b.t.Errorf("%s %s returned %d %q %v", method, path, status, body, header)
			}
		}
	}
	status, body, header := b.get("GET", "/boards/brd_1", "text/html,*/*")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, `http-equiv="refresh"`) ||
		header.Get("Retry-After") == "" {
		b.t.Errorf("a page returned %d %q %v", status, body, header)
	}
}

// ends stops the server and checks that it stops quickly.
func (b *booting) ends() {
	b.t.Helper()
	began := time.Now()
	b.stop()
	select {
	case status := <-b.ended:
		if took := time.Since(began); status != 0 || took > 5*time.Second {
			b.t.Errorf("the server ended with %d after %s:\n%s", status, took, b.log)
		}
	case <-time.After(30 * time.Second):
		b.t.Fatalf("the server does not stop:\n%s", b.log)
	}
}

// While PostgreSQL is unreachable, the server listens, reports what is missing and stops
// promptly on request. It serves as soon as the database is reachable.
func TestServeWaitsForPostgreSQL(t *testing.T) {
	t.Parallel()
	there, err := url.Parse(apptest.EmptyPostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	nobody, door := *there, freeAddress(t)
	nobody.Host, nobody.RawQuery = door, "sslmode=disable"
	b := boot(t, "--data", t.TempDir(), "--database", nobody.String())
	b.until(http.StatusServiceUnavailable, "PostgreSQL cannot be reached. It has been in this state for ")
	b.waits()
	b.ends()
	if strings.Count(b.log.String(), "waiting for the database") != 1 {
		t.Errorf("the log is:\n%s", b.log)
	}

	b = boot(t, "--data", t.TempDir(), "--database", nobody.String())
	b.until(http.StatusServiceUnavailable, "PostgreSQL cannot be reached. It has been in this state for ")
	forward(t, door, there)
	b.until(http.StatusOK, "ready")
	if !strings.Contains(b.log.String(), "recovered: waiting for the database: PostgreSQL cannot be reached.") {
		t.Errorf("the log is:\n%s", b.log)
	}
	b.ends()
}

// forward forwards connections at an address to a PostgreSQL server until cut is called. Then
// the server is unreachable at that address.
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
		mu    sync.Mutex
		conns []net.Conn
	)
	cut = sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
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
			up, err := net.Dial(network, target)
			if err != nil {
				t.Errorf("connect to PostgreSQL: %v", err)
				_ = conn.Close()
				return
			}
			mu.Lock()
			conns = append(conns, conn, up)
			mu.Unlock()
			go func() { _, _ = io.Copy(up, conn); _ = up.Close() }()
			go func() { _, _ = io.Copy(conn, up); _ = conn.Close() }()
		}
	}()
	return cut
}

// Without its database, an idle server logs each failing task once instead of several times a
// second, and logs the recovery.
func TestIdleServerWithoutItsDatabaseLogsLittle(t *testing.T) {
	t.Parallel()
	there, err := url.Parse(apptest.EmptyPostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	way, door := *there, freeAddress(t)
	way.Host, way.RawQuery = door, "sslmode=disable"
	cut := forward(t, door, there)
	b := boot(t, "--data", t.TempDir(), "--database", way.String())
	b.until(http.StatusOK, "ready")
	time.Sleep(time.Second) // until all background loops have started
	before := strings.Count(b.log.String(), `"level":"WARN"`)
	cut()
	time.Sleep(5 * time.Second)
	log := b.log.String()
	if n := strings.Count(log, `"level":"WARN"`) - before; n == 0 || n > 8 {
		t.Errorf("%d warnings in five seconds:\n%s", n, log)
	}
	for _, task := range []string{"boards with rules not found", "webhook shards not leased"} {
		if n := strings.Count(log, `"msg":"`+task+`"`); n != 1 {
			t.Errorf("%q is in the log %d times:\n%s", task, n, log)
		}
	}
	forward(t, door, there)
	b.until(http.StatusOK, "ready")
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if strings.Contains(b.log.String(), `"msg":"recovered: boards with rules not found"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not recover:\n%s", b.log)
		}
	}
	b.ends()
}

// A wrong password or a missing database can be fixed while the server waits. The log gives the
// cause.
func TestServeWaitsForTheRightPassword(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(apptest.EmptyPostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	name := address.Path
	address.Path = "/nowhere_" + strings.TrimPrefix(name, "/")
	b := boot(t, "--data", t.TempDir(), "--database", address.String())
	b.until(http.StatusServiceUnavailable, "The database does not exist on the PostgreSQL server.")
	b.waits()
	if log := b.log.String(); !strings.Contains(log, "waiting for the database: The database does not exist") {
		t.Errorf("the log is:\n%s", log)
	}
	b.ends()
}

// A setting that waiting cannot fix ends the server at once, even if the database is
// unreachable.
func TestServeRejectsWrongSettingsAtOnce(t *testing.T) {
	t.Parallel()
	nobody := "postgres://cardwall@127.0.0.1:1/cardwall"
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--database", "mysql://x"}, "--database must be"},
		{[]string{"--database", "postgres://x:y:z@127.0.0.1:notaport/q"}, "not one that PostgreSQL understands"},
		{[]string{"--database", nobody, "--operators", "nobody"}, "--operators"},
		{[]string{"--database", nobody, "--webhook-retry-pauses", "soon"}, "--webhook-retry-pauses"},
		{[]string{"--database", nobody, "--webhook-ca-file", "/nonexistent.pem"}, "--webhook-ca-file"},
		{[]string{"--database", nobody, "--smtp-url", "http://mail"}, "mail"},
		{[]string{"--database", nobody, "--metrics-addr", "256.0.0.1:1"}, "for metrics"},
		{[]string{"--database", nobody, "--secret-key", "short"}, "CARDWALL_SECRET_KEY"},
	} {
		b := boot(t, append([]string{"--data", t.TempDir()}, c.flags...)...)
		select {
		case status := <-b.ended:
			if log := b.log.String(); status != 1 || !strings.Contains(log, c.want) {
				t.Errorf("%v: status %d, the log is:\n%s", c.flags, status, log)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%v: the server keeps running:\n%s", c.flags, b.log)
			b.stop()
		}
	}
}

// While another process migrates the file, the server reports it and continues afterwards
// without help.
func TestServeRespondsDuringAMigration(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "cardwall.db")
	lock, err := os.Create(file + ".migrating") // as held by another process that migrates
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	// The partial copy of a killed process is removed.
	left := filepath.Join(folder, ".cardwall.db.partial-before-migration-9-20260101T000000")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := boot(t, "--data", folder)
	b.until(http.StatusServiceUnavailable, "Another process is migrating the database. It has been in this state for ")
	b.waits()
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	b.until(http.StatusOK, "ready")
	b.ends()
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the partial copy still exists: %v", err)
	}
}

func TestLogWritesDurationsForPeople(t *testing.T) {
	t.Parallel()
	f := &safeBuffer{}
	newLog(f, "info").Info("x", "drain", 2*time.Second)
	if got := f.String(); !strings.Contains(got, `"drain":"2s"`) {
		t.Errorf("the log line is %s; want it to contain %q", got, `"drain":"2s"`)
	}
}
