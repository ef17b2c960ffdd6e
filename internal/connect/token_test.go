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
		p, eve := newProgram(s), newProgram(s)
		code := p.code(ada)
		for what, c := range map[string]struct {
			form url.Values
			code string
		}{
			"no code":                    {p.redemption(""), "invalid_request"},
			"no verifier":                {p.redemption(code, "code_verifier", ""), "invalid_request"},
			"a wrong verifier":           {p.redemption(code, "code_verifier", strings.Repeat("x", 43)), "invalid_grant"},
			"the challenge as verifier":  {p.redemption(code, "code_verifier", challenge(verifier)), "invalid_grant"},
			"a verifier that is short":   {p.redemption(code, "code_verifier", "short"), "invalid_grant"},
			"another redirect address":   {p.redemption(code, "redirect_uri", callback+"/"), "invalid_grant"},
			"another client":             {p.redemption(code, "client_id", eve.id), "invalid_grant"},
			"an unknown client":          {p.redemption(code, "client_id", "cli_00000000000000000000000000"), "invalid_client"},
			"no client":                  {p.redemption(code, "client_id", ""), "invalid_request"},
			"another of our resources":   {p.redemption(code, "resource", apptest.BaseURL), "invalid_target"},
			"another server's resource":  {p.redemption(code, "resource", "https://evil.example/mcp"), "invalid_target"},
			"an unknown code":            {p.redemption("K7Q2M4XW3ZB5N6VD8RJHF9TCGP"), "invalid_grant"},
			"no grant type":              {p.redemption(code, "grant_type", ""), "invalid_request"},
			"the password grant":         {p.redemption(code, "grant_type", "password"), "unsupported_grant_type"},
			"the code as refresh token":  {p.renewal(code), "invalid_grant"},
			"a secret that nobody gave":  {p.redemption(code, "client_secret", "x"), "invalid_client"},
			"a parameter that is double": {url.Values{"grant_type": {board.GrantCode, board.GrantCode}}, "invalid_request"},
		} {
			refused(t, what, post(s, "/oauth/token", c.form), c.code)
		}
		// None of the failed attempts used up the code.
		got := p.must("/oauth/token", p.redemption(code, "redirect_uri", ""))
		if !works(s, got.text("access_token")) {
			t.Error("the token does not work")
		}
		refused(t, "a code that comes again", post(s, "/oauth/token", p.redemption(code)), "invalid_grant")
		if works(s, got.text("access_token")) {
			t.Error("the token still works after its code was used twice")
		}
		refused(t, "the refresh token of such a code", post(s, "/oauth/token", p.renewal(got.text("refresh_token"))),
			"invalid_grant")

		late := p.code(ada)
		s.Clock.Advance(board.CodeLifetime + time.Second)
		refused(t, "an expired code", post(s, "/oauth/token", p.redemption(late)), "invalid_grant")
	})
}

func TestRefreshTokensWorkOnce(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p, eve := newProgram(s), newProgram(s)
		first := p.tokens(ada)
		old := first.text("refresh_token")
		refused(t, "another client", post(s, "/oauth/token", p.renewal(old, "client_id", eve.id)), "invalid_grant")
		refused(t, "another resource", post(s, "/oauth/token", p.renewal(old, "resource", apptest.BaseURL)), "invalid_target")
		refused(t, "no token", post(s, "/oauth/token", p.renewal("")), "invalid_request")
		refused(t, "an access token", post(s, "/oauth/token", p.renewal(first.text("access_token"))), "invalid_grant")
		refused(t, "a token that nobody gave", post(s, "/oauth/token", p.renewal(board.NewFamily()+board.NewSecret())),
			"invalid_grant")
		second := p.must("/oauth/token", p.renewal(old))
		s.Clock.Advance(board.RefreshReuse)
		refused(t, "a refresh token that comes again", post(s, "/oauth/token", p.renewal(old)), "invalid_grant")
		if works(s, second.text("access_token")) {
			t.Error("the access token still works after a refresh token was used twice")
		}
		refused(t, "the last of the family", post(s, "/oauth/token", p.renewal(second.text("refresh_token"))),
			"invalid_grant")
		if got := s.Column("SELECT operation FROM audit WHERE operation = 'end_replayed_connection'"); len(got) == 0 {
			t.Error("the audit does not give the reason why the connection ended")
		}
		// Another consent is not affected.
		if other := p.tokens(ada); !works(s, other.text("access_token")) {
			t.Error("another consent ended, too")
		}
	})
}

// Of several concurrent requests with one code, one succeeds. The others are reuse of the code,
// so the issued tokens are revoked in the end.
func TestConcurrentCodeRedemptionSucceedsOnce(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p := newProgram(s)
		got, refusals := many(t, p, p.redemption(p.code(ada)))
		if len(got) != 1 || refusals != 7 {
			t.Errorf("%d of 8 got tokens, and %d were refused", len(got), refusals)
		} else if works(s, got[0].text("access_token")) {
			t.Error("reusing the code did not revoke the tokens")
		}
	})
}

// many sends the same request eight times at once. It returns the responses with tokens and the
// number of invalid_grant errors.
func many(t *testing.T, p program, form url.Values) (got []reply, refusals int) {
	t.Helper()
	var (
		all sync.WaitGroup
		mu  sync.Mutex
	)
	for range 8 {
		all.Go(func() {
			r := post(p.Service, "/oauth/token", form)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case r.status == http.StatusOK:
				got = append(got, r)
			case r.text("error") == "invalid_grant":
				refusals++
			default:
				t.Errorf("%d %s", r.status, r.raw)
			}
		})
	}
	all.Wait()
	return got, refusals
}

// Two tabs, or a client that lost a response, may send the same refresh token twice. Both get
// the same tokens, and these keep working. Reuse later, or after the next renewal, ends the
// connection.
func TestRefreshTokenRenewedTwiceAtOnceKeepsTheConnection(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p, eve := newProgram(s), newProgram(s)
		first := p.tokens(ada)
		old := first.text("refresh_token")
		got, refusals := many(t, p, p.renewal(old, "scope", "read"))
		if len(got) != 8 || refusals != 0 {
			t.Fatalf("%d of 8 got tokens, and %d were refused", len(got), refusals)
		}
		for _, r := range got {
			if r.text("access_token") != got[0].text("access_token") ||
				r.text("refresh_token") != got[0].text("refresh_token") || r.text("scope") != "read" {
				t.Fatalf("two responses differ: %s and %s", got[0].raw, r.raw)
			}
		}
		refused(t, "another client", post(s, "/oauth/token", p.renewal(old, "client_id", eve.id)), "invalid_grant")
		if !works(s, got[0].text("access_token")) || works(s, first.text("access_token")) {
			t.Error("the new access token does not work, or the old one does")
		}
		s.Clock.Advance(board.RefreshReuse - 5*time.Second) // the two checks took two seconds
		if again := p.must("/oauth/token", p.renewal(old)); again.text("access_token") != got[0].text("access_token") ||
			again.body["expires_in"].(float64) > 3600-50 {
			t.Errorf("within the minute the response is %s", again.raw)
		}
		s.Clock.Advance(5 * time.Second)
		refused(t, "the old refresh token after a minute", post(s, "/oauth/token", p.renewal(old)), "invalid_grant")
		if works(s, got[0].text("access_token")) {
			t.Error("late reuse did not end the connection")
		}
		refused(t, "the last refresh token then", post(s, "/oauth/token", p.renewal(got[0].text("refresh_token"))),
			"invalid_grant")

		// A refresh token two renewals old counts as reuse at once.
		one := p.tokens(ada).text("refresh_token")
		two := p.must("/oauth/token", p.renewal(one)).text("refresh_token")
		three := p.must("/oauth/token", p.renewal(two))
		refused(t, "the last but two", post(s, "/oauth/token", p.renewal(one)), "invalid_grant")
		if works(s, three.text("access_token")) {
			t.Error("a refresh token two renewals old did not end the connection")
		}

		// A disconnected app stays disconnected within that minute.
		four := p.tokens(ada).text("refresh_token")
		five := p.must("/oauth/token", p.renewal(four))
		post(s, "/oauth/revoke", values("client_id", p.id, "token", five.text("access_token")))
		refused(t, "after revocation", post(s, "/oauth/token", p.renewal(four)), "invalid_grant")
	})
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p, eve := newProgram(s), newProgram(s)
		for _, by := range []string{"access_token", "refresh_token"} {
			got := p.tokens(ada)
			refused(t, "another client", post(s, "/oauth/revoke", values("client_id", eve.id, "token", got.text(by))),
				"invalid_grant")
			refused(t, "no client", post(s, "/oauth/revoke", values("token", got.text(by))), "invalid_request")
			refused(t, "no token", post(s, "/oauth/revoke", values("client_id", p.id)), "invalid_request")
			if !works(s, got.text("access_token")) {
				t.Error("a failed revocation ended the token")
			}
			for range 2 { // RFC 7009, 2.2: revoking a token again also succeeds
				p.must("/oauth/revoke", values("client_id", p.id, "token", got.text(by), "token_type_hint", "nonsense"))
			}
			if works(s, got.text("access_token")) {
				t.Errorf("the access token still works after revocation by the %s", by)
			}
			refused(t, "what was revoked", post(s, "/oauth/token", p.renewal(got.text("refresh_token"))), "invalid_grant")
		}
		p.must("/oauth/revoke", values("client_id", p.id, "token", "nonsense"))
		p.must("/oauth/revoke", values("client_id", p.id, "token", ada.Token)) // created by hand: clients cannot revoke it
		if !works(s, ada.Token) {
			t.Error("a client revoked a token that was created by hand")
		}
		if a := ada.Call("disconnect_app",
			fields{"appId": ada.Must("list_tokens", nil).Text("0.id")}); a.Code != board.CodeNotFound {
			t.Errorf("disconnecting a token created by hand: got status %d, body %s", a.Status, a.Raw)
		}
		got := p.tokens(ada)
		id := ada.Must("list_connected_apps", nil).Text("0.id")
		s.Person("Bob").Refused(board.CodeNotFound, "disconnect_app", fields{"appId": id})
		if !works(s, got.text("access_token")) {
			t.Error("another person disconnected the app")
		}
	})
}

// Clients lose access when their person does.
func TestConnectionsEndWithThePersonsAccess(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		p := newProgram(s)
		in := func(person *apptest.Person) string {
			return p.allow(person, p.request(), fields{"scopes": []string{"read"}, "workspaceId": workspace}).Get("code")
		}
		waiting, got := in(bob), p.must("/oauth/token", p.redemption(in(bob)))
		ada.Must("remove_member", fields{"workspaceId": workspace, "userId": bob.ID})
		refused(t, "a code for a workspace that was left", post(s, "/oauth/token", p.redemption(waiting)), "invalid_grant")
		refused(t, "a refresh token for it", post(s, "/oauth/token", p.renewal(got.text("refresh_token"))), "invalid_grant")

		code, all := p.code(bob), p.tokens(bob)
		bob.Must("delete_account", nil)
		refused(t, "a code of an account that is gone", post(s, "/oauth/token", p.redemption(code)), "invalid_grant")
		refused(t, "its refresh token", post(s, "/oauth/token", p.renewal(all.text("refresh_token"))), "invalid_grant")
		if works(s, all.text("access_token")) {
			t.Error("the access token still works")
		}
	})
}

// The secrets of a connection are stored only as hashes.
func TestSecretsAreStoredAsHashes(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p := newProgram(s)
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
