package account_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/account"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// addPasskey registers a passkey on a new device for the signed-in person.
func addPasskey(b *apptest.Person, name string) (a *apptest.Authenticator, id string) {
	b.T.Helper()
	a = &apptest.Authenticator{}
	begin := b.Must("begin_passkey", nil)
	created := b.Must("finish_passkey",
		fields{"challengeId": begin.Text("challengeId"), "credential": a.Create(begin.Get("options")), "name": name})
	return a, created.ID()
}

// signChallenge returns a device's response to a new challenge.
func signChallenge(b *apptest.Person, a *apptest.Authenticator) fields {
	b.T.Helper()
	begin := b.Must("begin_passkey_sign_in", nil)
	return fields{"challengeId": begin.Text("challengeId"), "credential": a.Get(begin.Get("options"))}
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		begin := b.Must("begin_passkey", nil)
		if begin.Text("options.rp.id") != "cardwall.example.com" || begin.Text("options.user.name") != b.Email ||
			begin.Text("options.authenticatorSelection.residentKey") != "required" ||
			begin.Text("options.authenticatorSelection.userVerification") != "required" {
			t.Errorf("got registration options %s, want a required resident key and required user verification for %s", begin.Raw, b.Email)
		}
		laptop, id := addPasskey(b, "Laptop")
		phone, _ := addPasskey(b, "Phone")
		if a := b.Must("list_passkeys", nil); !slices.Equal(a.Each("name"), []string{"Phone", "Laptop"}) ||
			a.Get("1.lastUsedAt") != nil {
			t.Errorf("got passkeys %s, want Phone and Laptop, Laptop without a last use", a.Raw)
		}
		if a := b.Must("begin_passkey", nil); len(a.Get("options.excludeCredentials").([]any)) != 2 {
			t.Errorf("the options do not exclude the existing passkeys: %s", a.Raw)
		}

		c := s.Browser()
		in := signChallenge(c, laptop)
		if a := c.Must("finish_passkey_sign_in", in); a.Text("user.email") != b.Email || c.Secret() == "" {
			t.Errorf("signed in as %s, want %s with a session cookie", a.Raw, b.Email)
		}
		c.Must("get_session", nil)
		if a := b.Must("list_passkeys", nil); a.Get("1.lastUsedAt") == nil {
			t.Errorf("the use of the passkey was not recorded: %s", a.Raw)
		}
		expectRefused := func(what string, in fields) {
			t.Helper()
			d := s.Browser()
			if a := d.Call("finish_passkey_sign_in", in); a.Status != http.StatusUnauthorized ||
				a.Code != board.CodeUnauthenticated || d.Secret() != "" {
				t.Errorf("%s: got status %d, body %s; want 401 and no session", what, a.Status, a.Raw)
			}
		}
		expectRefused("a response that was already used", in)
		phone.FixedCounter = true
		in = signChallenge(c, phone)
		c.Must("finish_passkey_sign_in", in)
		expectRefused("a reused response of a passkey without a signature counter", in)
		old := signChallenge(c, laptop)
		s.Clock.Advance(5*time.Minute + time.Second)
		expectRefused("after five minutes", old)
		first, second := signChallenge(c, laptop), signChallenge(c, laptop)
		expectRefused("a response to another challenge", fields{"challengeId": first["challengeId"], "credential": second["credential"]})
		expectRefused("nonsense", fields{"challengeId": signChallenge(c, phone)["challengeId"], "credential": fields{"id": "x"}})
		laptop.Origin = "https://evil.example.com"
		expectRefused("a page of another site", signChallenge(c, laptop))
		laptop.Origin = ""
		laptop.Unverified = true
		expectRefused("a response without user verification", signChallenge(c, laptop))
		laptop.Unverified = false
		stranger := &apptest.Authenticator{}
		stranger.Create(begin.Get("options"))
		expectRefused("a passkey that is not registered", signChallenge(c, stranger))
		laptop.Counter = 0
		expectRefused("a copy of the key with a lower counter", signChallenge(c, laptop))
		laptop.Counter = 100
		c.Must("finish_passkey_sign_in", signChallenge(c, laptop))

		// A passkey confirms the person's identity, as the password does. Another person's
		// passkey does not.
		eve := member(s, "eve@example.com")
		s.Clock.Advance(board.RecentFor)
		eve.Refused(board.CodeForbidden, "begin_passkey", nil)
		a := eve.Refused(board.CodeForbidden, "confirm_sign_in", signChallenge(eve, phone))
		if strings.HasPrefix(a.Message, "Sign in again") {
			t.Errorf("another person's passkey: got %s, want a message other than \"Sign in again\"", a.Raw)
		}
		b.Must("confirm_sign_in", signChallenge(b, phone))
		eve.Must("confirm_sign_in", fields{"password": password})
		eve.Refused(board.CodeNotFound, "delete_passkey", fields{"passkeyId": id})
		b.Must("delete_passkey", fields{"passkeyId": id})
		expectRefused("a passkey that was deleted", signChallenge(c, laptop))
		c.Must("finish_passkey_sign_in", signChallenge(c, phone))

		// A challenge belongs to one person and can register only one key.
		begin = eve.Must("begin_passkey", nil)
		device := &apptest.Authenticator{}
		created := fields{"challengeId": begin.Text("challengeId"), "credential": device.Create(begin.Get("options"))}
		b.Refused(board.CodeNotFound, "finish_passkey", created)
		if a := eve.Must("finish_passkey", created); a.Text("name") != "Passkey" {
			t.Errorf("passkey without a name: got %s, want the name Passkey", a.Raw)
		}
		eve.Refused(board.CodeNotFound, "finish_passkey", created)
		begin = eve.Must("begin_passkey", nil)
		device.Unverified = true
		eve.Refused(board.CodeInvalidRequest, "finish_passkey",
			fields{"challengeId": begin.Text("challengeId"), "credential": device.Create(begin.Get("options"))})
		for range 19 {
			addPasskey(eve, "More")
		}
		eve.Refused(board.CodeLimitReached, "begin_passkey", nil)
	})
}

// Browsers support passkeys only over HTTPS and with a host name. They also support them
// at http://localhost.
func TestPasskeysRequireHTTPSAndHostName(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{
		"https://cards.example.com": true, "http://localhost:8080": true, "http://127.0.0.1:8080": false,
		"https://192.0.2.7": false, "http://cards.example.com": false,
	} {
		a, err := account.New(account.Options{BaseURL: base})
		if err != nil {
			t.Fatal(err)
		}
		if o, _ := a.GetSignInOptions(t.Context(), nil, account.Nothing{}); o.Passkeys != want {
			t.Errorf("%s: got passkeys %v, want %v", base, o.Passkeys, want)
		}
	}
}
