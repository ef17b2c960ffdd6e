package session_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

type fields = apptest.Fields

// wantUnauthenticated fails the test unless the server rejects the person's token.
func wantUnauthenticated(t *testing.T, what string, p *apptest.Person) {
	t.Helper()
	a := p.Call("get_me", nil)
	if a.Status != http.StatusUnauthorized || a.Code != board.CodeUnauthenticated ||
		!strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer ") {
		t.Errorf("%s: got status %d, body %s, headers %v; want 401", what, a.Status, a.Raw, a.Header)
	}
}

func TestInvalidTokensAreRejected(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		ada.Must("get_me", nil)
		nobody := *ada
		nobody.Token = ""
		last := ada.Token[:len(ada.Token)-1]
		for what, header := range map[string][]string{
			"no header": nil, "an empty header": {""}, "no scheme": {ada.Token}, "another scheme": {"Basic " + ada.Token},
			"no token":          {"Bearer"},
			"an empty token":    {"Bearer "},
			"a wrong checksum":  {"Bearer " + last + map[bool]string{true: "1", false: "0"}[strings.HasSuffix(ada.Token, "0")]},
			"a truncated token": {"Bearer " + last}, "a longer token": {"Bearer " + ada.Token + "0"},
			"an unknown token": {"Bearer " + board.NewToken()},
			"another prefix":   {"Bearer xyz_" + ada.Token[4:]}, "two headers": {"Bearer " + ada.Token, "Bearer " + ada.Token},
			"two tokens":   {"Bearer " + ada.Token + ", Bearer " + ada.Token},
			"another case": {"Bearer " + strings.ToUpper(ada.Token)}, "quotes": {`Bearer "` + ada.Token + `"`},
		} {
			a := nobody.CallWith("get_me", nil, http.Header{"Authorization": header})
			if a.Status != http.StatusUnauthorized || a.Code != board.CodeUnauthenticated ||
				a.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: got status %d, body %s; want 401", what, a.Status, a.Raw)
			}
			if strings.Contains(string(a.Raw), ada.Token[4:]) {
				t.Errorf("%s: got the token in the response %s", what, a.Raw)
			}
		}
		// The scheme's case does not matter (RFC 9110, 11.1).
		if a := nobody.CallWith("get_me", nil,
			http.Header{"Authorization": {"bearer " + ada.Token}}); a.Status != http.StatusOK {
			t.Errorf("bearer in lower case: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		// A token in the address is ignored.
		if a := nobody.Send("GET", "/me?access_token="+ada.Token, ""); a.Status != http.StatusUnauthorized {
			t.Errorf("a token in the query: got status %d, body %s; want 401", a.Status, a.Raw)
		}
	})
}

// Every server rejects a token one second after it was revoked or expired, or its owner lost
// access. Other tokens still work.
func TestEndedTokensAreRejectedWithinASecond(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		node := s.Node()
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		for _, c := range []struct {
			what string
			end  func(p *apptest.Person)
		}{
			{"revoked", func(p *apptest.Person) {
				s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
					n, err := tx.RevokeTokens(ctx, p.ID, "doomed")
					if n != 1 {
						t.Errorf("got %d revoked tokens, want 1", n)
					}
					return err
				})
			}},
			{"expired", func(*apptest.Person) { s.Clock.Advance(time.Hour) }},
			{"owner left the token's workspace", func(p *apptest.Person) {
				s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
					return tx.RemoveMember(ctx, workspace, p.ID)
				})
			}},
			{"owner deleted", func(p *apptest.Person) {
				s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, p.ID) })
			}},
		} {
			bob.Joins(workspace, board.WorkspaceMember)
			expires := board.InstantOf(s.Clock.Now().Add(time.Hour))
			in := app.NewToken{Name: "doomed", Scopes: []board.Scope{board.ScopeRead, board.ScopeWrite}, WorkspaceID: workspace,
				ExpiresAt: &expires}
			doomed := bob.Issue(in)
			for _, at := range []*apptest.Service{s, node} { // both servers cache the token
				doomed.At(at).Must("get_me", nil)
			}
			c.end(doomed)
			s.Clock.Advance(time.Second)
			wantUnauthenticated(t, c.what, doomed)
			wantUnauthenticated(t, c.what+", at another server", doomed.At(node))
			if c.what != "owner deleted" {
				bob.Must("get_me", nil)
			} else {
				wantUnauthenticated(t, "another token of the deleted owner", bob)
			}
			ada.Must("get_me", nil)
		}
	})
}

func TestTokenIsRejectedOnceItExpires(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		expires := board.InstantOf(s.Clock.Now().Add(time.Hour))
		p := ada.Issue(app.NewToken{Name: "short", Scopes: []board.Scope{board.ScopeRead}, ExpiresAt: &expires})
		if got := p.Must("get_me", nil); got.Text("token.expiresAt") != expires.String() ||
			got.Text("token.name") != "short" {
			t.Errorf("get_me returned %s, want the token's name and expiry %s", got.Raw, expires)
		}
		s.Clock.Advance(59 * time.Minute)
		p.Must("get_me", nil)
		s.Clock.Advance(time.Minute)
		wantUnauthenticated(t, "expired", p) // a cached result that is a minute old is not used
	})
}

// A token for one workspace gives no access to its owner's other workspaces. Requests for
// their content get a not_found error.
func TestTokenIsLimitedToItsWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		one, other := ada.Workspace("One", board.PlanTeam), ada.Workspace("Other", board.PlanTeam)
		boards, cards := map[string]string{}, map[string]string{}
		for _, w := range []string{one, other} {
			boards[w] = ada.Must("create_board", fields{"workspaceId": w, "name": "Board"}).ID()
			list := ada.Must("create_list", fields{"boardId": boards[w], "name": "List"}).ID()
			cards[w] = ada.Must("create_card", fields{"listId": list, "title": "Card", "assignees": []string{ada.ID}}).ID()
		}
		p := ada.Within(one)
		for name, want := range map[string]string{"list_workspaces": one, "list_boards": boards[one],
			"list_my_cards": cards[one]} {
			if got := p.All(name, "id", nil); len(got) != 1 || got[0] != want {
				t.Errorf("%s: got %v, want only %s", name, got, want)
			}
			if got := ada.All(name, "id", nil); len(got) != 2 {
				t.Errorf("%s with an unlimited token: got %v, want both", name, got)
			}
		}
		for name, in := range map[string]fields{
			"get_workspace": {"workspaceId": other}, "list_workspace_members": {"workspaceId": other},
			"list_boards":   {"workspaceId": other},
			"list_my_cards": {"workspaceId": other}, "create_board": {"workspaceId": other, "name": "x"},
			"get_board": {"boardId": boards[other]},
			"get_card":  {"cardId": cards[other]}, "update_card": {"cardId": cards[other], "title": "x"},
			"list_cards": {"boardId": boards[other]},
		} {
			p.Refused(board.CodeNotFound, name, in)
		}
		p.Must("get_card", fields{"cardId": cards[one]})
		if me := p.Must("get_me", nil); me.Text("token.workspaceId") != one {
			t.Errorf("get_me returned %s, want a token limited to workspace %s", me.Raw, one)
		}
	})
}

// A token has the scopes with which it was created. It always has the read scope.
func TestScopesOfAToken(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		for text, want := range map[string]string{"": "read", "write": "read write", "admin": "read admin",
			"admin write read": "read write admin"} {
			scopes, err := board.ParseScopes(strings.Fields(text))
			if err != nil {
				t.Fatal(err)
			}
			me := ada.With(scopes...).Must("get_me", nil)
			var got []string
			for _, s := range me.Get("token.scopes").([]any) {
				got = append(got, s.(string))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("a token created with %q: got scopes %q, want %q", text, got, want)
			}
		}
		if _, err := board.ParseScopes([]string{"root"}); !board.IsCode(err, board.CodeInvalidRequest) {
			t.Errorf("the root scope: got error %v, want code %s", err, board.CodeInvalidRequest)
		}
	})
}
