package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// testServer starts a server with the given handler and counts the connections that it accepts.
func testServer(t *testing.T, handler http.HandlerFunc) (addr string, connections *atomic.Int64) {
	t.Helper()
	connections = new(atomic.Int64)
	srv := httptest.NewUnstartedServer(handler)
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String(), connections
}

func testClient(t *testing.T, addr string) *Client {
	t.Helper()
	c := New(addr, "secret", "test")
	c.Timeout = 30 * time.Second
	t.Cleanup(c.Close)
	return c
}

func get(path string) *Request { return &Request{Method: "GET", Path: []byte(path), Want: 200} }

func TestClientReadsBodies(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 20_000) // more than the initial buffer holds
	addr, connections := testServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/length":
			w.Header().Set("Content-Length", fmt.Sprint(len(long)))
			io.WriteString(w, long)
		case "/short":
			io.WriteString(w, "short")
		case "/empty":
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/chunked":
			w.Header().Set("Trailer", "X-Sum")
			for i := 0; i < len(long); i += 50_000 {
				io.WriteString(w, long[i:min(i+50_000, len(long))])
				w.(http.Flusher).Flush()
			}
			w.Header().Set("X-Sum", "1")
		case "/hints":
			w.WriteHeader(http.StatusEarlyHints)
			io.WriteString(w, "after the hints")
		default:
			http.Error(w, `{"error":"nothing here"}`, http.StatusNotFound)
		}
	})
	c := testClient(t, addr)
	for range 2 { // the second pass reuses the buffers
		for _, want := range []struct {
			path   string
			status int
			body   string
		}{
			{"/length", 200, long},
			{"/short", 200, "short"},
			{"/chunked", 200, long},
			{"/empty", 200, ""},
			{"/none", 204, ""},
			{"/hints", 200, "after the hints"},
			{"/lost", 404, "{\"error\":\"nothing here\"}\n"},
		} {
			status, body, err := c.Do(get(want.path))
			if err != nil || status != want.status || string(body) != want.body {
				t.Errorf("%s: got status %d, %d bytes, error %v; want status %d, %d bytes",
					want.path, status, len(body), err, want.status, len(want.body))
			}
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
}

func TestClientSendsWrites(t *testing.T) {
	var keys []string
	addr, _ := testServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"title":"x"}` {
			t.Errorf("got body %q, error %v; want the body of the request", body, err)
		}
		if got := r.Header.Get("Authorization"); got != "Bearer secret" {
			t.Errorf("got Authorization %q, want %q", got, "Bearer secret")
		}
		if got := r.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("got Content-Type %q, want %q", got, "application/json")
		}
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		w.WriteHeader(http.StatusCreated)
	})
	c := testClient(t, addr)
	for range 2 {
		r := Request{Method: "POST", Path: []byte("/cards"), Body: []byte(`{"title":"x"}`)}
		if status, _, err := c.Do(&r); err != nil || status != 201 {
			t.Fatalf("got status %d, error %v; want 201", status, err)
		}
	}
	if got := strings.Join(keys, " "); got != "test-1 test-2" {
		t.Errorf("got idempotency keys %q, want %q", got, "test-1 test-2")
	}
}

func TestClientReconnectsAfterClose(t *testing.T) {
	addr, connections := testServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		io.WriteString(w, "bye")
	})
	c := testClient(t, addr)
	for range 3 {
		if _, body, err := c.Do(get("/")); err != nil || string(body) != "bye" {
			t.Fatalf("got body %q, error %v; want %q", body, err, "bye")
		}
	}
	if n := connections.Load(); n != 3 {
		t.Errorf("got %d connections, want 3", n)
	}
}

// rawServer accepts one connection for each text. It reads the head of one request, sends the text and closes the
// connection.
func rawServer(t *testing.T, texts ...string) string {
	t.Helper()
	addr, _ := closingServer(t, texts...)
	return addr
}

// closingServer is like rawServer. It also returns a channel that receives a value after each connection was closed.
func closingServer(t *testing.T, texts ...string) (addr string, closed <-chan struct{}) {
	t.Helper()
	ended := make(chan struct{}, len(texts))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for _, text := range texts {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buf, got := make([]byte, 4096), []byte{}
			for !bytes.Contains(got, []byte("\r\n\r\n")) {
				n, err := conn.Read(buf)
				if err != nil {
					break
				}
				got = append(got, buf[:n]...)
			}
			io.WriteString(conn, text)
			conn.Close()
			ended <- struct{}{}
		}
	}()
	return l.Addr().String(), ended
}

// If the server has closed an idle connection, the client sends the request over a new connection.
func TestClientRetriesIdleConnection(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	addr, closed := closingServer(t, ok, ok)
	c := testClient(t, addr)
	for range 2 {
		if _, body, err := c.Do(get("/")); err != nil || string(body) != "ok" {
			t.Fatalf("got body %q, error %v; want %q", body, err, "ok")
		}
		<-closed
	}
}

func TestClientReadsUntilClose(t *testing.T) {
	c := testClient(t, rawServer(t, "HTTP/1.0 200 OK\r\n\r\nuntil the end"))
	if _, body, err := c.Do(get("/")); err != nil || string(body) != "until the end" {
		t.Fatalf("got body %q, error %v; want %q", body, err, "until the end")
	}
	if c.conn != nil {
		t.Error("the client kept the connection open")
	}
}

func TestClientRejectsMalformedResponses(t *testing.T) {
	for name, text := range map[string]string{
		"no HTTP":         "SSH-2.0-server\r\n\r\n",
		"no status":       "HTTP/1.1 abc OK\r\n\r\n",
		"short body":      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
		"bad length":      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"bad chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"long chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
		"truncated chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"no trailer end":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
		"excess bytes":    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1",
		"no response":     "",
	} {
		t.Run(name, func(t *testing.T) {
			c := testClient(t, rawServer(t, text))
			status, body, err := c.Do(get("/"))
			if err == nil {
				t.Errorf("got status %d and body %q, want an error", status, body)
			}
			if c.conn != nil {
				t.Error("the client kept the connection open")
			}
		})
	}
}

func TestClientTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testClient(t, "server")
		c.Dial = func() (net.Conn, error) {
			conn, server := net.Pipe()
			go io.Copy(io.Discard, server) // never responds
			return conn, nil
		}
		start := time.Now()
		if _, _, err := c.Do(get("/")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got error %v, want a timeout", err)
		}
		if took := time.Since(start); took != c.Timeout {
			t.Errorf("the request timed out after %v, want %v", took, c.Timeout)
		}
	})
}
