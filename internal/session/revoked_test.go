package session_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Within a second of real time, every server rejects the requests of a person whose access
// has ended. Another person's requests still succeed.
func TestRevokedAccessEndsOnEveryServerWithinASecond(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{})
	nodes := []*apptest.Service{s, s.Node(), s.Node()}
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanBusiness)
	organization := ada.Must("get_workspace", fields{"workspaceId": workspace}).Text("organizationId")
	open := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
	change := func(plan *board.Plan, readOnly *bool) {
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.UpdateOrganization(ctx, organization, plan, readOnly)
		})
	}
	write := func(p *apptest.Person) apptest.Response {
		return p.Call("create_list", fields{"boardId": open, "name": "L"})
	}
	read := func(p *apptest.Person) apptest.Response { return p.Call("get_board", fields{"boardId": open}) }
	revoke := func(p *apptest.Person) {
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.RevokeTokens(ctx, p.ID, apptest.TokenName)
			return err
		})
	}
	readMe := func(p *apptest.Person) apptest.Response { return p.Call("get_me", nil) }
	for _, c := range []struct {
		what string
		call func(p *apptest.Person) apptest.Response
		end  func(p *apptest.Person)
		want int
	}{
		{"a revoked token", read, revoke, http.StatusUnauthorized},
		{"a revoked token that describes itself", readMe, revoke, http.StatusUnauthorized},
		{"the token of a deleted person", readMe, func(p *apptest.Person) {
			s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, p.ID) })
		}, http.StatusUnauthorized},
		{"an ended session", func(p *apptest.Person) apptest.Response {
			return p.Call("get_session", nil)
		}, func(p *apptest.Person) {
			s.Write(board.Person(p.ID), func(ctx context.Context, tx *store.Tx) error { return tx.EndOtherSessions(ctx) })
		}, http.StatusUnauthorized},
		{"a removed member", read, func(p *apptest.Person) {
			ada.Must("remove_member", fields{"workspaceId": workspace, "userId": p.ID})
		}, http.StatusNotFound},
		{"a read-only organization", write, func(*apptest.Person) {
			change(nil, new(true))
		}, http.StatusPaymentRequired},
	} {
		p := s.Person("P"+c.what[len(c.what)-4:]).Joins(workspace, board.WorkspaceMember)
		if c.what == "an ended session" {
			p = browserOf(s, p)
		}
		for _, node := range nodes {
			if a := c.call(p.At(node)); a.Status/100 != 2 {
				t.Fatalf("before %s: got status %d, body %s; want success", c.what, a.Status, a.Raw)
			}
		}
		c.end(p)
		ended := time.Now()
		for i, node := range nodes {
			for {
				elapsed := time.Since(ended)
				a := c.call(p.At(node))
				if a.Status == c.want {
					break
				}
				if elapsed > time.Second || a.Status/100 != 2 {
					t.Errorf("%s: got status %d from server %d after %s, want success for at most a second and then %d",
						c.what, a.Status, i, elapsed, c.want)
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
		change(nil, new(false))
		for i, node := range nodes {
			if a := read(ada.At(node)); a.Status != http.StatusOK {
				t.Errorf("%s: got status %d for another person from server %d, want 200", c.what, a.Status, i)
			}
		}
	}
}

// browserOf returns a browser in which a person is signed in.
func browserOf(s *apptest.Service, p *apptest.Person) *apptest.Person {
	b := s.Browser()
	b.ID = p.ID
	secret := board.NewSessionSecret()
	hash, _ := board.SessionHash(secret)
	s.Write(board.Person(p.ID), func(ctx context.Context, tx *store.Tx) error {
		return tx.InsertSession(ctx, tx.NewID("ses_"), hash)
	})
	b.Cookies[apptest.Cookie] = secret
	return b
}

// A change to an organization's plan takes effect on every server within a second.
func TestPlanChangeTakesEffectOnEveryServerWithinASecond(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{RateLimits: true})
	nodes := []*apptest.Service{s, s.Node(), s.Node()}
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanBusiness)
	organization := ada.Must("get_workspace", fields{"workspaceId": workspace}).Text("organizationId")
	for _, node := range nodes {
		ada.At(node).Must("get_me", nil)
	}
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		return tx.UpdateOrganization(ctx, organization, new(board.PlanTeam), nil)
	})
	time.Sleep(time.Second)
	for i, node := range nodes {
		if limit, _, _ := rate(t, ada.At(node).Must("get_me", nil)); limit != 300 {
			t.Errorf("server %d: got limit %d, want 300", i, limit)
		}
	}
}
