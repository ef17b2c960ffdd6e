package account_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	wrong        = "wrong horse battery"
	deviceCookie = apptest.Cookie + "-device"
)

// from returns a new browser whose requests come from the given IP address.
func from(s *apptest.Service, network string) *apptest.Person {
	b := s.Browser()
	b.From = network + ":1234"
	return b
}

func tryPassword(b *apptest.Person, email, password string, header http.Header) apptest.Response {
	return b.CallWith("sign_in", fields{"email": email, "password": password}, header)
}

// Guesses by strangers do not lock out a browser that the account has signed in with.
// Nor do they lock out the person on another network.
func TestGuessesDoNotLockOutTheOwner(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		b := member(s, "grace@example.com")
		b.Must("sign_out", nil)
		for network := range 20 {
			for range 10 {
				if a := tryPassword(from(s, fmt.Sprintf("198.51.100.%d", network)), b.Email, wrong,
					nil); a.Status != http.StatusUnauthorized {
					t.Fatalf("a guess from network %d: got status %d, body %s; want 401", network, a.Status, a.Raw)
				}
			}
			s.Clock.Advance(10 * time.Second)
		}
		if a := tryPassword(from(s, "203.0.113.9"), b.Email, password, nil); a.Status != http.StatusOK {
			t.Errorf("the person, in a new browser on a new network: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		// In the guesser's network, a known browser can sign in on any server.
		known := b.At(s.Node())
		known.From = "198.51.100.1:1234"
		if a := tryPassword(from(s, "198.51.100.1"), b.Email, password, nil); a.Status != http.StatusTooManyRequests ||
			!strings.Contains(a.Message, "Forgot password?") {
			t.Errorf("a browser that is not known, in the guesser's network: got status %d, body %s; want 429 and a hint to reset "+
				"the password", a.Status, a.Raw)
		}
		if a := tryPassword(known, b.Email, password, nil); a.Status != http.StatusOK {
			t.Errorf("the known browser in the guesser's network: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		// The limit for a known browser is no higher than for other browsers.
		requireLimit(t, 10, func(int) apptest.Response { return tryPassword(known, b.Email, wrong, nil) })
		// A browser that is known to one account has no advantage with another account.
		member(s, "eve@example.com")
		requireLimit(t, 10, func(int) apptest.Response { return tryPassword(known, "eve@example.com", wrong, nil) })
	})
}

// Behind a proxy that the operator did not configure, the attempts of one client do
// not count against the other clients.
func TestUnconfiguredProxyDoesNotBlockOtherClients(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		var log apptest.Buffer
		s := apptest.New(t, database, apptest.Options{RateLimits: true, Log: slog.New(slog.NewJSONHandler(&log, nil))})
		s.Clock.Stop()
		b := member(s, "grace@example.com")
		const proxy = "10.9.8.7"
		for header, client := range map[string]func(ip string) string{
			"X-Forwarded-For": func(ip string) string { return "192.168.1.1, " + ip },
			"Forwarded":       func(ip string) string { return "for=192.168.1.1, for=" + ip + ";proto=https" },
		} {
			stranger, person := http.Header{header: {client("203.0.113.66")}}, http.Header{header: {client("203.0.113.7")}}
			requireLimit(t, 50, func(i int) apptest.Response {
				return tryPassword(from(s, proxy), fmt.Sprintf("p%d@example.com", i/10), wrong, stranger)
			})
			if a := tryPassword(from(s, proxy), b.Email, password, person); a.Status != http.StatusOK {
				t.Errorf("another client behind the proxy (%s): got status %d, body %s; want 200", header, a.Status, a.Raw)
			}
			for i := range 130 { // exceeds the requests per minute of one network
				from(s, proxy).CallWith("get_sign_in_options", nil,
					http.Header{header: {client(fmt.Sprintf("203.0.113.%d", 100+i))}})
			}
			if a := from(s, proxy).CallWith("get_sign_in_options", nil, person); a.Status != http.StatusOK {
				t.Errorf("a page for another client behind the proxy (%s): got status %d, body %s; want 200", header,
					a.Status, a.Raw)
			}
			create := fields{"secret": strings.Repeat("x", 43), "name": "Grace", "password": password}
			requireLimit(t, 30, func(int) apptest.Response { return from(s, proxy).CallWith("create_account", create, stranger) })
			if a := from(s, proxy).CallWith("create_account", create, person); a.Code == board.CodeRateLimited {
				t.Errorf("create_account for another client behind the proxy (%s): got %s, want no rate limit", header, a.Raw)
			}
			s.Clock.Advance(time.Hour)
		}
		if n := strings.Count(log.String(), `"peer":"10.9.8.7"`); n != 1 ||
			!strings.Contains(log.String(), "CARDWALL_TRUSTED_PROXIES=10.9.8.7") {
			t.Errorf("got %d warnings, want 1 that suggests CARDWALL_TRUSTED_PROXIES=10.9.8.7: %s", n, log.String())
		}
	})
}

// A wrong password is logged and recorded in the audit log, without the password. If
// the address has no account, it is only logged.
func TestWrongPasswordsAreRecorded(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		var log apptest.Buffer
		s := apptest.New(t, database, apptest.Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
		b, ada := member(s, "grace@example.com"), s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		b.Joins(workspace, board.WorkspaceMember)
		b.Refused(board.CodeForbidden, "confirm_sign_in", fields{"password": wrong})
		b.Refused(board.CodeForbidden, "change_password", fields{"currentPassword": wrong, "password": another})
		header := http.Header{"X-Request-Id": {"guess-1"}}
		tryPassword(from(s, "198.51.100.1"), b.Email, wrong, header)
		tryPassword(from(s, "198.51.100.1"), "eve@example.com", wrong, header)
		got := apptest.Await(t, "the background has written the entries", func() (got []string, done bool) {
			got = s.Column("SELECT subject || ' ' || COALESCE(request_id, '') || ' ' || details FROM audit " +
				"WHERE operation = 'reject_password' AND workspace_id IS NULL ORDER BY id")
			return got, len(got) >= 3
		})
		if len(got) != 3 || !slices.ContainsFunc(got, func(e string) bool {
			return strings.HasPrefix(e, b.ID+" guess-1 ") && strings.Contains(e, "198.51.100.1")
		}) {
			t.Errorf("got audit entries %q, want 3, one of them for the request guess-1", got)
		}
		lines := log.String()
		if strings.Count(lines, `"msg":"wrong password"`) != 4 ||
			strings.Count(lines, `"request":"guess-1","address":"198.51.100.1"`) != 2 || strings.Contains(lines, "horse") ||
			strings.Contains(lines, "@example.com") {
			t.Errorf("got log %s, want 4 wrong passwords, 2 of them for guess-1, and no password or email address", lines)
		}
		// The person and the admins of the person's workspaces see them.
		own := b.Must("list_wrong_passwords", nil)
		audited := ada.Must("list_audit_entries", fields{"workspaceId": workspace, "operation": "reject_password"})
		if len(own.Each("id")) != 3 || !slices.Contains(own.Each("address"), "198.51.100.1") || len(audited.Each("id")) != 3 ||
			audited.Text("0.subject") != b.ID {
			t.Errorf("got the person's list %s and the audit log %s, want 3 wrong passwords in each", own.Raw, audited.Raw)
		}
		if others := ada.Must("list_wrong_passwords", nil); len(others.Each("id")) != 0 {
			t.Errorf("another person sees %s, want nothing", others.Raw)
		}
	})
}

// Signing in ends the previous session of the browser, even if that session was another
// person's.
func TestSigningInReplacesTheSession(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b, eve := member(s, "grace@example.com"), member(s, "eve@example.com")
		thief := s.Browser()
		thief.Cookies[apptest.Cookie] = b.Secret()
		b.Must("sign_in", fields{"email": b.Email, "password": password})
		requireSignedOut(t, "the previous session", thief)
		if n := len(b.Must("list_sessions", nil).Each("id")); n != 1 {
			t.Errorf("got %d sessions of one browser, want 1", n)
		}
		thief.Cookies[apptest.Cookie] = b.Secret()
		b.Must("sign_in", fields{"email": eve.Email, "password": password})
		requireSignedOut(t, "the session of the previous person", thief)
	})
}

// If a person has too many sessions, the one that has been idle longest ends, even if it
// is not the oldest.
func TestSessionLimitEndsIdleSession(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		busy := member(s, "grace@example.com")
		idle := s.Browser()
		idle.Must("sign_in", fields{"email": busy.Email, "password": password})
		const limit = 100
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			tx.ActAs(busy.ID)
			for range limit - 2 {
				if err := tx.InsertSession(ctx, tx.NewID("ses_"), []byte(rand.Text())); err != nil {
					return err
				}
			}
			return nil
		})
		s.Clock.Advance(time.Hour)
		id := busy.Must("get_session", nil).Text("session.id")
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.TouchSession(ctx, id, "", "")
		})
		s.Browser().Must("sign_in", fields{"email": busy.Email, "password": password})
		busy.Must("get_session", nil)
		if n := len(s.Column("SELECT id FROM sessions WHERE user_id = $1", busy.ID)); n != limit {
			t.Errorf("got %d sessions, want %d", n, limit)
		}
	})
}

// Confirming a sign-in changes the session's secret. The old secret stops working.
func TestConfirmingRotatesTheSecret(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		id := b.Must("get_session", nil).Text("session.id")
		thief := s.Browser()
		thief.Cookies[apptest.Cookie] = b.Secret()
		b.Must("confirm_sign_in", fields{"password": password})
		requireSignedOut(t, "the old secret", thief)
		if a := b.Must("get_session", nil); a.Text("session.id") != id {
			t.Errorf("after confirming: got session %s, want the id %s", a.Raw, id)
		}
	})
}

func TestChangePasswordRequiresCurrentPassword(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		if a := b.Refused(board.CodeInvalidRequest, "change_password",
			fields{"password": another}); !strings.Contains(a.Message, "currentPassword") {
			t.Errorf("without the current password: got %s, want a message about currentPassword", a.Raw)
		}
		b.Refused(board.CodeForbidden, "change_password", fields{"password": another, "currentPassword": wrong})
		s.Browser().Must("sign_in", fields{"email": b.Email, "password": password})
		expireRecentSignIn(s)
		// The current password is proof enough.
		b.Must("change_password", fields{"password": another, "currentPassword": password})
		s.Browser().Must("sign_in", fields{"email": b.Email, "password": another})

		// An account without a password needs a recent sign-in.
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.SetPassword(ctx, b.ID, "") })
		expireRecentSignIn(s)
		if a := b.Refused(board.CodeForbidden, "change_password", fields{"password": password}); !strings.HasPrefix(a.Message,
			"Sign in again") {
			t.Errorf("without a recent sign-in: got %s, want a request to sign in again", a.Raw)
		}
	})
}

// notices returns the kinds and recipients of the security notices that are due, and marks
// all due emails as sent.
func notices(s *apptest.Service) (out []string) {
	s.T.Helper()
	for _, e := range emails(s) {
		if e.Notice != nil {
			out = append(out, string(e.Kind)+" "+e.To)
		}
	}
	slices.Sort(out)
	return out
}

// The owner of an account is notified of security changes.
func TestOwnersAreNotifiedOfAccountChanges(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		expectNotices := func(what string, kinds ...string) {
			t.Helper()
			for i := range kinds {
				kinds[i] += " " + b.Email
			}
			if got := notices(s); !slices.Equal(got, kinds) {
				t.Errorf("%s: got notices %q, want %q", what, got, kinds)
			}
		}
		expectNotices("a new account")
		b.Must("sign_out", nil)
		b.Must("sign_in", fields{"email": b.Email, "password": password})
		expectNotices("the browser that signed up")
		other := signIn(b, password)
		expectNotices("another browser", "new_device")
		other.Must("sign_in", fields{"email": b.Email, "password": password})
		expectNotices("the other browser again")
		b.Must("create_token", fields{"name": "Deploy", "scopes": []string{}})
		expectNotices("a token", "token_created")
		b.Must("change_password", fields{"password": another, "currentPassword": password})
		expectNotices("another password", "password_changed")
		b.Must("request_password_reset", fields{"email": b.Email})
		b.Must("reset_password", fields{"secret": emailedSecret(s, board.EmailReset, b.Email), "password": password})
		expectNotices("a reset", "password_changed")
		other.Must("sign_in", fields{"email": b.Email, "password": password})
		expectNotices("a browser from before the reset", "new_device")
		if got := s.Column("SELECT details FROM audit WHERE operation = 'sign_in' AND details LIKE '%newDevice%'"); len(got) != 2 {
			t.Errorf("got audit entries of new devices %q, want 2", got)
		}
	})
}

// A device cookie that another person planted in a browser is useless after the owner
// has signed in there.
func TestPlantedDeviceCookieIsUseless(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b, eve := member(s, "grace@example.com"), member(s, "eve@example.com")
		planted := eve.Cookies[deviceCookie]
		victim := s.Browser()
		victim.Cookies[deviceCookie] = planted
		victim.Must("sign_in", fields{"email": b.Email, "password": password})
		if victim.Cookies[deviceCookie] == planted || planted == "" {
			t.Errorf("got device cookie %q after %q was planted, want another one", victim.Cookies[deviceCookie], planted)
		}
		emails(s)
		eve.Must("sign_out", nil)
		eve.Must("sign_in", fields{"email": b.Email, "password": password})
		if got := notices(s); len(got) != 1 || got[0] != "new_device "+b.Email {
			t.Errorf("sign-in with the planted cookie: got notices %q, want one about a new device", got)
		}
		if found := s.Column("SELECT 'found' FROM known_devices WHERE hash IS NULL OR length(hash) <> 32"); len(found) != 0 {
			t.Error("a device is stored without a hash")
		}
	})
}

// Known devices are deleted when they expire or when the account is deleted.
func TestKnownDevicesAreDeleted(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b, eve := member(s, "grace@example.com"), member(s, "eve@example.com")
		b.Must("delete_account", nil)
		if got := s.Column("SELECT user_id FROM known_devices"); !slices.Equal(got, []string{eve.ID}) {
			t.Errorf("got devices of %q, want those of %q", got, []string{eve.ID})
		}
		s.Clock.Advance(401 * 24 * time.Hour)
		if _, err := app.Housekeep(t.Context(), s.DB, "test"); err != nil {
			t.Fatal(err)
		}
		if got := s.Column("SELECT user_id FROM known_devices"); len(got) != 0 {
			t.Errorf("after 401 days: got devices of %q, want none", got)
		}
	})
}
