package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
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

// When too many reports run, REST and MCP refuse another one with 503 and Retry-After.
// Small requests and health checks still work. A client that disconnects frees its
// slot.
func TestReportsAreShedOverRESTAndMCP(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	var held atomic.Int64
	registry := func() *op.Registry {
		r := app.Operations()
		r.In("Tests", "What only a test calls.")
		op.Query(r, "read_all", "GET /all", "Read everything.",
			func(ctx context.Context, _ *store.View, _ app.Nothing) (app.Deleted, error) {
				held.Add(1)
				defer held.Add(-1)
				select {
				case <-hold:
				case <-ctx.Done():
				}
				return app.Deleted{ID: "all"}, ctx.Err()
			}, op.Report)
		return r
	}
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{Registry: registry})
	ada, bob := s.Person("Ada"), s.Person("Bob")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	places := s.DB.Concurrency().Reports
	var all, first sync.WaitGroup
	ctx, leave := context.WithCancel(t.Context())
	for i := range places {
		r, serve := httptest.NewRequest(http.MethodGet, "/api/public/v1/all", nil), all.Go
		if i == 0 {
			r, serve = r.WithContext(ctx), first.Go
		}
		holder := s.Person("Holder" + strconv.Itoa(i)) // no person may hold all slots
		r.Header.Set("Authorization", "Bearer "+holder.Token)
		serve(func() { s.Handler.ServeHTTP(httptest.NewRecorder(), r) })
	}
	for held.Load() < int64(places) {
		time.Sleep(time.Millisecond)
	}
	if a := ada.Call("read_all", nil); a.Status != http.StatusServiceUnavailable || a.Code != board.CodeUnavailable ||
		a.Header.Get("Retry-After") != "5" {
		t.Errorf("one more over REST: got status %d, body %s %v", a.Status, a.Raw, a.Header)
	}
	if a := bob.Tool("read_all", nil); !a.Failed || a.Code != board.CodeUnavailable {
		t.Errorf("one more over MCP: %+v", a)
	}
	begun := time.Now()
	ada.Must("list_boards", nil)
	ada.Must("create_board", fields{"workspaceId": workspace, "name": "Small"})
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := asked(ada, path); a.Status != http.StatusOK {
			t.Errorf("%s: got status %d, body %s; want 200", path, a.Status, a.Raw)
		}
	}
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("a small request took %s", took)
	}
	leave()
	first.Wait()
	next := make(chan apptest.Response, 1)
	all.Go(func() { next <- ada.Call("read_all", nil) })
	for held.Load() < int64(places) && len(next) == 0 { // it is admitted together with the others
		time.Sleep(time.Millisecond)
	}
	close(hold)
	if a := <-next; a.Status != http.StatusOK {
		t.Errorf("with a free slot: got status %d, body %s; want 200", a.Status, a.Raw)
	}
	all.Wait()
}

// asked returns the response to a probe. It tries again, because a busy machine may
// sometimes miss the two seconds.
func asked(p *apptest.Person, path string) (a apptest.Response) {
	for range 5 {
		begun := time.Now()
		a = p.Do(httptest.NewRequest(http.MethodGet, path, nil))
		if a.Status != http.StatusServiceUnavailable || time.Since(begun) < 2*time.Second {
			break
		}
	}
	return a
}

// A server that shuts down is not ready, but still responds, and closes connections
// after its responses.
func TestNotReadyDuringShutdown(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	ask := func(path string) apptest.Response { return asked(ada, path) }
	if a := ask("/readyz"); a.Status != http.StatusOK || a.Header.Get("Connection") != "" {
		t.Errorf("before: %d %v", a.Status, a.Header)
	}
	s.Draining.Store(true)
	if a := ask("/readyz"); a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("during shutdown /readyz returned %d %s", a.Status, a.Raw)
	}
	for _, path := range []string{"/healthz", "/api/public/v1/me"} {
		if a := ask(path); a.Status != http.StatusOK || a.Header.Get("Connection") != "close" {
			t.Errorf("during shutdown %s returned %d %v", path, a.Status, a.Header)
		}
	}
}
