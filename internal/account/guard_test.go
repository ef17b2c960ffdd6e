package account_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cardwall/internal/account"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// same fails the test unless two responses are equal, apart from what identifies the
// request.
func same(t *testing.T, what string, a, b apptest.Answer) {
	t.Helper()
	if a.Status != b.Status || !bytes.Equal(a.Raw, b.Raw) {
		t.Errorf("%s: got status %d, body %s, else %d %s", what, a.Status, a.Raw, b.Status, b.Raw)
	}
	for name := range a.Header {
		if name != "X-Request-Id" && !strings.HasPrefix(name, "X-Ratelimit") &&
			!slices.Equal(a.Header[name], b.Header[name]) {
			t.Errorf("%s: the header %s is %q, else %q", what, name, a.Header[name], b.Header[name])
		}
	}
	if len(a.Header) != len(b.Header) {
		t.Errorf("%s: the headers are %v, else %v", what, a.Header, b.Header)
	}
}

// Responses do not reveal whether an address has an account. The address's owner
// learns it by email.
func TestResponsesDoNotRevealAccounts(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		const known, unknown, bare = "grace@example.com", "eve@example.com", "ada@example.com"
		member(s, known)
		s.Person("Ada") // without a password
		kinds := func() (out []string) {
			for _, l := range emails(s) {
				out = append(out, string(l.Kind)+" "+l.To)
			}
			slices.Sort(out)
			return out
		}
		for _, c := range []struct {
			operation string
			in        func(email string) fields
			emails    []string
		}{
			{"sign_up", func(email string) fields { return fields{"email": email, "name": "X", "password": another} },
				[]string{"exists " + bare, "exists " + known, "verify " + unknown}},
			{"request_password_reset", func(email string) fields {
				return fields{"email": email}
			}, []string{"reset " + bare, "reset " + known}},
			{"sign_in", func(email string) fields { return fields{"email": email, "password": "wrong horse battery"} }, nil},
		} {
			first := s.Browser().Call(c.operation, c.in(known))
			for _, email := range []string{unknown, bare} {
				same(t, c.operation+" of "+email, s.Browser().Call(c.operation, c.in(email)), first)
			}
			if got := kinds(); !slices.Equal(got, c.emails) {
				t.Errorf("%s wrote the emails %q, want %q", c.operation, got, c.emails)
			}
		}
		if a := s.Browser().Call("sign_in",
			fields{"email": "no address", "password": "wrong horse battery"}); a.Status != http.StatusUnauthorized {
			t.Errorf("an invalid address: got status %d, body %s; want 401", a.Status, a.Raw)
		}
		// Signing up again does not change an existing account.
		s.Browser().Must("sign_in", fields{"email": known, "password": password})
	})
}

// A password is hashed for every address, with or without an account, so that the
// response time reveals nothing.
func TestUnknownAddressTakesAsLong(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	member(s, "grace@example.com")
	s.Person("Ada")
	const known, unknown, bare = "grace@example.com", "eve@example.com", "ada@example.com"
	best := map[string]time.Duration{}
	alike := func() bool { return min(best[unknown], best[bare]) >= best[known]/4 }
	// alternate, because the machine may be busy for a while
	for round := 1; round <= 5 || round <= 50 && !alike(); round++ {
		for _, email := range []string{known, unknown, bare} {
			begin := time.Now()
			s.Browser().Call("sign_in", fields{"email": email, "password": "wrong horse battery"})
			if took := time.Since(begin); round == 1 || took < best[email] {
				best[email] = took
			}
		}
	}
	if !alike() {
		t.Errorf("an account with a password took %s, one without %s, an address without one %s", best[known], best[bare],
			best[unknown])
	}
}

// The number of emails that others can request to an address is limited.
func TestEmailsToAnAddressAreLimited(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		sent := 0
		for range 12 {
			s.Browser().Must("request_password_reset", fields{"email": b.Email})
			signUp(s, s.Browser(), "eve@example.com")
			sent += len(emails(s))
		}
		if sent != 10 {
			t.Errorf("%d emails left, want 5 to each", sent)
		}
		s.Clock.Advance(time.Hour)
		s.Browser().Must("request_password_reset", fields{"email": b.Email})
		emailedSecret(s, board.EmailReset, b.Email)
	})
}

func TestLinksInEmailsExpire(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := s.Browser()
		signUp(s, b, "grace@example.com")
		late := emailedSecret(s, board.EmailVerify, "grace@example.com")
		s.Clock.Advance(board.VerifyLifetime)
		b.Refused(board.CodeInvalidRequest, "verify_email", fields{"secret": late})
		grace := member(s, "grace@example.com")

		reset := func() string {
			s.Browser().Must("request_password_reset", fields{"email": grace.Email})
			return emailedSecret(s, board.EmailReset, grace.Email)
		}
		first, second := reset(), reset()
		b.Refused(board.CodeInvalidRequest, "reset_password", fields{"secret": "nonsense", "password": another})
		b.Refused(board.CodeInvalidRequest, "verify_email", fields{"secret": first}) // the link is for another purpose
		b.Refused(board.CodeInvalidRequest, "reset_password", fields{"secret": first, "password": "short"})
		b.Must("reset_password", fields{"secret": first, "password": another})
		b.Refused(board.CodeInvalidRequest, "reset_password", fields{"secret": first, "password": password})
		// was sent before the password changed
		b.Refused(board.CodeInvalidRequest, "reset_password", fields{"secret": second, "password": password})
		third := reset()
		s.Clock.Advance(board.ResetLifetime)
		b.Refused(board.CodeInvalidRequest, "reset_password", fields{"secret": third, "password": password})
		s.Browser().Must("sign_in", fields{"email": grace.Email, "password": another})

		// If two people sign up with the same address, the first to verify it gets the
		// account.
		one, two := s.Browser(), s.Browser()
		signUp(s, one, "twice@example.com")
		a := emailedSecret(s, board.EmailVerify, "twice@example.com")
		signUp(s, two, "twice@example.com")
		c := emailedSecret(s, board.EmailVerify, "twice@example.com")
		two.Must("verify_email", fields{"secret": c})
		one.Refused(board.CodeInvalidRequest, "verify_email", fields{"secret": a})
	})
}

// The database contains no session secret, link or password in plain text.
func TestSecretsAreHashedAtRest(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cardwall.db")
	s := apptest.New(t, file, apptest.Options{})
	b := s.Browser()
	signUp(s, b, "grace@example.com")
	verify := emailedSecret(s, board.EmailVerify, "grace@example.com")
	b.Must("verify_email", fields{"secret": verify})
	b.Must("request_password_reset", fields{"email": "grace@example.com"})
	reset := emailedSecret(s, board.EmailReset, "grace@example.com")
	token := b.Keyed("k", "create_token", fields{"name": "Deploy", "scopes": []string{"write"}}).Text("secret")
	var data []byte
	for _, name := range []string{file, file + "-wal"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, text...)
	}
	if !bytes.Contains(data, []byte("grace@example.com")) {
		t.Fatal("the database files do not contain the address, so the test is looking at the wrong files")
	}
	for what, secret := range map[string]string{"session": b.Secret(), "link of verification": verify,
		"link of a reset": reset, "password": password, "token": token} {
		raw, err := base64.RawURLEncoding.DecodeString(secret)
		if secret == "" || bytes.Contains(data, []byte(secret)) ||
			what == "session" && (err != nil || bytes.Contains(data, raw)) {
			t.Errorf("the %s is in the database", what)
		}
	}
}

func TestStolenSessionsEnd(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		elsewhere := s.Node()
		stolen := func() *apptest.Person { // the same cookie in another browser, at another server
			thief := signIn(b, password)
			thief.Must("get_session", nil)
			thief = thief.At(elsewhere)
			thief.Must("get_session", nil)
			return thief
		}
		thief := stolen()
		owner := *thief
		owner.Cookies = map[string]string{apptest.Cookie: thief.Secret()}
		owner.Must("sign_out", nil)
		out(t, "signed out", thief)

		thief = stolen()
		var id string
		list := b.Must("list_sessions", nil)
		for _, each := range list.Data.([]any) {
			e := each.(map[string]any)
			if e["current"] == false {
				id = e["id"].(string)
			} else if e["address"] != "192.0.2.1" || !strings.HasPrefix(e["userAgent"].(string), "Mozilla/") {
				t.Errorf("the current session is listed as %v", e)
			}
		}
		eve := member(s, "eve@example.com")
		eve.Refused(board.CodeNotFound, "end_session", fields{"sessionId": id})
		b.Must("end_session", fields{"sessionId": id})
		out(t, "ended in the list", thief)

		thief = stolen()
		b.Must("change_password", fields{"password": password, "currentPassword": password})
		out(t, "the password was changed", thief)
		b.Must("get_session", nil) // the browser that changed the password stays signed in

		thief = stolen()
		b.Must("request_password_reset", fields{"email": b.Email})
		c := s.Browser()
		c.Must("reset_password", fields{"secret": emailedSecret(s, board.EmailReset, b.Email), "password": password})
		out(t, "the password was reset", thief)
		out(t, "the password was reset, in the first browser", b)
		c.Must("get_session", nil)

		thief = stolen()
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, b.ID) })
		out(t, "the account is gone", thief)
	})
}

// Every page asks for the session. The absence of one is not an error.
func TestMissingSessionIsNoError(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		stranger := s.Browser()
		if a := stranger.Must("get_current_session", nil); a.Get("session") != nil {
			t.Errorf("without a session: %s", a.Raw)
		}
		b := member(s, "grace@example.com")
		if a := b.Must("get_current_session", nil); a.Text("session.user.id") != b.ID {
			t.Errorf("with a session: %s", a.Raw)
		}
		other := signIn(b, password)
		b.Must("end_session", fields{"sessionId": other.Must("get_session", nil).Text("session.id")})
		s.Clock.Advance(time.Second)
		if a := other.Must("get_current_session", nil); a.Get("session") != nil {
			t.Errorf("with an ended session: %s", a.Raw)
		}
	})
}

// A page that one person opened changes nothing after another person has signed in
// with the same browser.
func TestPageOfAnotherPersonIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		from := func(user string) apptest.Answer {
			return b.CallWith("update_profile", fields{"theme": "dark"}, http.Header{"X-User": {user}})
		}
		if a := from(b.ID); a.Status != http.StatusOK {
			t.Errorf("from the person's own page: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		if a := from(s.Person("Ada").ID); a.Status != http.StatusUnauthorized || a.Code != board.CodeUnauthenticated {
			t.Errorf("from another person's page: got status %d, body %s", a.Status, a.Raw)
		}
	})
}

// An invalid cookie, or one of two cookies, authenticates nobody.
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
			"none": "", "an empty one": apptest.Cookie + "=", "another": apptest.Cookie + "=" + flipped,
			"a truncated one":        apptest.Cookie + "=" + good[:42],
			"the name of plain HTTP": "cardwall=" + good,
			"two":                    apptest.Cookie + "=" + good + "; " + apptest.Cookie + "=" + flipped,
		} {
			nobody := apptest.Person{Service: s}
			if a := nobody.CallWith("get_session", nil, http.Header{"Cookie": {cookie}}); a.Status != http.StatusUnauthorized {
				t.Errorf("%s: got status %d, body %s; want 401", what, a.Status, a.Raw)
			}
		}
		// A cookie does not make up for an Authorization header without a valid token.
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
		begun := s.Clock.Now()
		touched := func() { // the use of a session is written in the background
			s.T.Helper()
			for range 1000 {
				if slices.Contains(s.Column("SELECT 'yes' FROM sessions WHERE user_id = $1 AND last_used_at > $2", busy.ID,
					board.InstantOf(s.Clock.Now().Add(-day))), "yes") {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			s.T.Fatal("the use of a session was not recorded")
		}
		for range 4 {
			s.Clock.Advance(20 * day)
			busy.Must("get_session", nil)
			touched()
		}
		out(t, "unused for 30 days", idle)
		s.Clock.Advance(begun.Add(board.SessionLifetime - time.Minute).Sub(s.Clock.Now()))
		busy.Must("get_session", nil)
		s.Clock.Advance(2 * time.Minute)
		out(t, "90 days old", busy)
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { _, err := tx.PurgeAccounts(ctx); return err })
		if left := s.Column("SELECT id FROM sessions"); len(left) != 0 {
			t.Errorf("%d old sessions are kept, want 0", len(left))
		}
	})
}

func TestConfirmedSignInIsRecent(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b, eve := member(s, "grace@example.com"), member(s, "eve@example.com")
		in := fields{"name": "Deploy", "scopes": []string{"write"}}
		b.Must("create_token", in)
		old(s)
		a := b.Refused(board.CodeForbidden, "create_token", in)
		if a.Status != http.StatusForbidden || !strings.HasPrefix(a.Message, "Sign in again") {
			t.Errorf("the refusal is %s", a.Raw)
		}
		if a := b.Refused(board.CodeForbidden, "confirm_sign_in",
			fields{"password": "wrong horse battery"}); strings.HasPrefix(a.Message, "Sign in again") {
			t.Errorf("a wrong password: %s", a.Raw)
		}
		b.Refused(board.CodeInvalidRequest, "confirm_sign_in", fields{})
		b.Refused(board.CodeForbidden, "create_token", in)
		until, _ := time.Parse(time.RFC3339,
			b.Must("confirm_sign_in", fields{"password": password}).Text("session.recentUntil"))
		if wait := until.Sub(s.Clock.Now()); wait < 9*time.Minute || wait > 10*time.Minute {
			t.Errorf("the sign-in counts as recent for %s", wait)
		}
		b.Must("create_token", in)
		b.At(s.Node()).Must("create_token", in)
		eve.Refused(board.CodeForbidden, "create_token", in) // her sign-in is still old
	})
}

// limitedTo repeats a call until it is refused, and fails unless the given number of
// calls succeeded first.
func limitedTo(t *testing.T, most int, call func(i int) apptest.Answer) {
	t.Helper()
	for i := range most + 1 {
		a := call(i)
		wait, _ := strconv.Atoi(a.Header.Get("Retry-After"))
		if refused := a.Status == http.StatusTooManyRequests && a.Code == board.CodeRateLimited &&
			wait > 0; refused != (i == most) {
			t.Fatalf("attempt %d: got status %d, body %s", i+1, a.Status, a.Raw)
		}
	}
}

func TestGuessingIsLimited(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		b := member(s, "grace@example.com")
		guess := func(email, from, word string) apptest.Answer {
			p := s.Browser()
			p.From = from + ":1234"
			return p.Call("sign_in", fields{"email": email, "password": word})
		}
		const wrong = "wrong horse battery"
		limitedTo(t, 10, func(int) apptest.Answer { return guess("grace@example.com", "198.51.100.1", wrong) })
		if a := guess("GRACE@example.com", "198.51.100.1", password); a.Status != http.StatusTooManyRequests {
			t.Errorf("the right password after ten wrong ones: got status %d, body %s; want 429", a.Status, a.Raw)
		}
		if a := guess("grace@example.com", "198.51.100.2", password); a.Status != http.StatusOK {
			t.Errorf("the person, from another network: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		// An address without an account has the same limit.
		limitedTo(t, 10, func(int) apptest.Answer { return guess("eve@example.com", "198.51.100.3", wrong) })
		// In IPv6, a network is a /64.
		limitedTo(t, 10, func(i int) apptest.Answer {
			return guess("eve@example.com", fmt.Sprintf("[2001:db8::%x]", i), wrong)
		})
		// Many accounts from one network.
		limitedTo(t, 50, func(i int) apptest.Answer {
			return guess(fmt.Sprintf("p%d@example.com", i), "198.51.100.4", wrong)
		})
		s.Clock.Advance(15 * time.Minute)
		if a := guess("grace@example.com", "198.51.100.1", password); a.Status != http.StatusOK {
			t.Errorf("after a quarter of an hour: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		// Correct passwords are not limited.
		for range 12 {
			if a := guess("grace@example.com", "198.51.100.1", password); a.Status != http.StatusOK {
				t.Fatalf("sign-in with the right password, repeated: got status %d, body %s; want 200", a.Status, a.Raw)
			}
		}
		// A stolen session cannot be used to guess the password.
		limitedTo(t, 10, func(int) apptest.Answer { return b.Call("confirm_sign_in", fields{"password": wrong}) })
	})
}

func TestEmailsAndPagesAreLimited(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		limitedTo(t, 30, func(i int) apptest.Answer {
			return s.Browser().Call("request_password_reset", fields{"email": fmt.Sprintf("p%d@example.com", i)})
		})
		s.Clock.Advance(time.Minute)
		limitedTo(t, 120, func(int) apptest.Answer { return s.Browser().Call("get_sign_in_options", nil) })
		s.Clock.Advance(time.Hour)
		b := member(s, "grace@example.com") // without a plan, or on free, a program gets 60 a minute
		if a := b.Must("get_session", nil); a.Header.Get("X-Ratelimit-Limit") != "1200" {
			t.Errorf("a page has the limit %s, want 1200", a.Header.Get("X-Ratelimit-Limit"))
		}
		limitedTo(t, 1199, func(int) apptest.Answer { return b.Call("get_me", nil) })
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		here := b.Must("create_workspace", fields{"name": "Here"}).ID()
		there := b.Must("create_workspace", fields{"name": "There"}).ID()
		in := fields{"name": "Deploy", "scopes": []string{"write"}, "workspaceId": here,
			"expiresAt": board.InstantOf(s.Clock.Now().Add(time.Hour))}
		made, again := b.Keyed("k", "create_token", in), b.Keyed("k", "create_token", in)
		secret := made.Text("secret")
		if _, ok := board.TokenHash(secret); !ok || made.Status != http.StatusCreated ||
			made.Text("lastFour") != secret[len(secret)-4:] || !bytes.Equal(made.Raw, again.Raw) ||
			again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("creating the token returned %s, then %s", made.Raw, again.Raw)
		}
		if kept := s.Column("SELECT answer FROM idempotency WHERE key = 'k'"); strings.Contains(strings.Join(kept, ""),
			secret[4:20]) {
			t.Error("the stored idempotent response contains the token")
		}
		program := &apptest.Person{Service: s, Token: secret}
		if a := program.Must("list_workspaces", nil); !slices.Equal(a.Each("id"), []string{here}) {
			t.Errorf("list_workspaces with the token returned %s", a.Raw)
		}
		program.Refused(board.CodeNotFound, "get_workspace", fields{"workspaceId": there})
		program.Must("create_board", fields{"workspaceId": here, "name": "x"})
		program.Refused(board.CodeInsufficientScope, "list_webhooks", fields{"workspaceId": here})
		list := b.Must("list_tokens", nil)
		if strings.Contains(string(list.Raw), secret) || list.Text("0.id") != made.ID() ||
			list.Text("0.workspaceId") != here || list.Get("0.secret") != nil {
			t.Errorf("the list is %s", list.Raw)
		}
		s.Clock.Advance(time.Hour)
		if a := program.Call("list_workspaces", nil); a.Status != http.StatusUnauthorized {
			t.Errorf("an expired token: got status %d, body %s; want 401", a.Status, a.Raw)
		}
		b.Must("confirm_sign_in", fields{"password": password})
		for what, bad := range map[string]fields{
			"no such scope": {"name": "x", "scopes": []string{"owner"}},
			"in the past":   {"name": "x", "scopes": []string{}, "expiresAt": "2020-01-01T00:00:00.000Z"},
			"no name":       {"name": " ", "scopes": []string{}},
		} {
			if a := b.Call("create_token", bad); a.Code != board.CodeInvalidRequest {
				t.Errorf("%s: got status %d, body %s", what, a.Status, a.Raw)
			}
		}
		b.Refused(board.CodeNotFound, "create_token",
			fields{"name": "x", "scopes": []string{}, "workspaceId": s.Person("Ada").Workspace("Secret", board.PlanFree)})

		second := b.Must("create_token", fields{"name": "Read", "scopes": []string{}})
		member(s, "eve@example.com").Refused(board.CodeNotFound, "revoke_token", fields{"tokenId": second.ID()})
		program.Token = second.Text("secret")
		program.Must("get_me", nil)
		b.Must("revoke_token", fields{"tokenId": second.ID()})
		s.Clock.Advance(time.Second)
		if a := program.Call("get_me", nil); a.Status != http.StatusUnauthorized {
			t.Errorf("a revoked token: got status %d, body %s; want 401", a.Status, a.Raw)
		}
	})
}

func TestWeakPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		word string
		own  []string
	}{
		"short": {"123456789", nil}, "long": {strings.Repeat("x1", 501), nil}, "common": {"Password123!", nil},
		"of the season": {"Summer2026!", nil}, "a run": {"aaaaaaaaaab", nil},
		"common, with spaces": {"correct horse battery staple", nil},
		"the address":         {"Grace.Hopper@example.com", []string{"grace.hopper@example.com"}},
		"before the @":        {"grace.hopper", []string{"grace.hopper@example.com"}},
		"the name":            {"Grace Hopper", []string{"x@example.com", "grace hopper"}},
		"one character":       {"zzzzzzzzzzzzzz", nil},
	} {
		if err := account.CheckPassword(c.word, c.own...); !board.IsCode(err, board.CodeInvalidRequest) ||
			!strings.HasPrefix(err.Error(), "invalid_request: password ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, good := range []string{"ten chars!", "tulip harbor 47" + strings.Repeat("x", 985), "пароль из слов",
		"grace hopper likes boats"} {
		if err := account.CheckPassword(good, "grace@example.com", "Grace Hopper"); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	one, err := account.HashPassword(password)
	two, err2 := account.HashPassword(password)
	if err != nil || err2 != nil || one == two || !strings.HasPrefix(one, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("two hashes of one password are %s and %s", one, two)
	}
}
