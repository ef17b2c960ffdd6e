package connect_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func TestCodesWorkOnceForTheirClient(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p, eve := newClient(s), newClient(s)
		code := p.code(ada)
		for what, c := range map[string]struct {
			form url.Values
			code string
		}{
			"no code":                   {p.redemption(""), "invalid_request"},
			"no verifier":               {p.redemption(code, "code_verifier", ""), "invalid_request"},
			"a wrong verifier":          {p.redemption(code, "code_verifier", strings.Repeat("x", 43)), "invalid_grant"},
			"the challenge as verifier": {p.redemption(code, "code_verifier", challenge(verifier)), "invalid_grant"},
			"a short verifier":          {p.redemption(code, "code_verifier", "short"), "invalid_grant"},
			"another redirect URI":      {p.redemption(code, "redirect_uri", callback+"/"), "invalid_grant"},
			"another client":            {p.redemption(code, "client_id", eve.id), "invalid_grant"},
			"an unknown client":         {p.redemption(code, "client_id", "cli_00000000000000000000000000"), "invalid_client"},
			"no client":                 {p.redemption(code, "client_id", ""), "invalid_request"},
			"another resource":          {p.redemption(code, "resource", apptest.BaseURL), "invalid_target"},
			"another server's resource": {p.redemption(code, "resource", "https://evil.example/mcp"), "invalid_target"},
			"an unknown code":           {p.redemption("K7Q2M4XW3ZB5N6VD8RJHF9TCGP"), "invalid_grant"},
			"no grant type":             {p.redemption(code, "grant_type", ""), "invalid_request"},
			"the password grant":        {p.redemption(code, "grant_type", "password"), "unsupported_grant_type"},
			"the code as refresh token": {p.refresh(code), "invalid_grant"},
			"a client secret":           {p.redemption(code, "client_secret", "x"), "invalid_client"},
			"a repeated parameter":      {url.Values{"grant_type": {board.GrantCode, board.GrantCode}}, "invalid_request"},
		} {
			wantError(t, what, post(s, "/oauth/token", c.form), c.code)
		}
		// None of the failed attempts used up the code.
		got := p.must("/oauth/token", p.redemption(code, "redirect_uri", ""))
		if !works(s, got.text("access_token")) {
			t.Error("the access token does not work")
		}
		wantError(t, "a code that was already used", post(s, "/oauth/token", p.redemption(code)), "invalid_grant")
		if works(s, got.text("access_token")) {
			t.Error("the token still works after its code was used twice")
		}
		wantError(t, "the refresh token of a reused code", post(s, "/oauth/token", p.refresh(got.text("refresh_token"))),
			"invalid_grant")

		expired := p.code(ada)
		s.Clock.Advance(board.CodeLifetime + time.Second)
		wantError(t, "an expired code", post(s, "/oauth/token", p.redemption(expired)), "invalid_grant")
	})
}

func TestRefreshTokensWorkOnce(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p, eve := newClient(s), newClient(s)
		first := p.tokens(ada)
		old := first.text("refresh_token")
		wantError(t, "another client", post(s, "/oauth/token", p.refresh(old, "client_id", eve.id)), "invalid_grant")
		wantError(t, "another resource", post(s, "/oauth/token", p.refresh(old, "resource", apptest.BaseURL)),
			"invalid_target")
		wantError(t, "no token", post(s, "/oauth/token", p.refresh("")), "invalid_request")
		wantError(t, "an access token", post(s, "/oauth/token", p.refresh(first.text("access_token"))), "invalid_grant")
		wantError(t, "an unknown token", post(s, "/oauth/token", p.refresh(board.NewFamily()+board.NewSecret())),
			"invalid_grant")
		second := p.must("/oauth/token", p.refresh(old))
		s.Clock.Advance(board.RefreshReuse)
		wantError(t, "a refresh token that was already used", post(s, "/oauth/token", p.refresh(old)), "invalid_grant")
		if works(s, second.text("access_token")) {
			t.Error("the access token still works after a refresh token was used twice")
		}
		wantError(t, "the latest refresh token of a revoked family", post(s, "/oauth/token", p.refresh(second.text("refresh_token"))),
			"invalid_grant")
		if got := s.Column("SELECT operation FROM audit WHERE operation = 'end_replayed_connection'"); len(got) == 0 {
			t.Error("the audit log has no end_replayed_connection entry")
		}
		// Another consent is not affected.
		if other := p.tokens(ada); !works(s, other.text("access_token")) {
			t.Error("another consent was revoked too")
		}
	})
}

// Of several concurrent requests with the same code, one succeeds. The others count as reuse of the
// code, so the issued tokens are revoked in the end.
func TestConcurrentCodeRedemptionSucceedsOnce(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p := newClient(s)
		got, rejected := sendConcurrently(t, p, p.redemption(p.code(ada)))
		if len(got) != 1 || rejected != 7 {
			t.Errorf("got %d responses with tokens and %d rejections, want 1 and 7", len(got), rejected)
		} else if works(s, got[0].text("access_token")) {
			t.Error("reusing the code did not revoke the tokens")
		}
	})
}

// sendConcurrently sends eight copies of a request at the same time. It returns the responses with
// tokens and the number of invalid_grant errors.
func sendConcurrently(t *testing.T, p oauthClient, form url.Values) (got []reply, rejected int) {
	t.Helper()
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	for range 8 {
		wg.Go(func() {
			r := post(p.Service, "/oauth/token", form)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case r.status == http.StatusOK:
				got = append(got, r)
			case r.text("error") == "invalid_grant":
				rejected++
			default:
				t.Errorf("got status %d, body %s; want tokens or invalid_grant", r.status, r.raw)
			}
		})
	}
	wg.Wait()
	return got, rejected
}

// Two tabs, or a client that lost a response, may send the same refresh token twice. Both
// requests get the same tokens, which keep working. Reuse after a minute, or after the next
// refresh, ends the connection.
func TestConcurrentRefreshKeepsTheConnection(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p, eve := newClient(s), newClient(s)
		first := p.tokens(ada)
		old := first.text("refresh_token")
		got, rejected := sendConcurrently(t, p, p.refresh(old, "scope", "read"))
		if len(got) != 8 || rejected != 0 {
			t.Fatalf("got %d responses with tokens and %d rejections, want 8 and 0", len(got), rejected)
		}
		for _, r := range got {
			if r.text("access_token") != got[0].text("access_token") ||
				r.text("refresh_token") != got[0].text("refresh_token") || r.text("scope") != "read" {
				t.Fatalf("got responses %s and %s, want the same tokens with the scope read", got[0].raw, r.raw)
			}
		}
		wantError(t, "another client", post(s, "/oauth/token", p.refresh(old, "client_id", eve.id)), "invalid_grant")
		if !works(s, got[0].text("access_token")) || works(s, first.text("access_token")) {
			t.Error("the new access token does not work, or the old one does")
		}
		s.Clock.Advance(board.RefreshReuse - 5*time.Second) // works advanced the clock by one second, twice
		if again := p.must("/oauth/token", p.refresh(old)); again.text("access_token") != got[0].text("access_token") ||
			again.body["expires_in"].(float64) > 3600-50 {
			t.Errorf("within a minute: got %s, want the same tokens", again.raw)
		}
		s.Clock.Advance(5 * time.Second)
		wantError(t, "the old refresh token after a minute", post(s, "/oauth/token", p.refresh(old)), "invalid_grant")
		if works(s, got[0].text("access_token")) {
			t.Error("late reuse did not end the connection")
		}
		wantError(t, "the latest refresh token after late reuse", post(s, "/oauth/token", p.refresh(got[0].text("refresh_token"))),
			"invalid_grant")

		// A refresh token that is two refreshes old is not accepted even within the minute.
		oldest := p.tokens(ada).text("refresh_token")
		previous := p.must("/oauth/token", p.refresh(oldest)).text("refresh_token")
		current := p.must("/oauth/token", p.refresh(previous))
		wantError(t, "two refreshes old", post(s, "/oauth/token", p.refresh(oldest)), "invalid_grant")
		if works(s, current.text("access_token")) {
			t.Error("a refresh token two refreshes old did not end the connection")
		}

		// A revoked connection stays revoked, even within that minute.
		previous = p.tokens(ada).text("refresh_token")
		current = p.must("/oauth/token", p.refresh(previous))
		post(s, "/oauth/revoke", values("client_id", p.id, "token", current.text("access_token")))
		wantError(t, "after revocation", post(s, "/oauth/token", p.refresh(previous)), "invalid_grant")
	})
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p, eve := newClient(s), newClient(s)
		for _, by := range []string{"access_token", "refresh_token"} {
			got := p.tokens(ada)
			wantError(t, "another client", post(s, "/oauth/revoke", values("client_id", eve.id, "token", got.text(by))),
				"invalid_grant")
			wantError(t, "no client", post(s, "/oauth/revoke", values("token", got.text(by))), "invalid_request")
			wantError(t, "no token", post(s, "/oauth/revoke", values("client_id", p.id)), "invalid_request")
			if !works(s, got.text("access_token")) {
				t.Error("a rejected revocation request revoked the token")
			}
			for range 2 { // RFC 7009, 2.2: revoking a token again also succeeds
				p.must("/oauth/revoke", values("client_id", p.id, "token", got.text(by), "token_type_hint", "nonsense"))
			}
			if works(s, got.text("access_token")) {
				t.Errorf("the access token still works after revocation by the %s", by)
			}
			wantError(t, "a revoked refresh token", post(s, "/oauth/token", p.refresh(got.text("refresh_token"))),
				"invalid_grant")
		}
		p.must("/oauth/revoke", values("client_id", p.id, "token", "nonsense"))
		p.must("/oauth/revoke", values("client_id", p.id, "token", ada.Token)) // created by hand: clients cannot revoke it
		if !works(s, ada.Token) {
			t.Error("a client revoked a token that was created by hand")
		}
		if a := ada.Call("disconnect_app",
			fields{"appId": ada.Must("list_tokens", nil).Text("0.id")}); a.Code != board.CodeNotFound {
			t.Errorf("disconnecting a token created by hand: got status %d, body %s; want not_found", a.Status, a.Raw)
		}
		got := p.tokens(ada)
		id := ada.Must("list_connected_apps", nil).Text("0.id")
		s.Person("Bob").Refused(board.CodeNotFound, "disconnect_app", fields{"appId": id})
		if !works(s, got.text("access_token")) {
			t.Error("another person disconnected the app")
		}
	})
}

// A client loses access when the person who authorized it does.
func TestConnectionsEndWithThePersonsAccess(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		p := newClient(s)
		codeFor := func(person *apptest.Person) string {
			return p.allow(person, p.request(), fields{"scopes": []string{"read"}, "workspaceId": workspace}).Get("code")
		}
		unused, got := codeFor(bob), p.must("/oauth/token", p.redemption(codeFor(bob)))
		ada.Must("remove_member", fields{"workspaceId": workspace, "userId": bob.ID})
		wantError(t, "a code for a workspace the person left", post(s, "/oauth/token", p.redemption(unused)),
			"invalid_grant")
		wantError(t, "a refresh token for that workspace", post(s, "/oauth/token", p.refresh(got.text("refresh_token"))),
			"invalid_grant")

		code, all := p.code(bob), p.tokens(bob)
		bob.Must("delete_account", nil)
		wantError(t, "a code of a deleted account", post(s, "/oauth/token", p.redemption(code)), "invalid_grant")
		wantError(t, "a refresh token of a deleted account", post(s, "/oauth/token", p.refresh(all.text("refresh_token"))),
			"invalid_grant")
		if works(s, all.text("access_token")) {
			t.Error("the access token of a deleted account still works")
		}
	})
}

// The secrets of a connection are stored only as hashes.
func TestSecretsAreStoredAsHashes(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p := newClient(s)
		code := p.code(ada)
		got := p.must("/oauth/token", p.redemption(code))
		family, _ := board.FamilyOf(got.text("refresh_token"))
		device := post(s, "/oauth/device_authorization", values("client_id", p.id))
		for _, column := range []string{
			"SELECT COALESCE(subject, '') FROM audit", "SELECT details FROM audit", "SELECT hash FROM oauth_codes",
			"SELECT family FROM oauth_grants", "SELECT refresh FROM oauth_grants",
			"SELECT hash FROM oauth_devices", "SELECT user_code FROM oauth_devices", "SELECT hash FROM tokens",
		} {
			for _, text := range s.Column(column) {
				for _, secret := range []string{code, family, got.text("access_token"), device.text("device_code"),
					device.text("user_code"), strings.ReplaceAll(device.text("user_code"), "-", "")} {
					if strings.Contains(text, secret) {
						t.Errorf("%s contains the secret %s", column, secret)
					}
				}
			}
		}
	})
}
