package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/sqldb"
)

// Secrets that must not appear in the logs, traces or metrics of a station.
const (
	secretTitle = "Tungsten wedding 7731"
	secretEmail = "ada.lovelace.7731@example.com"
	secretPath  = "receiver-path-7731"
)

// station is a server in this process, on its own database, with a workspace, a board and a list.
type station struct {
	t                      *testing.T
	flags                  []string
	base, metrics          string
	token, workspace, list string
	log                    *apptest.Buffer
	client                 *http.Client
	stop                   func() // stops the server; also called at the end of the test
}

// newStation starts a server on a database. The flags are passed to serve.
func newStation(t *testing.T, database string, flags ...string) *station {
	t.Helper()
	s := &station{t: t, log: &apptest.Buffer{}, client: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(s.client.CloseIdleConnections)
	if sqldb.IsPostgres(database) {
		s.flags = []string{"--data", t.TempDir(), "--database", database}
	} else {
		s.flags = []string{"--data", filepath.Dir(database)}
	}
	s.command("user", "add", "--email", secretEmail, "--name", "Ada")
	s.workspace = s.command("workspace", "add", "--owner", secretEmail, "--name", "Engines")
	s.token = s.command("token", "add", "--user", secretEmail, "--name", "x", "--scopes", "read,write,admin")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	args := append(append([]string{"serve", "--addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--webhook-allow",
		"127.0.0.1"}, flags...), s.flags...)
	go func() {
		ended <- runUntil(ctx, args, strings.NewReader(""), io.Discard, s.log)
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if status := <-ended; status != 0 {
			t.Errorf("the server exited with status %d, want 0:\n%s", status, s.log)
		}
	})
	t.Cleanup(s.stop)
	addressOf := func(message string) string {
		address := regexp.MustCompile(`"msg":"` + message + `","address":"([^"]+)"`)
		var found []string
		apptest.Await(t, "the server logs "+message, func() (log *apptest.Buffer, done bool) {
			found = address.FindStringSubmatch(s.log.String())
			return s.log, found != nil
		})
		return found[1]
	}
	s.metrics, s.base = addressOf("serving metrics"), addressOf("serving")
	b := s.must("POST", "/api/public/v1/boards", map[string]any{"workspaceId": s.workspace, "name": secretTitle})
	s.list = s.must("POST", "/api/public/v1/boards/"+b+"/lists", map[string]any{"name": secretTitle})
	return s
}

// command runs a command on the station's database and returns its trimmed output.
func (s *station) command(args ...string) string {
	s.t.Helper()
	var out, stderr bytes.Buffer
	if status := run(append(args, s.flags...), strings.NewReader(""), &out, &stderr); status != 0 {
		s.t.Fatalf("cardwall %v: %s", args, stderr.String())
	}
	return strings.TrimSpace(out.String())
}

// send sends a request with the station's token and returns the response and its body. Headers
// are alternating names and values.
func (s *station) send(method, path string, in any, headers ...string) (*http.Response, []byte) {
	s.t.Helper()
	var body io.Reader = http.NoBody
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			s.t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res, text
}

// must sends a request that must succeed and returns the id in the response.
func (s *station) must(method, path string, in any, headers ...string) string {
	s.t.Helper()
	res, text := s.send(method, path, in, headers...)
	var r struct{ Data struct{ ID string } }
	if err := json.Unmarshal(text, &r); err != nil || res.StatusCode/100 != 2 {
		s.t.Fatalf("%s %s: got status %d, body %s; want success", method, path, res.StatusCode, text)
	}
	return r.Data.ID
}

// scrape returns the metrics.
func (s *station) scrape() string {
	s.t.Helper()
	res, err := s.client.Get(s.metrics)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("/metrics: got status %d, error %v, body %s; want 200", res.StatusCode, err, text)
	}
	return string(text)
}

// checkNoSecrets fails the test if text contains a secret. what names the text in the failure
// message.
func (s *station) checkNoSecrets(what, text string) {
	s.t.Helper()
	for _, secret := range []string{secretTitle, secretEmail, secretPath, s.token, s.token[len("cwl_"):]} {
		if i := strings.Index(text, secret); i >= 0 {
			s.t.Errorf("%s contains %q: …%q…", what, secret, text[max(0, i-200):min(len(text), i+100)])
		}
	}
}
