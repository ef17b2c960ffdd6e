package rest_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// withSlowReport returns the program's operations and a report that takes minutes.
func withSlowReport() *op.Registry {
	r := app.Operations()
	r.In("Tests", "Operations for a test.")
	op.Query(r, "read_all", "GET /all", "Read everything.",
		func(ctx context.Context, v *store.View, _ app.Nothing) (app.Deleted, error) {
			_, err := v.Raw().Strings(ctx, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) "+
				"SELECT CAST(count(*) AS TEXT) FROM n")
			return app.Deleted{ID: "all"}, err
		}, op.Report)
	return r
}

// A report that reads for too long is stopped with the reason time_limit. Meanwhile,
// small reads by other people are fast.
func TestLongReportsAreStopped(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second
	apptest.BothWith(t, apptest.Options{Registry: withSlowReport, ReportLimit: limit}, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Board"}).ID()
		list := ada.Must("create_list", fields{"boardId": b, "name": "List"}).ID()
		card := ada.Must("create_card", fields{"listId": list, "title": "Card"}).ID()
		var running sync.WaitGroup
		start := time.Now()
		for range 3 { // more than there are connections for reports on a small machine
			running.Go(func() {
				a := bob.Call("read_all", nil)
				if a.Status != http.StatusServiceUnavailable && a.Status != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" {
					t.Errorf("long report: got status %d, body %s; want 503 or 429 with Retry-After", a.Status, a.Raw)
				}
				if a.Status == http.StatusServiceUnavailable && !strings.Contains(string(a.Raw), string(board.ReasonTimeLimit)) {
					t.Errorf("long report: got body %s, want the reason time_limit", a.Raw)
				}
			})
		}
		var slowest time.Duration
		for n := 0; time.Since(start) < limit; n++ {
			sent := time.Now()
			ada.Must("get_card", fields{"cardId": card})
			slowest = max(slowest, time.Since(sent))
		}
		if slowest > limit/2 {
			t.Errorf("get_card during long reports took %s, want at most %s", slowest, limit/2)
		}
		running.Wait()
		if a := ada.Tool("read_all", nil); a.Code != board.CodeUnavailable || !a.Failed {
			t.Errorf("long report over MCP: got %+v, want unavailable", a)
		}
	})
}

// One person's reports leave at least one slot for others.
func TestOnePersonCannotTakeAllReportSlots(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{Registry: withSlowReport, ReportLimit: 3 * time.Second}, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		var running sync.WaitGroup
		for range 8 {
			running.Go(func() { bob.Call("read_all", nil) })
		}
		defer running.Wait()
		time.Sleep(100 * time.Millisecond)
		for start := time.Now(); time.Since(start) < 2*time.Second; {
			ada.Must("get_workspace_dashboard", fields{"workspaceId": workspace})
			ada.Must("search_cards", fields{"q": "engine"})
		}
	})
}
