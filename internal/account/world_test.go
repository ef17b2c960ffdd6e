package account_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

type fields = apptest.Fields

const (
	password = "correct horse battery"
	another  = "staple that is not common"
)

// emails returns all emails that are due and marks them as sent.
func emails(s *apptest.Service) (out []board.Email) {
	s.T.Helper()
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		out = nil
		for {
			e, err := app.NextEmail(ctx, tx, time.Minute)
			if err != nil || e == nil {
				return err
			}
			out = append(out, *e)
			if err := tx.DeleteEmail(ctx, e.ID); err != nil {
				return err
			}
		}
	})
	return out
}

// emailedSecret returns the secret in the link of the only email that is due, ignoring
// security notices. The email must have the given kind and recipient.
func emailedSecret(s *apptest.Service, kind board.EmailKind, to string) (secret string) {
	s.T.Helper()
	all := slices.DeleteFunc(emails(s), func(e board.Email) bool { return e.Notice != nil })
	if len(all) != 1 || all[0].Kind != kind || all[0].To != to || !strings.HasPrefix(all[0].Link, apptest.BaseURL+"/") {
		s.T.Fatalf("got emails %+v, want one of the kind %s to %s", all, kind, to)
	}
	_, secret, _ = strings.Cut(all[0].Link, "#")
	return secret
}

func signUp(s *apptest.Service, b *apptest.Person, email string) apptest.Response {
	s.T.Helper()
	return b.Must("sign_up",
		fields{"email": email, "name": "Grace Hopper", "password": password, "timeZone": "Europe/London"})
}

// member returns a browser that is signed in to a new account.
func member(s *apptest.Service, email string) *apptest.Person {
	s.T.Helper()
	b := s.Browser()
	signUp(s, b, email)
	a := b.Must("verify_email", fields{"secret": emailedSecret(s, board.EmailVerify, email)})
	b.ID, b.Email, b.Name = a.Text("user.id"), email, a.Text("user.name")
	return b
}

// signIn returns another browser in which the person is signed in.
func signIn(p *apptest.Person, password string) *apptest.Person {
	p.T.Helper()
	b := p.Browser()
	b.ID, b.Email = p.ID, p.Email
	b.Must("sign_in", fields{"email": p.Email, "password": password})
	return b
}

// requireSignedOut advances the clock by a second, and reports an error unless the browser is signed
// out then.
func requireSignedOut(t *testing.T, what string, b *apptest.Person) {
	t.Helper()
	b.Clock.Advance(time.Second)
	if a := b.Call("get_session", nil); a.Status != http.StatusUnauthorized || a.Code != board.CodeUnauthenticated {
		t.Errorf("%s: got status %d, body %s; want 401", what, a.Status, a.Raw)
	}
}

// expireRecentSignIn advances the clock so that sign-ins are no longer recent.
func expireRecentSignIn(s *apptest.Service) { s.Clock.Advance(11 * time.Minute) }

func TestAccountLifecycle(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		ada.Must("create_invitation", fields{"workspaceId": workspace, "email": "grace@example.com", "role": "member"})
		emails(s)

		b := s.Browser()
		if a := b.Must("get_sign_in_options", nil); a.Get("passkeys") != true || a.Get("signUp") != true ||
			a.Get("oidc") != nil {
			t.Errorf("got sign-in options %s, want passkeys and sign-up but no provider", a.Raw)
		}
		signUp(s, b, " Grace@Example.com ")
		if b.Secret() != "" {
			t.Error("signing up created a session before the address was verified")
		}
		wrong := b.Call("sign_in", fields{"email": "grace@example.com", "password": password})
		if wrong.Status != http.StatusUnauthorized {
			t.Errorf("signed in before the address was verified: got status %d, body %s; want 401", wrong.Status, wrong.Raw)
		}
		secret := emailedSecret(s, board.EmailVerify, "grace@example.com")
		a := b.Must("verify_email", fields{"secret": secret})
		if a.Text("user.email") != "grace@example.com" || a.Text("user.name") != "Grace Hopper" ||
			a.Text("user.timeZone") != "Europe/London" ||
			a.Get("user.verified") != true || a.Text("user.theme") != "system" || a.Text("workspaces.0.id") != workspace {
			t.Errorf("got new account %s, want that of Grace Hopper, in workspace %s", a.Raw, workspace)
		}
		set := a.Header.Get("Set-Cookie")
		for _, part := range []string{"__Host-cardwall=", "; Path=/", "; HttpOnly", "; Secure", "; SameSite=Lax",
			"; Max-Age=7776000"} {
			if !strings.Contains(set, part) {
				t.Errorf("the cookie %s lacks %s", strings.ReplaceAll(set, b.Secret(), "…"), part)
			}
		}
		if len(b.Secret()) != 43 || strings.Contains(set, "Domain") || strings.Contains(string(a.Raw), b.Secret()) {
			t.Errorf("got cookie %s, want a secret of 43 characters that is not in the body, and no Domain", set)
		}
		b.Refused(board.CodeInvalidRequest, "verify_email", fields{"secret": secret}) // a secret works only once

		// The same cookie gives access to the public operations, with all scopes.
		b.Must("create_board", fields{"workspaceId": workspace, "name": "Mine"})
		b.Must("list_webhooks", fields{"workspaceId": workspace})
		changed := b.Must("update_profile",
			fields{"name": "Grace", "timeZone": "America/New_York", "theme": "dark", "language": "en-us"})
		if changed.Text("name") != "Grace" || changed.Text("theme") != "dark" || changed.Text("language") != "en-US" ||
			changed.Text("email") != "grace@example.com" {
			t.Errorf("got profile %s, want the changed fields and the same email address", changed.Raw)
		}
		if a := b.Must("get_session", nil); a.Text("user.name") != "Grace" || a.Text("user.timeZone") != "America/New_York" {
			t.Errorf("got session %s, want the changed name and time zone", a.Raw)
		}

		b.Must("sign_out", nil)
		if b.Secret() != "" {
			t.Error("the browser still has the session cookie after signing out")
		}
		b.Must("sign_in", fields{"email": "GRACE@example.com", "password": password})
		b.Refused(board.CodeInvalidRequest, "change_password", fields{"password": "short", "currentPassword": password})
		b.Refused(board.CodeInvalidRequest, "change_password", fields{"password": "1234567890", "currentPassword": password})
		if a := b.Refused(board.CodeInvalidRequest, "change_password",
			fields{"password": "grace@EXAMPLE.com", "currentPassword": password}); !strings.Contains(a.Message, "address") {
			t.Errorf("the person's own address as a password: got %s, want a message about the address", a.Raw)
		}
		b.Must("change_password", fields{"password": another, "currentPassword": password})
		b.Must("get_session", nil)
		if a := s.Browser().Call("sign_in",
			fields{"email": "grace@example.com", "password": password}); a.Status != http.StatusUnauthorized {
			t.Errorf("the old password: got status %d, body %s; want 401", a.Status, a.Raw)
		}
		b.ID, b.Email = a.Text("user.id"), "grace@example.com"
		second := signIn(b, another)
		b.Must("delete_account", nil)
		requireSignedOut(t, "a second session, after the account was deleted", second)
		if b.Secret() != "" {
			t.Error("the browser still has the session cookie after the account was deleted")
		}
		if a := s.Browser().Call("sign_in",
			fields{"email": "grace@example.com", "password": another}); a.Status != http.StatusUnauthorized {
			t.Errorf("the deleted account can still sign in: got status %d, body %s; want 401", a.Status, a.Raw)
		}
		if people := ada.All("list_workspace_members", "id", fields{"workspaceId": workspace}); !slices.Equal(people,
			[]string{ada.ID}) {
			t.Errorf("got workspace members %v, want %v", people, []string{ada.ID})
		}
		b.Refused(board.CodeInvalidRequest, "verify_email", fields{"secret": secret}) // the secret was used
		member(s, "grace@example.com")                                                // the address is free again
	})
}

// The audit entry of a sign-in names the person, although the request itself had no
// session.
func TestAuditNamesThePersonWhoSignedIn(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		b.Must("sign_in", fields{"email": b.Email, "password": password})
		got := s.Column("SELECT operation || ' ' || COALESCE(actor_id, actor_type) FROM audit ORDER BY id")
		if want := []string{"sign_up guest", "verify_email " + b.ID, "sign_in " + b.ID}; !slices.Equal(got, want) {
			t.Errorf("got audit entries %q, want %q", got, want)
		}
		for _, text := range s.Column("SELECT COALESCE(subject, '') || details FROM audit") {
			if strings.Contains(text, password) {
				t.Errorf("the audit log contains the password: %s", text)
			}
		}
	})
}

// The plan that the operator sets for new organizations applies to organizations that
// people create.
func TestPlanSettingAppliesToNewOrganizations(t *testing.T) {
	t.Parallel()
	for _, want := range []board.Plan{"", board.PlanFree, board.PlanTeam, board.PlanBusiness} {
		apptest.BothWith(t, apptest.Options{Plan: want}, func(t *testing.T, s *apptest.Service) {
			b := member(s, "grace@example.com")
			created := b.Must("create_workspace", fields{"name": "Compilers"})
			if want == "" {
				want = board.DefaultPlan
			}
			if got := created.Text("plan"); got != string(want) {
				t.Errorf("got plan %s from create_workspace, want %s", got, want)
			}
			if got := b.Must("get_workspace", fields{"workspaceId": created.ID()}).Text("plan"); got != string(want) {
				t.Errorf("got plan %s from get_workspace, want %s", got, want)
			}
		})
	}
}

func TestLastOwnerCannotDeleteAccount(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b, bob := member(s, "grace@example.com"), s.Person("Bob")
		workspace := b.Must("create_workspace", fields{"name": "Compilers"})
		if workspace.Text("role") != "owner" || workspace.Text("plan") != string(board.DefaultPlan) ||
			workspace.Status != http.StatusCreated {
			t.Errorf("got workspace %s, want the role owner and the plan %s", workspace.Raw, board.DefaultPlan)
		}
		b.Must("update_workspace", fields{"workspaceId": workspace.ID(), "name": "Linkers"})
		if a := b.Refused(board.CodeForbidden, "delete_account", nil); !strings.Contains(a.Message, "Linkers") {
			t.Errorf("the refusal does not name the workspace: %s", a.Raw)
		}
		b.Must("get_session", nil)
		bob.Joins(workspace.ID(), board.WorkspaceMember)
		b.Must("change_member", fields{"workspaceId": workspace.ID(), "userId": bob.ID, "role": "owner"})
		b.Must("delete_account", nil)
		bob.Refused(board.CodeForbidden, "remove_member", fields{"workspaceId": workspace.ID(), "userId": bob.ID})
	})
}

func TestInvitationByLink(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, b := s.Person("Ada"), member(s, "grace@example.com")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		invite := func(email string) (id, secret string) {
			t.Helper()
			s.Clock.Advance(6 * time.Minute) // an address gets at most one email in five minutes
			id = ada.Must("create_invitation", fields{"workspaceId": workspace, "email": email, "role": "guest"}).ID()
			return id, emailedSecret(s, board.EmailInvitation, email)
		}
		check := func(secret, status string) {
			t.Helper()
			a := s.Browser().Must("get_invitation", fields{"secret": secret})
			if a.Text("workspace") != "Engines" || a.Text("invitedBy") != "Ada" || a.Text("role") != "guest" ||
				a.Text("status") != status || !strings.HasSuffix(a.Text("email"), "@example.com") {
				t.Errorf("got invitation %s, want status %s", a.Raw, status)
			}
		}
		s.Browser().Refused(board.CodeNotFound, "get_invitation", fields{"secret": "nonsense"})
		b.Refused(board.CodeNotFound, "accept_invitation", fields{"secret": "nonsense"})

		id, withdrawn := invite("gone@example.com")
		ada.Must("withdraw_invitation", fields{"workspaceId": workspace, "invitationId": id})
		check(withdrawn, "withdrawn")
		b.Refused(board.CodeInvalidRequest, "accept_invitation", fields{"secret": withdrawn})

		_, good := invite("hopper@example.com")
		check(good, "pending")
		if a := s.Browser().Call("accept_invitation", fields{"secret": good}); a.Status != http.StatusUnauthorized {
			t.Errorf("accepted without a session: got status %d, body %s; want 401", a.Status, a.Raw)
		}
		for range 2 {
			if a := b.Must("accept_invitation", fields{"secret": good}); a.ID() != workspace || a.Text("role") != "guest" {
				t.Errorf("accept_invitation: got %s, want workspace %s with the role guest", a.Raw, workspace)
			}
		}
		check(good, "accepted")
		if a := b.Must("get_session", nil); a.Text("workspaces.0.id") != workspace {
			t.Errorf("got session %s, want one in workspace %s", a.Raw, workspace)
		}
		eve := member(s, "eve@example.com")
		eve.Refused(board.CodeInvalidRequest, "accept_invitation", fields{"secret": good})

		_, late := invite("late@example.com")
		s.Clock.Advance(board.InvitationLifetime)
		check(late, "expired")
		if a := eve.Call("accept_invitation", fields{"secret": late}); a.Code != board.CodeInvalidRequest ||
			!strings.Contains(a.Message, "expired") {
			t.Errorf("expired invitation: got %s, want invalid_request because it has expired", a.Raw)
		}
	})
}

func TestCrossSiteRequestsChangeNothing(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		workspace := b.Must("create_workspace", fields{"name": "Compilers"}).ID()
		state := func() string {
			return strings.Join(s.Column("SELECT name FROM boards UNION ALL SELECT name FROM users UNION ALL SELECT id "+
				"FROM sessions ORDER BY 1"), " ")
		}
		before := state()
		for what, header := range map[string]http.Header{
			"another site":                   {"Sec-Fetch-Site": {"cross-site"}},
			"another host of our domain":     {"Sec-Fetch-Site": {"same-site"}},
			"another site in an old browser": {"Sec-Fetch-Site": {""}, "Origin": {"https://evil.example.com"}},
		} {
			for name, in := range map[string]fields{
				"create_board": {"workspaceId": workspace, "name": "Evil"}, "update_profile": {"name": "Evil"}, "sign_out": nil,
				"sign_in": {"email": b.Email, "password": password},
				"sign_up": {"email": "eve@example.com", "name": "Eve", "password": password},
			} {
				if a := b.CallWith(name, in, header); a.Status != http.StatusForbidden || a.Code != board.CodeForbidden ||
					strings.HasPrefix(a.Message, "Sign in again") {
					t.Errorf("%s from %s: got status %d, body %s; want 403", name, what, a.Status, a.Raw)
				}
			}
			// Reading is allowed, because no CORS header lets the other site see the response.
			if a := b.CallWith("get_session", nil, header); a.Status != http.StatusOK {
				t.Errorf("get_session from %s: got status %d, body %s; want 200", what, a.Status, a.Raw)
			}
		}
		if now := state(); now != before {
			t.Errorf("got state %s after requests from other sites, want %s", now, before)
		}
		b.Must("create_board", fields{"workspaceId": workspace, "name": "Good"})
		// Requests with a token are not checked, because browsers do not add tokens to requests.
		ada := s.Person("Ada")
		if a := ada.CallWith("create_board", fields{"workspaceId": ada.Workspace("W", board.PlanFree), "name": "x"},
			http.Header{"Sec-Fetch-Site": {"cross-site"}}); a.Status != http.StatusCreated {
			t.Errorf("a token: got status %d, body %s; want 201", a.Status, a.Raw)
		}
	})
}

// GET requests from a browser change no data that people can see, whatever their path.
func TestGetChangesNothing(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		tables := []string{"users", "tokens", "passkeys", "sign_ups", "account_secrets", "challenges", "identities",
			"emails", "audit", "workspaces", "idempotency"}
		count := func() (out []string) {
			for _, table := range tables {
				out = append(out, table+" "+s.Column("SELECT CAST(count(*) AS TEXT) FROM " + table)[0])
			}
			return append(out, s.Column("SELECT id || user_id FROM sessions")...)
		}
		before := count()
		for _, o := range s.Registry.All() {
			switch {
			case !o.Audience.NeedsSession() && !o.Audience.NeedsNoAccount():
			case o.ReadOnly:
				b.Call(o.Name, nil)
			default: // a GET request to the path of a write
				r := httptest.NewRequest(http.MethodGet, path(o), nil)
				if a := b.Do(r); a.Status/100 == 2 && !isRead(s, o.Path) {
					t.Errorf("GET %s: got status %d, body %s; want an error", o.Path, a.Status, a.Raw)
				}
			}
		}
		if now := count(); !slices.Equal(now, before) {
			t.Errorf("got %v after GET requests, want %v", now, before)
		}
	})
}

func path(o *op.Operation) string {
	return strings.NewReplacer("{", "", "}", "").Replace("/api/app/v1" + o.Path)
}

// isRead reports whether an internal GET operation has the path.
func isRead(s *apptest.Service, path string) bool {
	return slices.ContainsFunc(s.Registry.All(), func(o *op.Operation) bool {
		return o.Audience != op.Public && o.Method == http.MethodGet && o.Path == path
	})
}
