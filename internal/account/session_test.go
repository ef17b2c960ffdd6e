package account_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

func TestStolenSessionsEnd(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		otherServer := s.Node()
		stolen := func() *apptest.Person { // the same cookie in another browser, at another server
			thief := signIn(b, password)
			thief.Must("get_session", nil)
			thief = thief.At(otherServer)
			thief.Must("get_session", nil)
			return thief
		}
		thief := stolen()
		owner := *thief
		owner.Cookies = map[string]string{apptest.Cookie: thief.Secret()}
		owner.Must("sign_out", nil)
		requireSignedOut(t, "signed out", thief)

		thief = stolen()
		var id string
		list := b.Must("list_sessions", nil)
		for _, each := range list.Data.([]any) {
			e := each.(map[string]any)
			if e["current"] == false {
				id = e["id"].(string)
			} else if e["address"] != "192.0.2.1" || !strings.HasPrefix(e["userAgent"].(string), "Mozilla/") {
				t.Errorf("got current session %v, want address 192.0.2.1 and the user agent of the browser", e)
			}
		}
		eve := member(s, "eve@example.com")
		eve.Refused(board.CodeNotFound, "end_session", fields{"sessionId": id})
		b.Must("end_session", fields{"sessionId": id})
		requireSignedOut(t, "ended in the list", thief)

		thief = stolen()
		b.Must("change_password", fields{"password": password, "currentPassword": password})
		requireSignedOut(t, "the password was changed", thief)
		b.Must("get_session", nil) // the browser that changed the password stays signed in

		thief = stolen()
		b.Must("request_password_reset", fields{"email": b.Email})
		c := s.Browser()
		c.Must("reset_password", fields{"secret": emailedSecret(s, board.EmailReset, b.Email), "password": password})
		requireSignedOut(t, "the password was reset", thief)
		requireSignedOut(t, "the password was reset, in the first browser", b)
		c.Must("get_session", nil)

		thief = stolen()
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, b.ID) })
		requireSignedOut(t, "the account was deleted", thief)
	})
}

// Every page reads the session. A missing session is not an error.
func TestMissingSessionIsNoError(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		stranger := s.Browser()
		if a := stranger.Must("get_current_session", nil); a.Get("session") != nil {
			t.Errorf("without a session: got %s, want null", a.Raw)
		}
		b := member(s, "grace@example.com")
		if a := b.Must("get_current_session", nil); a.Text("session.user.id") != b.ID {
			t.Errorf("with a session: got %s, want the session of %s", a.Raw, b.ID)
		}
		other := signIn(b, password)
		b.Must("end_session", fields{"sessionId": other.Must("get_session", nil).Text("session.id")})
		s.Clock.Advance(time.Second)
		if a := other.Must("get_current_session", nil); a.Get("session") != nil {
			t.Errorf("with an ended session: got %s, want null", a.Raw)
		}
	})
}

// A page that one person has opened cannot change anything after another person has
// signed in with the same browser.
func TestPageOfAnotherPersonIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		from := func(user string) apptest.Response {
			return b.CallWith("update_profile", fields{"theme": "dark"}, http.Header{"X-User": {user}})
		}
		if a := from(b.ID); a.Status != http.StatusOK {
			t.Errorf("from the person's own page: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		if a := from(s.Person("Ada").ID); a.Status != http.StatusUnauthorized || a.Code != board.CodeUnauthenticated {
			t.Errorf("from another person's page: got status %d, body %s; want 401", a.Status, a.Raw)
		}
	})
}

// An invalid cookie authenticates nobody. Nor do two cookies, even if one of them is valid.
func TestInvalidCookiesAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		good := b.Secret()
		flipped := "A" + good[1:]
		if flipped == good {
			flipped = "B" + good[1:]
		}
		for what, cookie := range map[string]string{
			"no cookie": "", "an empty cookie": apptest.Cookie + "=", "another secret": apptest.Cookie + "=" + flipped,
			"a truncated secret":            apptest.Cookie + "=" + good[:42],
			"the cookie name of plain HTTP": "cardwall=" + good,
			"two cookies":                   apptest.Cookie + "=" + good + "; " + apptest.Cookie + "=" + flipped,
		} {
			nobody := apptest.Person{Service: s}
			if a := nobody.CallWith("get_session", nil, http.Header{"Cookie": {cookie}}); a.Status != http.StatusUnauthorized {
				t.Errorf("%s: got status %d, body %s; want 401", what, a.Status, a.Raw)
			}
		}
		// A request with an invalid Authorization header is refused despite a valid cookie.
		if a := b.CallWith("get_me", nil,
			http.Header{"Authorization": {"Bearer nonsense"}}); a.Status != http.StatusUnauthorized {
			t.Errorf("a bad token and a good cookie: got status %d, body %s; want 401", a.Status, a.Raw)
		}
		b.Must("get_me", nil)
	})
}

func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		idle, busy := member(s, "grace@example.com"), member(s, "eve@example.com")
		const day = 24 * time.Hour
		start := s.Clock.Now()
		waitForUse := func() { // the use of a session is written in the background
			s.T.Helper()
			apptest.Eventually(s.T, "the use of the session is recorded", func() bool {
				return len(s.Column("SELECT 'yes' FROM sessions WHERE user_id = $1 AND last_used_at > $2", busy.ID,
					board.InstantOf(s.Clock.Now().Add(-day)))) > 0
			})
		}
		for range 4 {
			s.Clock.Advance(20 * day)
			busy.Must("get_session", nil)
			waitForUse()
		}
		requireSignedOut(t, "unused for 30 days", idle)
		s.Clock.Advance(start.Add(board.SessionLifetime - time.Minute).Sub(s.Clock.Now()))
		busy.Must("get_session", nil)
		s.Clock.Advance(2 * time.Minute)
		requireSignedOut(t, "90 days old", busy)
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { _, err := tx.PurgeAccounts(ctx, 100); return err })
		if sessions := s.Column("SELECT id FROM sessions"); len(sessions) != 0 {
			t.Errorf("got %d old sessions, want 0", len(sessions))
		}
	})
}

func TestConfirmedSignInIsRecent(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b, eve := member(s, "grace@example.com"), member(s, "eve@example.com")
		in := fields{"name": "Deploy", "scopes": []string{"write"}}
		b.Must("create_token", in)
		expireRecentSignIn(s)
		a := b.Refused(board.CodeForbidden, "create_token", in)
		if a.Status != http.StatusForbidden || !strings.HasPrefix(a.Message, "Sign in again") {
			t.Errorf("without a recent sign-in: got %s, want a message that begins with \"Sign in again\"", a.Raw)
		}
		if a := b.Refused(board.CodeForbidden, "confirm_sign_in",
			fields{"password": "wrong horse battery"}); strings.HasPrefix(a.Message, "Sign in again") {
			t.Errorf("a wrong password: got %s, want a message other than \"Sign in again\"", a.Raw)
		}
		b.Refused(board.CodeInvalidRequest, "confirm_sign_in", fields{})
		b.Refused(board.CodeForbidden, "create_token", in)
		until, _ := time.Parse(time.RFC3339,
			b.Must("confirm_sign_in", fields{"password": password}).Text("session.recentUntil"))
		if wait := until.Sub(s.Clock.Now()); wait < 9*time.Minute || wait > 10*time.Minute {
			t.Errorf("the sign-in counts as recent for %s, want 9 to 10 minutes", wait)
		}
		b.Must("create_token", in)
		b.At(s.Node()).Must("create_token", in)
		eve.Refused(board.CodeForbidden, "create_token", in) // her sign-in is still old
	})
}
