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

// A report that reads for too long is stopped with the reason time_limit.
func TestLongReportsAreStopped(t *testing.T) {
	t.Parallel()
	opts := apptest.Options{Registry: withSlowReport, ReportLimit: time.Second}
	apptest.BothWith(t, opts, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		a := ada.Call("read_all", nil)
		if a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" ||
			!strings.Contains(string(a.Raw), string(board.ReasonTimeLimit)) {
			t.Errorf("long report: got status %d, body %s; want 503 with Retry-After and the reason time_limit", a.Status, a.Raw)
		}
		if a := ada.Tool("read_all", nil); a.Code != board.CodeUnavailable || !a.Failed {
			t.Errorf("long report over MCP: got %+v, want unavailable", a)
		}
	})
}

// While one person's reports use all slots that one person can have, other people can run reports and
// read. More reports of the same person wait, and are refused.
func TestOnePersonCannotTakeAllReportSlots(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		h := newHeldReports()
		s := apptest.New(t, database, apptest.Options{Registry: h.registry})
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		slots := max(1, s.DB.Concurrency().Reports-1)
		var running sync.WaitGroup
		end := sync.OnceFunc(func() { close(h.end); running.Wait() })
		defer end()
		for range slots {
			running.Go(func() {
				if a := bob.Call("read_all", nil); a.Status != http.StatusOK {
					t.Errorf("report in one of the slots: got status %d, body %s; want 200", a.Status, a.Raw)
				}
			})
		}
		apptest.Eventually(t, "all of Bob's slots are in use", func() bool { return h.running.Load() == int64(slots) })
		more := make(chan apptest.Response, 1)
		running.Go(func() { more <- bob.Call("read_all", nil) })
		if a, _ := apptest.Receive(t, "one more report is refused", more); a.Status != http.StatusTooManyRequests {
			t.Errorf("one more report: got status %d, body %s; want 429", a.Status, a.Raw)
		}
		ada.Must("get_workspace_dashboard", fields{"workspaceId": workspace})
		ada.Must("search_cards", fields{"q": "engine"})
		ada.Must("list_boards", nil)
		end()
	})
}
