package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// heldReports is the report read_all, each call of which runs until the end, or until its client leaves.
type heldReports struct {
	end     chan struct{} // closed to end all reports
	running atomic.Int64
}

func newHeldReports() *heldReports { return &heldReports{end: make(chan struct{})} }

// registry returns the program's operations and the report.
func (h *heldReports) registry() *op.Registry {
	r := app.Operations()
	r.In("Tests", "Operations for a test.")
	op.Query(r, "read_all", "GET /all", "Read everything.",
		func(ctx context.Context, _ *store.View, _ app.Nothing) (app.Deleted, error) {
			h.running.Add(1)
			defer h.running.Add(-1)
			select {
			case <-h.end:
			case <-ctx.Done():
			}
			return app.Deleted{ID: "all"}, ctx.Err()
		}, op.Report)
	return r
}

// While all report slots are in use, another report is rejected: over REST with 503 and
// Retry-After, over MCP with unavailable. Small requests and health checks still succeed. A
// client that disconnects frees its slot.
func TestReportsAreShedOverRESTAndMCP(t *testing.T) {
	t.Parallel()
	h := newHeldReports()
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{Registry: h.registry, QueueTime: time.Second})
	ada, bob := s.Person("Ada"), s.Person("Bob")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	slots := s.DB.Concurrency().Reports
	var all, first sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for i := range slots {
		r, serve := httptest.NewRequest(http.MethodGet, "/api/public/v1/all", nil), all.Go
		if i == 0 {
			r, serve = r.WithContext(ctx), first.Go
		}
		holder := s.Person("Holder" + strconv.Itoa(i)) // one person cannot hold all slots
		r.Header.Set("Authorization", "Bearer "+holder.Token)
		serve(func() { s.Handler.ServeHTTP(httptest.NewRecorder(), r) })
	}
	apptest.Eventually(t, "all slots are in use", func() bool { return h.running.Load() == int64(slots) })
	if a := ada.Call("read_all", nil); a.Status != http.StatusServiceUnavailable || a.Code != board.CodeUnavailable ||
		a.Header.Get("Retry-After") != "5" {
		t.Errorf("another report over REST: got status %d, body %s, headers %v; want 503 with Retry-After: 5", a.Status, a.Raw,
			a.Header)
	}
	if a := bob.Tool("read_all", nil); !a.Failed || a.Code != board.CodeUnavailable {
		t.Errorf("another report over MCP: got %+v, want unavailable", a)
	}
	ada.Must("list_boards", nil)
	ada.Must("create_board", fields{"workspaceId": workspace, "name": "Small"})
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := probe(ada, path); a.Status != http.StatusOK {
			t.Errorf("%s: got status %d, body %s; want 200", path, a.Status, a.Raw)
		}
	}
	cancel()
	first.Wait()
	next := make(chan apptest.Response, 1)
	all.Go(func() { next <- ada.Call("read_all", nil) })
	apptest.Eventually(t, "the report is admitted or rejected", func() bool { return h.running.Load() == int64(slots) || len(next) > 0 })
	close(h.end)
	if a := <-next; a.Status != http.StatusOK {
		t.Errorf("report with a free slot: got status %d, body %s; want 200", a.Status, a.Raw)
	}
	all.Wait()
}

// probe returns the response to a health check. It retries a check that timed out after
// two seconds, because the machine may be busy.
func probe(p *apptest.Person, path string) (a apptest.Response) {
	for range 5 {
		start := time.Now()
		a = p.Do(httptest.NewRequest(http.MethodGet, path, nil))
		if a.Status != http.StatusServiceUnavailable || time.Since(start) < 2*time.Second {
			break
		}
	}
	return a
}

// A server that is shutting down is not ready. It still responds, and closes connections
// after its responses.
func TestNotReadyDuringShutdown(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	check := func(path string) apptest.Response { return probe(ada, path) }
	if a := check("/readyz"); a.Status != http.StatusOK || a.Header.Get("Connection") != "" {
		t.Errorf("before shutdown: got status %d, headers %v; want 200 without Connection", a.Status, a.Header)
	}
	s.Draining.Store(true)
	if a := check("/readyz"); a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("/readyz during shutdown: got status %d, body %s; want 503 with Retry-After", a.Status, a.Raw)
	}
	for _, path := range []string{"/healthz", "/api/public/v1/me"} {
		if a := check(path); a.Status != http.StatusOK || a.Header.Get("Connection") != "close" {
			t.Errorf("%s during shutdown: got status %d, headers %v; want 200 with Connection: close", path, a.Status, a.Header)
		}
	}
}

// /readyz says which headers of a proxy do not fit the base URL.
func TestReadyNamesUnfittingHeaders(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	for _, c := range []struct{ host, forwardedHost, scheme, want string }{
		{"cardwall.example.com:443", "", "https", `{"status":"ready"}`},
		{"10.1.2.3:8080", "", "", `{"status":"ready"}`},
		{"[::1]:8080", "cardwall.example.com", "", `{"status":"ready"}`},
		{"upstream", "", "", `["The Host header is upstream, but links point to ` + apptest.BaseURL + ` (CARDWALL_BASE_URL)."]`},
		{"localhost:8080", "other.example.com", "http", `["The X-Forwarded-Host header is other.example.com, but links point to ` +
			apptest.BaseURL + ` (CARDWALL_BASE_URL).","X-Forwarded-Proto is http, but links point to `},
	} {
		r := httptest.NewRequest(http.MethodGet, "/readyz", nil)
		r.Host = c.host
		for name, value := range map[string]string{"X-Forwarded-Host": c.forwardedHost, "X-Forwarded-Proto": c.scheme} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%+v: got status %d, body %s; want 200 and %s", c, w.Code, w.Body, c.want)
		}
	}
}
