package session_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// The headers describe the budget that a request spends. A request with a budget of
// its own, such as a search, also counts toward the general budget.
func TestHeadersDescribeTheBudget(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		for _, plan := range board.Plans() {
			ada := s.Person("Ada-" + string(plan))
			workspace := ada.Workspace("Engines", plan)
			id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Board"}).ID()
			s.Clock.Advance(time.Minute)
			requests := 0
			check := func(what string, a apptest.Response, of board.Resource) {
				t.Helper()
				requests++
				limit, remaining, reset := rate(t, a)
				b := plan.Budget(of)
				spent := 1
				if of == board.ResourceGeneral {
					spent = requests
				}
				if a.Header.Get("X-RateLimit-Resource") != string(of) || limit != b.Most || remaining != b.Most-spent ||
					reset.Sub(s.Clock.Now()) > b.Window || reset.Sub(s.Clock.Now()) < -time.Second {
					t.Errorf("%s on %s: got status %d, limit %d, remaining %d, reset %s, resource %s; want %+v with %d spent", what,
						plan, a.Status, limit, remaining, reset, a.Header.Get("X-RateLimit-Resource"), b, spent)
				}
			}
			check("get_me", ada.Must("get_me", nil), board.ResourceGeneral)
			check("search_cards", ada.Must("search_cards", fields{"q": "x"}), board.ResourceSearch)
			check("get_workspace_dashboard", ada.Must("get_workspace_dashboard", fields{"workspaceId": workspace}), board.ResourceReport)
			check("export_board", ada.Must("export_board", fields{"boardId": id}), board.ResourceExport)
			check("an upload", sendFile(ada, workspace, "{}"), board.ResourceUpload)
			check("create_invitation", ada.Call("create_invitation", fields{"workspaceId": workspace,
				"email": "grace-" + string(plan) + "@example.com", "role": "member"}), board.ResourceMail)
			check("get_me", ada.Must("get_me", nil), board.ResourceGeneral)
		}
	})
}

// sendFile uploads a file for import.
func sendFile(p *apptest.Person, workspaceID, file string) apptest.Response {
	return p.Do(uploadRequest(workspaceID, file))
}

func uploadRequest(workspaceID, file string) *http.Request {
	return httptest.NewRequest(http.MethodPost, "/api/app/v1/workspaces/"+workspaceID+"/import?format=trello", strings.NewReader(file))
}

// A request that exceeds one budget spends nothing of another, over REST and MCP.
func TestRateLimitedRequestsSpendNothing(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanFree)
		id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Board"}).ID()
		remainingGeneral := func() int {
			t.Helper()
			_, remaining, _ := rate(t, ada.Must("get_me", nil))
			return remaining
		}
		invited := 0
		for of, call := range map[board.Resource]func() apptest.Response{
			board.ResourceReport: func() apptest.Response { return ada.Call("get_my_overview", nil) },
			board.ResourceExport: func() apptest.Response { return ada.Call("export_board", fields{"boardId": id}) },
			board.ResourceUpload: func() apptest.Response { return sendFile(ada, workspace, "{}") },
			board.ResourceMail: func() apptest.Response {
				invited++
				return ada.Call("create_invitation", fields{"workspaceId": workspace, "role": "member",
					"email": "grace" + strconv.Itoa(invited) + "@example.com"})
			},
		} {
			s.Clock.Advance(time.Minute)
			// On PostgreSQL a window can end at any time. A window longer than a minute
			// must not end while the clock advances below.
			budget := board.PlanFree.Budget(of)
			if _, _, reset := rate(t, call()); budget.Window > time.Minute && reset.Sub(s.Clock.Now()) <= 2*time.Minute {
				s.Clock.Advance(2 * time.Minute)
				call()
			}
			for range budget.Most - 1 {
				if a := call(); a.Status == http.StatusTooManyRequests {
					t.Fatalf("%s within the budget: got status %d, body %s", of, a.Status, a.Raw)
				}
			}
			s.Clock.Advance(time.Minute)
			if of == board.ResourceReport {
				for range budget.Most {
					call()
				}
			}
			before := remainingGeneral()
			for range 3 {
				a := call()
				limit, remaining, _ := rate(t, a)
				if a.Status != http.StatusTooManyRequests || remaining != 0 || limit != budget.Most ||
					a.Header.Get("X-RateLimit-Resource") != string(of) || a.Header.Get("Retry-After") == "" {
					t.Errorf("%s beyond the budget: got status %d, body %s, headers %v; want 429 with 0 of %d remaining", of, a.Status,
						a.Raw, a.Header, budget.Most)
				}
			}
			if of == board.ResourceReport {
				if a := ada.Tool("get_my_overview", nil); a.Code != board.CodeRateLimited || a.Header.Get("X-RateLimit-Resource") != string(of) {
					t.Errorf("%s as an MCP tool: got %+v, want rate_limited", of, a)
				}
			}
			if after := remainingGeneral(); after != before-1 {
				t.Errorf("%s: got %d remaining requests after rate-limited ones, want %d", of, after, before-1)
			}
		}
	})
}

// If a person's programs have used up their budgets, the person's pages still work, also for exports
// and uploads.
func TestProgramsLeaveTheBudgetsOfPagesAlone(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanFree)
		id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Board"}).ID()
		cookie := ada.Request(s.Registry.Named("get_session"), nil).Header["Cookie"]
		request := func(name string, in fields) func() *http.Request {
			return func() *http.Request { return ada.Request(s.Registry.Named(name), in) }
		}
		for of, create := range map[board.Resource]func() *http.Request{
			board.ResourceSearch: request("search_cards", fields{"q": "x"}),
			board.ResourceReport: request("get_my_overview", nil),
			board.ResourceExport: request("export_board", fields{"boardId": id}),
			board.ResourceUpload: func() *http.Request { return uploadRequest(workspace, "{}") },
		} {
			s.Clock.Advance(time.Minute)
			for range board.PlanFree.Budget(of).Most {
				ada.Do(create())
			}
			if a := ada.Do(create()); a.Status != http.StatusTooManyRequests {
				t.Errorf("%s beyond the budget: got status %d, body %s; want 429", of, a.Status, a.Raw)
			}
			page := create()
			page.Header["Cookie"] = cookie
			if a := ada.Do(page); a.Status == http.StatusTooManyRequests {
				t.Errorf("%s from a page: got status %d, body %s; want the page's own budget", of, a.Status, a.Raw)
			}
		}
	})
}

// The REST reference contains the budgets of every plan.
func TestReferenceListsBudgets(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../rest/testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range board.Resources() {
		row := "| `" + string(of) + "` |"
		if !strings.Contains(string(text), row) {
			t.Errorf("the REST reference has no row %s", row)
		}
		for _, p := range board.Plans() {
			if number := fmt.Sprintf(" %d per ", p.Budget(of).Most); !strings.Contains(string(text), number) {
				t.Errorf("the REST reference does not contain %q for the %s plan", number, p)
			}
		}
	}
}
