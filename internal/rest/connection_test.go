package rest_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/rest"
)

// overConnection serves s on a TCP listener with the limits that the program uses. It returns a
// function that sends raw bytes and returns the response.
func overConnection(t *testing.T, s *apptest.Service) func(raw string) (*http.Response, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s.Handler, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 32 << 10,
		DisableGeneralOptionsHandler: true}
	served := make(chan error, 1)
	go func() { served <- rest.Serve(server, l, true) }()
	t.Cleanup(func() { _ = server.Close(); <-served })
	return func(raw string) (*http.Response, string) {
		t.Helper()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, raw); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%.60q: %v", raw, err)
		}
		defer func() { _ = r.Body.Close() }()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatalf("%.60q: %v", raw, err)
		}
		return r, string(body)
	}
}

// Requests that net/http rejects before it calls the handler also get the error envelope.
func TestRefusalsBeforeTheHandlerHaveTheEnvelope(t *testing.T) {
	t.Parallel()
	exchange := overConnection(t, apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{}))
	for _, c := range []struct {
		raw    string
		status int
	}{
		{"nonsense\r\n\r\n", 400},
		{"GET /api/public/v1/me HTTP/1.1\r\n\r\n", 400},
		{"GET /api/public/v1/me HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
		{"GET /api/public/v1/me HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", 400},
		{"GET /api/public/v1/me HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", 431},
		{"POST /api/public/v1/cards HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
		{"GET /api/public/v1/me HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n", 417},
		{"GET /api/public/v1/me HTTP/3.0\r\nHost: x\r\n\r\n", 505},
		{"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
		{"GET /api/public/v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 401},
	} {
		r, body := exchange(c.raw)
		var envelope struct {
			Error struct{ Code, Message string } `json:"error"`
		}
		err := json.Unmarshal([]byte(body), &envelope, json.MatchCaseInsensitiveNames(true))
		if r.StatusCode != c.status || r.Header.Get("Content-Type") != "application/json" || err != nil ||
			envelope.Error.Code == "" || !strings.HasSuffix(envelope.Error.Message, ".") ||
			!strings.HasPrefix(r.Header.Get("X-Request-Id"), "req_") || r.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%.60q: got status %d, headers %v, body %s; want %d with an envelope", c.raw, r.StatusCode, r.Header, body,
				c.status)
		}
	}
}

// A file whose content looks like an error response of net/http is sent as it is.
func TestContentIsNoRefusal(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	boardID := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Launch"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": boardID, "name": "To do"}).ID()
	card := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Venue"}).ID()
	const refusal = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	exchange := overConnection(t, s)
	for _, content := range []string{
		strings.Repeat("x", 32<<10) + refusal, strings.Repeat("x", 32<<10) + "HTTP/1.1 417 Expectation Failed" + strings.Repeat("y", 40<<10),
		strings.Repeat(refusal, 1000),
	} {
		id := ada.Attach(card, "file", []byte(content)).ID()
		r, body := exchange("GET /api/public/v1/attachments/" + id + "/content HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
			"Authorization: Bearer " + ada.Token + "\r\n\r\n")
		if r.StatusCode != http.StatusOK || body != content {
			t.Errorf("got status %d and %d bytes, want the %d bytes of the file", r.StatusCode, len(body), len(content))
		}
	}
}

// With an https base URL, every response has Strict-Transport-Security. With an http base
// URL, no response may have it (RFC 6797, 7.2).
func TestHSTSOnEveryHTTPSResponse(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	plain, err := rest.New(rest.Config{DB: s.DB, Registry: s.Registry, BaseURL: "http://127.0.0.1:8080",
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"/healthz", "/readyz", "/openapi.json", "/api/public/v1/me", "/api/public/v1/nothing",
		"/api/app/v1/session", "/mcp", "/nowhere", "/a//b"} {
		for _, c := range []struct {
			handler http.Handler
			want    string
		}{{s.Handler, "max-age=31536000"}, {plain, ""}} {
			if c.want == "" && (strings.HasPrefix(at, "/api/") || at == "/mcp") {
				continue // these paths need a Gate, which plain does not have
			}
			w := httptest.NewRecorder()
			c.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, at, http.NoBody))
			if got := w.Header().Get("Strict-Transport-Security"); got != c.want {
				t.Errorf("%s: got Strict-Transport-Security %q, want %q", at, got, c.want)
			}
		}
	}
}

// A path that accepts GET accepts HEAD too, and Allow lists both.
func TestAllowNamesHead(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	for at, want := range map[string]string{"/me": "GET, HEAD", "/boards": "GET, HEAD, POST", "/cards": "POST"} {
		if a := ada.Send("PUT", at, "{}"); a.Status != 405 || a.Header.Get("Allow") != want ||
			!strings.Contains(a.Message, want) {
			t.Errorf("PUT %s: got status %d, Allow %q, message %s; want 405 with %q", at, a.Status, a.Header.Get("Allow"), a.Message,
				want)
		}
	}
	if a := ada.Send("HEAD", "/me", ""); a.Status != 200 {
		t.Errorf("HEAD: got status %d, want 200", a.Status)
	}
}
