package app_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// In workspaces on the free plan, a person can send 50 invitations a day, counted across all
// workspaces. Withdrawn invitations count, too.
func TestInvitationsByAPersonAreLimited(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspaces := []string{ada.Workspace("One", board.PlanFree), ada.Workspace("Two", board.PlanFree)}
		invite := func(i int) apptest.Response {
			return ada.Call("create_invitation",
				fields{"workspaceId": workspaces[i%2], "email": fmt.Sprintf("person%d@example.com", i), "role": "member"})
		}
		for i := range 50 {
			a := invite(i)
			if a.Status != http.StatusCreated {
				t.Fatalf("invitation %d: got status %d, body %s; want 201", i, a.Status, a.Raw)
			}
			if i < 10 {
				ada.Must("withdraw_invitation", fields{"workspaceId": workspaces[i%2], "invitationId": a.ID()})
			}
		}
		wantRefused := func(a apptest.Response) {
			t.Helper()
			seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
			if a.Status != http.StatusTooManyRequests || err != nil || seconds < 1 || seconds > 86400 ||
				!strings.Contains(a.Message, "50 invitations") {
				t.Errorf("invitation over the limit: got status %d, headers %v, body %s", a.Status, a.Header, a.Raw)
			}
		}
		wantRefused(invite(50))
		if n := len(emails(s)); n != 40 {
			t.Errorf("got %d emails, want one for each of the 40 open invitations", n)
		}
		ada.Must("list_invitations", fields{"workspaceId": workspaces[0]})
		wantRefused(invite(51))
		// The limit is higher in a workspace on a larger plan. A day later, invitations are accepted again.
		if a := ada.Call("create_invitation", fields{"workspaceId": ada.Workspace("Three", board.PlanTeam),
			"email": "more@example.com", "role": "member"}); a.Status != http.StatusCreated {
			t.Errorf("on the team plan: got status %d, body %s; want 201", a.Status, a.Raw)
		}
		s.Clock.Advance(24*time.Hour + time.Second)
		if a := invite(52); a.Status != http.StatusCreated {
			t.Errorf("a day later: got status %d, body %s; want 201", a.Status, a.Raw)
		}
	})
}

// An address can receive three invitations a day, no matter who sends them.
func TestInvitationsToAnAddressAreLimited(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		invite := func(i int) apptest.Response {
			p := s.Person(fmt.Sprint("person-", i))
			return p.Call("create_invitation",
				fields{"workspaceId": p.Workspace("W", board.PlanBusiness), "email": "victim@example.com", "role": "member"})
		}
		for i := range 3 {
			if a := invite(i); a.Status != http.StatusCreated {
				t.Fatalf("invitation %d: got status %d, body %s; want 201", i, a.Status, a.Raw)
			}
		}
		if a := invite(3); a.Status != http.StatusTooManyRequests ||
			!strings.Contains(a.Message, "victim@example.com has received 3 invitations") {
			t.Errorf("fourth invitation: got status %d, body %s; want 429", a.Status, a.Raw)
		}
		s.Clock.Advance(24*time.Hour + time.Second)
		if a := invite(4); a.Status != http.StatusCreated {
			t.Errorf("a day later: got status %d, body %s; want 201", a.Status, a.Raw)
		}
	})
}

// If an invitation is renewed before its email is sent, only one email is sent and counted.
func TestQueuedInvitationIsCountedOnce(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		in := fields{"workspaceId": ada.Workspace("W", board.PlanFree), "email": "grace@example.com", "role": "member"}
		for i := range 10 {
			if a := ada.Call("create_invitation", in); a.Status != http.StatusCreated {
				t.Fatalf("request %d: got status %d, body %s; want 201", i, a.Status, a.Raw)
			}
		}
		if n := len(emails(s)); n != 1 {
			t.Errorf("got %d emails, want 1", n)
		}
	})
}
