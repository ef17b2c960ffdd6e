package session_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/rest"
	"cardwall/internal/store"
)

// rate returns the values of the three rate limit headers. Every response must have
// them.
func rate(t *testing.T, a apptest.Response) (limit, remaining int, reset time.Time) {
	t.Helper()
	var n [3]int
	for i, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		var err error
		if n[i], err = strconv.Atoi(a.Header.Get(name)); err != nil {
			t.Fatalf("got header %s %q with status %d, body %s; want a number", name, a.Header.Get(name), a.Status, a.Raw)
		}
	}
	return n[0], n[1], time.Unix(int64(n[2]), 0)
}

// spend sends n cheap requests that count toward the limit. It returns the last
// response.
func spend(t *testing.T, p *apptest.Person, n int) (last apptest.Response) {
	t.Helper()
	for range n {
		if last = p.Send(http.MethodDelete, "/me", ""); last.Status != http.StatusMethodNotAllowed {
			t.Fatalf("got status %d, body %s; want 405", last.Status, last.Raw)
		}
	}
	return last
}

// wantLimited fails the test unless the response is 429 with correct headers.
func wantLimited(t *testing.T, s *apptest.Service, a apptest.Response) {
	t.Helper()
	limit, remaining, reset := rate(t, a)
	wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if a.Status != http.StatusTooManyRequests || a.Code != board.CodeRateLimited || err != nil || wait < 1 || wait > 60 ||
		remaining != 0 || limit == 0 || !strings.Contains(a.Message, fmt.Sprintf(" in %d s.", wait)) {
		t.Errorf("got status %d, body %s, headers %v; want 429, nothing remaining and Retry-After from 1 to 60, also in the message",
			a.Status, a.Raw, a.Header)
	}
	if left := reset.Sub(s.Clock.Now()); left < -time.Second || left > time.Minute {
		t.Errorf("the window ends in %s, want at most a minute", left)
	}
}

func TestRateLimitOfEachPlan(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		for plan, limit := range map[board.Plan]int{board.PlanFree: 60, board.PlanTeam: 300, board.PlanBusiness: 1200} {
			p, colleague := s.Person("On-"+string(plan)), s.Person("Beside-"+string(plan))
			workspace := p.Workspace("Engines", plan)
			colleague.Joins(workspace, board.WorkspaceMember)
			second := p.Within(workspace) // the owner's tokens share one budget
			for i, caller := range []*apptest.Person{p, second, p} {
				a := caller.Must("get_me", nil)
				// The header has whole seconds.
				if got, remaining, reset := rate(t, a); got != limit || remaining != limit-1-i ||
					reset.Before(s.Clock.Now().Truncate(time.Second)) {
					t.Errorf("%s, request %d: got limit %d, remaining %d, reset %s; want limit %d, remaining %d", plan, i, got,
						remaining, reset, limit, limit-1-i)
				}
			}
			if _, remaining, _ := rate(t, spend(t, p, limit-3)); remaining != 0 {
				t.Errorf("%s: got %d remaining after %d requests, want 0", plan, remaining, limit)
			}
			wantLimited(t, s, p.Call("get_me", nil))
			wantLimited(t, s, second.Call("get_me", nil))
			wantLimited(t, s, p.Send(http.MethodDelete, "/me", ""))
			colleague.Must("get_me", nil) // the limit is per owner, not per organization
			s.Clock.Advance(time.Minute)
			if _, remaining, _ := rate(t, p.Must("get_me", nil)); remaining != limit-1 {
				t.Errorf("%s: got %d remaining in a new window, want %d", plan, remaining, limit-1)
			}
		}
	})
}

// With several organizations, the best plan's limit applies. A token for one workspace
// has that workspace's limit.
func TestRateLimitOfSeveralPlans(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		ada := s.Person("Ada")
		want := func(what string, p *apptest.Person, limit int) {
			t.Helper()
			if got, _, _ := rate(t, p.Must("get_me", nil)); got != limit {
				t.Errorf("%s: got %d requests per minute, want %d", what, got, limit)
			}
		}
		want("in no workspace", ada, 60)
		free := ada.Workspace("Free", board.PlanFree)
		ada.Workspace("Business", board.PlanBusiness)
		team := ada.Workspace("Team", board.PlanTeam)
		s.Clock.Advance(time.Second)
		want("in three workspaces", ada, 1200)
		want("limited to free", ada.Within(free), 60)
		want("limited to team", ada.Within(team), 300)
		organization := ada.Must("get_workspace", fields{"workspaceId": free}).Text("organizationId")
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			plan := board.PlanTeam
			return tx.UpdateOrganization(ctx, organization, &plan, nil)
		})
		s.Clock.Advance(time.Second)
		want("after an upgrade to team", ada.Within(free), 300)
	})
}

// The headers of a search describe the search budget. A rate-limited search does not
// use up the request budget.
func TestSearchBudget(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		ada, limits := s.Person("Ada"), board.PlanFree.Limits()
		ada.Workspace("Engines", board.PlanFree)
		search := func() apptest.Response { return ada.Call("search_cards", fields{"q": "x"}) }
		for i := range limits.SearchesPerMinute {
			a := search()
			if limit, remaining, _ := rate(t, a); a.Status != http.StatusOK || limit != limits.SearchesPerMinute ||
				remaining != limits.SearchesPerMinute-1-i {
				t.Fatalf("search %d: got status %d, limit %d, remaining %d; want 200, %d and %d", i+1, a.Status, limit, remaining,
					limits.SearchesPerMinute, limits.SearchesPerMinute-1-i)
			}
		}
		for range 20 {
			a := search()
			wantLimited(t, s, a)
			if limit, _, _ := rate(t, a); limit != limits.SearchesPerMinute || !strings.Contains(a.Message, "searches") {
				t.Fatalf("one search too many: got limit %d and message %q, want the search limit", limit, a.Message)
			}
		}
		for range 20 {
			if a := ada.Tool("search_cards", fields{"q": "x"}); a.Code != board.CodeRateLimited {
				t.Fatalf("one search too many as an MCP tool: got %s, want rate_limited", a.Text)
			}
		}
		left := limits.RequestsPerMinute - limits.SearchesPerMinute
		if limit, remaining, _ := rate(t, ada.Must("get_me", nil)); limit != limits.RequestsPerMinute || remaining != left-1 {
			t.Errorf("after rate-limited searches: got %d of %d requests remaining, want %d", remaining, limit, left-1)
		}

		// If fewer requests than searches remain, the request budget is the limit.
		bob := s.Person("Bob")
		bob.Workspace("Compilers", board.PlanFree)
		spend(t, bob, limits.RequestsPerMinute-3)
		if limit, remaining, _ := rate(t, bob.Must("search_cards", fields{"q": "x"})); limit != limits.RequestsPerMinute ||
			remaining != 2 {
			t.Errorf("with three requests remaining: got limit %d, remaining %d; want %d and 2", limit, remaining,
				limits.RequestsPerMinute)
		}
		spend(t, bob, 2)
		for range 20 {
			wantLimited(t, s, bob.Call("search_cards", fields{"q": "x"}))
		}
		s.Clock.Advance(time.Minute)
		if limit, remaining, _ := rate(t, bob.Must("search_cards", fields{"q": "x"})); limit != limits.SearchesPerMinute ||
			remaining != limits.SearchesPerMinute-1 {
			t.Errorf("in a new window: got limit %d, remaining %d; want the search budget", limit, remaining)
		}
	})
}

func TestEveryResponseHasRateHeaders(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Board"}).ID()
		reader, nobody := ada.With(board.ScopeRead), *ada
		nobody.Token = ""
		ada.Must("archive_board", fields{"boardId": b})
		plain := httptest.NewRequest(http.MethodPost, rest.Prefix+"/boards", strings.NewReader("name=x"))
		plain.Header.Set("Content-Type", "text/plain")
		for want, a := range map[int]apptest.Response{
			200: ada.Call("get_me", nil), 201: ada.Call("create_board", fields{"workspaceId": workspace, "name": "Second"}),
			400: ada.Call("get_board", fields{"boardId": b, "x": 1}), 401: nobody.Call("get_me", nil),
			403: reader.Call("create_board", fields{"workspaceId": workspace, "name": "x"}),
			404: ada.Call("get_board", fields{"boardId": "brd_x"}),
			405: ada.Send(http.MethodDelete, "/me", ""), 409: ada.Call("update_board", fields{"boardId": b, "name": "x"}),
			413: ada.Send(http.MethodPost, "/boards", strings.Repeat(" ", 2<<20)), 415: ada.Do(plain),
		} {
			if a.Status != want {
				t.Errorf("got status %d, body %s; want %d", a.Status, a.Raw, want)
			}
			rate(t, a)
		}
		for _, path := range []string{"/nowhere", "/boards/", "/../x"} {
			a := ada.Send(http.MethodGet, path, "")
			if a.Status != http.StatusNotFound || a.Code != board.CodeNotFound {
				t.Errorf("%s: got status %d, body %s; want 404", path, a.Status, a.Raw)
			}
			rate(t, a)
		}
	})
}

// Requests without a valid token are counted by client address, separately from
// requests with one.
func TestUnauthenticatedRequestsAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		ada := s.Person("Ada")
		getMe := func(address, token string) apptest.Response {
			r := httptest.NewRequest(http.MethodGet, rest.Prefix+"/me", nil)
			r.RemoteAddr = address
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("X-Forwarded-For", "203.0.113."+strconv.Itoa(len(address)))
			return ada.Do(r)
		}
		for i := range 60 {
			a := getMe("192.0.2.1:"+strconv.Itoa(1024+i), board.NewToken())
			if limit, remaining, _ := rate(t, a); a.Status != http.StatusUnauthorized || limit != 60 || remaining != 59-i {
				t.Fatalf("request %d: got status %d, headers %v; want 401 and %d remaining", i, a.Status, a.Header, 59-i)
			}
		}
		wantLimited(t, s, getMe("192.0.2.1:9999", board.NewToken()))
		if a := getMe("192.0.2.2:1024", board.NewToken()); a.Status != http.StatusUnauthorized {
			t.Errorf("another address: got status %d, body %s; want 401", a.Status, a.Raw)
		}
		if a := getMe("192.0.2.1:9999", ada.Token); a.Status != http.StatusOK {
			t.Errorf("a valid token from the same address: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		s.Clock.Advance(time.Minute)
		if a := getMe("192.0.2.1:9999", board.NewToken()); a.Status != http.StatusUnauthorized {
			t.Errorf("in a new window: got status %d, body %s; want 401", a.Status, a.Raw)
		}
	})
}
