package hook_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/hook"
)

// listenLoopback listens on loopback and serves each connection with fn.
func listenLoopback(t *testing.T, fn func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer func() { _ = c.Close() }()
				defer context.AfterFunc(t.Context(), func() { _ = c.Close() })()
				fn(c)
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); served.Wait() })
	return l.Addr().String()
}

// loopback starts an engine that may connect to loopback addresses over real sockets.
func (w *world) loopback(change ...func(*hook.Options)) (stop func()) {
	w.t.Helper()
	guard := newGuard(w.t, fixedZone(map[string]string{"receiver.example.com": "127.0.0.1"}), "127.0.0.0/8")
	return w.engine(append(change, func(o *hook.Options) { o.Guard, o.Dial = guard, nil })...)
}

// untimed is the maximum duration of an attempt whose outcome already shows that it did not time out.
const untimed = time.Hour

// firstAttempt waits until the first attempt of a webhook's only delivery has ended, and returns the
// delivery.
func (w *world) firstAttempt(id string) board.DeliveryDetail {
	w.t.Helper()
	return apptest.Await(w.t, "the first attempt has ended", func() (board.DeliveryDetail, bool) {
		d := w.onlyDelivery(id)
		return d, len(d.Log) > 0
	})
}

// allocated returns how many bytes the process has allocated since its start.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestHostileResponsesCostLittleMemoryAndTime(t *testing.T) {
	block := strings.Repeat("a", 1<<20)
	header := "X-Header: " + strings.Repeat("b", 1000) + "\r\n"
	// flood sends text repeatedly until the engine closes the connection, but at most 4 GiB.
	flood := func(sent *atomic.Int64, c net.Conn, text []byte) {
		for len(text) > 0 && sent.Load() < 4<<30 {
			n, err := c.Write(text)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
	var usual uint64 // bytes that an attempt with a small response allocates
	for _, c := range []struct {
		name  string
		begin string
		flood string
		want  logEntry
	}{
		{"a small response", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\naaaa", "",
			logEntry{board.DeliveryDelivered, "HTTP 200", "aaaa", 0, untimed}},
		{"gigabytes of body", "HTTP/1.1 200 OK\r\nContent-Length: 4294967296\r\n\r\n", block,
			logEntry{board.DeliveryDelivered, "HTTP 200", "aaaa", 0, untimed}},
		{"gigabytes of body without a length", "HTTP/1.1 503 No\r\n\r\n", block,
			logEntry{board.DeliveryRetry, "HTTP 503", "aaaa", 0, untimed}},
		{"gigabytes of chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "100000\r\n" + block + "\r\n",
			logEntry{board.DeliveryDelivered, "HTTP 200", "aaaa", 0, untimed}},
		{"gigabytes of compressed body", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", block,
			logEntry{board.DeliveryDelivered, "HTTP 200", "aaaa", 0, untimed}},
		{"endless headers", "HTTP/1.1 200 OK\r\n", header,
			logEntry{board.DeliveryRetry, "the response headers are larger than 32 KiB", "", 0, untimed}},
		{"an endless header", "HTTP/1.1 200 OK\r\nX-Long: ", block,
			logEntry{board.DeliveryRetry, "the response headers are larger than 32 KiB", "", 0, untimed}},
		{"an endless status line", "", block,
			logEntry{board.DeliveryRetry, "the response headers are larger than 32 KiB", "", 0, untimed}},
		{"endless 1xx responses", "", strings.Repeat("HTTP/1.1 102 Processing\r\n"+header+"\r\n", 100),
			logEntry{board.DeliveryRetry, "the response headers are larger than 32 KiB", "", 0, untimed}},
	} {
		t.Run(c.name, func(t *testing.T) { // not parallel, because it measures memory
			w := newWorld(t)
			var sent atomic.Int64
			text := []byte(c.flood)
			ended := make(chan uint64, 1) // receives the bytes allocated until then
			to := listenLoopback(t, func(conn net.Conn) {
				if request(conn) && send(conn, c.begin) {
					flood(&sent, conn, text)
				}
				ended <- allocated()
			})
			h := w.webhook(to)
			w.loopback()
			before := allocated()
			w.card()
			got := <-ended - before
			w.wantLogEntry(w.firstAttempt(h.ID), c.want)
			// The limit allows for data that the kernel had buffered when the connection was closed.
			if n := sent.Load(); n > 64<<20 {
				t.Errorf("got %d MB sent, want at most 64", n>>20)
			}
			if usual == 0 {
				usual = got
			}
			if most := 2*usual + 1<<20; got > most {
				t.Errorf("got %d kB allocated, want at most %d", got>>10, most>>10)
			}
			t.Logf("%d kB sent, %d kB allocated", sent.Load()>>10, got>>10)
		})
	}
}

func TestClosedOrResetConnectionIsRetried(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"closed immediately": func(net.Conn) {},
		"reset immediately":  func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) },
		"reset during the request": func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1))
			_ = c.(*net.TCPConn).SetLinger(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			h := w.webhook(listenLoopback(t, serve))
			w.loopback()
			w.card()
			w.wantLogEntry(w.firstAttempt(h.ID),
				logEntry{board.DeliveryRetry, "the connection was closed before a response", "", 0, untimed})
		})
	}
}

// authority is a certificate authority.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:  x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
	})
	return a
}

// sign creates a certificate for a new key and signs it with the authority's key. The authority's own
// certificate, which is the first, is self-signed.
func (a *authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// server returns a server certificate for a name. It is valid for one day.
func (a *authority) server(name string, from time.Time) tls.Certificate {
	a.t.Helper()
	cert, key := a.sign(&x509.Certificate{
		DNSNames: []string{name}, NotBefore: from, NotAfter: from.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

func TestLogExplainsTLSErrors(t *testing.T) {
	known, unknown := newAuthority(t), newAuthority(t)
	const name = "receiver.example.com"
	hourAgo := time.Now().Add(-time.Hour)
	with := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	for _, c := range []struct {
		name   string
		config *tls.Config // nil for plain HTTP
		want   logEntry
	}{
		{"a valid certificate", with(known.server(name, hourAgo)),
			logEntry{status: board.DeliveryDelivered, outcome: "HTTP 200"}},
		{"an unknown authority", with(unknown.server(name, hourAgo)),
			logEntry{outcome: "TLS: the certificate was issued by an unknown authority"}},
		{"another name", with(known.server("other.example.com", hourAgo)),
			logEntry{outcome: "TLS: the certificate is for a different host name"}},
		{"expired", with(known.server(name, hourAgo.Add(-25*time.Hour))),
			logEntry{outcome: "TLS: the certificate has expired, is not valid yet, or is not a server certificate"}},
		{"not yet valid", with(known.server(name, hourAgo.Add(5*time.Hour))),
			logEntry{outcome: "TLS: the certificate has expired, is not valid yet, or is not a server certificate"}},
		{"TLS 1.1 at most", &tls.Config{Certificates: []tls.Certificate{known.server(name, hourAgo)}, MinVersion: tls.VersionTLS10,
			MaxVersion: tls.VersionTLS11}, logEntry{outcome: "TLS: the handshake failed"}},
		{"requires a client certificate, TLS 1.2", &tls.Config{Certificates: []tls.Certificate{known.server(name, hourAgo)},
			ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}, logEntry{outcome: "TLS: the handshake failed"}},
		{"requires a client certificate, TLS 1.3", &tls.Config{Certificates: []tls.Certificate{known.server(name, hourAgo)},
			ClientAuth: tls.RequireAnyClientCert}, logEntry{outcome: "TLS: the handshake failed"}},
		{"plain HTTP on the TLS port", nil, logEntry{outcome: "TLS: the handshake failed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			_, number, _ := net.SplitHostPort(l.Addr().String())
			if c.config != nil {
				l = tls.NewListener(l, c.config)
			}
			server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
				ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
			done := make(chan struct{})
			go func() { defer close(done); _ = server.Serve(l) }()
			t.Cleanup(func() { _ = server.Close(); <-done })
			h := w.webhookFor(w.ada,
				app.CreateWebhookInput{URL: "https://" + name + ":" + number + "/in", BoardID: w.board, Events: created})
			w.loopback(func(o *hook.Options) {
				o.Roots = x509.NewCertPool()
				o.Roots.AddCert(known.cert)
			})
			w.card()
			want := c.want
			if want.status == "" {
				want.status = board.DeliveryRetry
			}
			want.max = untimed
			w.wantLogEntry(w.firstAttempt(h.ID), want)
		})
	}
}

func TestHangingHandshakeTimesOut(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.raw("receiver.test", func(c net.Conn) { drain(c) })
		h := w.webhookFor(w.ada, app.CreateWebhookInput{URL: "https://receiver.test/in", BoardID: w.board, Events: created})
		w.engine()
		w.card()
		advance(11 * time.Second)
		w.wantLogEntry(w.onlyDelivery(h.ID),
			logEntry{board.DeliveryRetry, noResponse, "", 10 * time.Second, 10 * time.Second})
		advance(15 * time.Second) // the transport continues the dial for a later attempt
	})
}

func TestSlowAttemptIsNotShownAsDeliveringAfterItEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	respondAfter := func(delay time.Duration) func(net.Conn) {
		return func(c net.Conn) {
			if request(c) {
				time.Sleep(delay)
				send(c, "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")
			}
		}
	}
	quick := w.webhook(listenLoopback(t, respondAfter(200*time.Millisecond)))
	slow := w.webhook(listenLoopback(t, respondAfter(1600*time.Millisecond)))
	w.loopback()
	w.card()
	// Lock the database when the first response is due to be recorded. Meanwhile, the second attempt
	// runs for long enough to be shown as delivering, and ends.
	w.withConnection(func(db *sql.DB) error {
		db.SetMaxOpenConns(1)
		if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		time.Sleep(2200 * time.Millisecond)
		_, err := db.Exec("COMMIT")
		return err
	})
	w.firstAttempt(slow.ID)
	w.card() // whatever the engine still had to write is written before this
	apptest.Eventually(t, "the next delivery has an attempt", func() bool {
		all := w.deliveries(quick.ID)
		return len(all) == 2 && all[0].Attempts > 0 && all[1].Attempts > 0
	})
	if d := w.deliveries(slow.ID)[0]; d.Status != board.DeliveryRetry {
		t.Errorf("got status %s of the slow delivery, want %s", d.Status, board.DeliveryRetry)
	}
}

func TestRequestHasTheDocumentedHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := make(chan []string, 1)
	to := listenLoopback(t, func(c net.Conn) {
		var lines []string
		for in := bufio.NewScanner(c); in.Scan() && in.Text() != ""; {
			lines = append(lines, in.Text())
		}
		got <- lines
		send(c, "HTTP/1.1 204 No Content\r\n\r\n")
	})
	w.webhook(to)
	w.loopback()
	w.card()
	lines := <-got
	want := []string{"POST /in HTTP/1.1", "Host: " + to, "User-Agent: Service-Webhooks/1.0",
		"Content-Type: application/json",
		"Content-Length: ", "webhook-id: itg_", "webhook-timestamp: ", "webhook-signature: v1,"}
	for _, prefix := range want {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) }) {
			t.Errorf("got lines %q, want one that begins with %q", lines, prefix)
		}
	}
	if len(lines) != len(want) {
		t.Errorf("got %d lines, want %d: %q", len(lines), len(want), lines)
	}
}
