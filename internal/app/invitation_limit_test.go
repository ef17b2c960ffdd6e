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

// A person on the plan free can send 50 invitations a day over all workspaces. Withdrawn
// invitations count.
func TestInvitationsOfAPersonAreLimited(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		spaces := []string{ada.Workspace("One", board.PlanFree), ada.Workspace("Two", board.PlanFree)}
		invite := func(i int) apptest.Response {
			return ada.Call("create_invitation",
				fields{"workspaceId": spaces[i%2], "email": fmt.Sprintf("person%d@example.com", i), "role": "member"})
		}
		for i := range 50 {
			a := invite(i)
			if a.Status != http.StatusCreated {
				t.Fatalf("invitation %d: got status %d, body %s; want 201", i, a.Status, a.Raw)
			}
			if i < 10 {
				ada.Must("withdraw_invitation", fields{"workspaceId": spaces[i%2], "invitationId": a.ID()})
			}
		}
		refuse := func(a apptest.Response) {
			t.Helper()
			seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
			if a.Status != http.StatusTooManyRequests || err != nil || seconds < 1 || seconds > 86400 ||
				!strings.Contains(a.Message, "50 invitations") {
				t.Errorf("the invitation over the limit: got %d %v %s", a.Status, a.Header, a.Raw)
			}
		}
		refuse(invite(50))
		if n := len(emails(s)); n != 40 {
			t.Errorf("%d emails are due, want those of the 40 open invitations", n)
		}
		ada.Must("list_invitations", fields{"workspaceId": spaces[0]})
		refuse(invite(51))
		// A larger plan raises the person's limit, and so does the next day.
		if a := ada.Call("create_invitation", fields{"workspaceId": ada.Workspace("Three", board.PlanTeam),
			"email": "more@example.com", "role": "member"}); a.Status != http.StatusCreated {
			t.Errorf("on the plan team: got status %d, body %s; want 201", a.Status, a.Raw)
		}
		s.Clock.Advance(24*time.Hour + time.Second)
		if a := invite(52); a.Status != http.StatusCreated {
			t.Errorf("a day later: got status %d, body %s; want 201", a.Status, a.Raw)
		}
	})
}

// One address gets at most three invitations a day from all senders together.
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
			t.Errorf("the fourth: got status %d, body %s", a.Status, a.Raw)
		}
		s.Clock.Advance(24*time.Hour + time.Second)
		if a := invite(4); a.Status != http.StatusCreated {
			t.Errorf("a day later: got status %d, body %s; want 201", a.Status, a.Raw)
		}
	})
}

// An invitation that is renewed before its email is sent is sent once and counted once.
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
			t.Errorf("%d emails, want 1", n)
		}
	})
}
