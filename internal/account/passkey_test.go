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
	begun := b.Must("begin_passkey", nil)
	made := b.Must("finish_passkey",
		fields{"challengeId": begun.Text("challengeId"), "credential": a.Create(begun.Get("options")), "name": name})
	return a, made.ID()
}

// asked returns a device's response to a new challenge.
func asked(b *apptest.Person, a *apptest.Authenticator) fields {
	b.T.Helper()
	begun := b.Must("begin_passkey_sign_in", nil)
	return fields{"challengeId": begun.Text("challengeId"), "credential": a.Get(begun.Get("options"))}
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		begun := b.Must("begin_passkey", nil)
		if begun.Text("options.rp.id") != "cardwall.example.com" || begun.Text("options.user.name") != b.Email ||
			begun.Text("options.authenticatorSelection.residentKey") != "required" ||
			begun.Text("options.authenticatorSelection.userVerification") != "required" {
			t.Errorf("the registration options are %s", begun.Raw)
		}
		laptop, id := addPasskey(b, "Laptop")
		phone, _ := addPasskey(b, "Phone")
		if a := b.Must("list_passkeys", nil); !slices.Equal(a.Each("name"), []string{"Phone", "Laptop"}) ||
			a.Get("1.lastUsedAt") != nil {
			t.Errorf("the passkeys are %s", a.Raw)
		}
		if a := b.Must("begin_passkey", nil); len(a.Get("options.excludeCredentials").([]any)) != 2 {
			t.Errorf("the options do not exclude the existing passkeys: %s", a.Raw)
		}

		c := s.Browser()
		in := asked(c, laptop)
		if a := c.Must("finish_passkey_sign_in", in); a.Text("user.email") != b.Email || c.Secret() == "" {
			t.Errorf("signed in as %s", a.Raw)
		}
		c.Must("get_session", nil)
		if a := b.Must("list_passkeys", nil); a.Get("1.lastUsedAt") == nil {
			t.Errorf("its use was not recorded: %s", a.Raw)
		}
		refuse := func(what string, in fields) {
			t.Helper()
			d := s.Browser()
			if a := d.Call("finish_passkey_sign_in", in); a.Status != http.StatusUnauthorized ||
				a.Code != board.CodeUnauthenticated || d.Secret() != "" {
				t.Errorf("%s: got status %d, body %s", what, a.Status, a.Raw)
			}
		}
		refuse("a response that was already used", in)
		phone.FixedCounter = true
		in = asked(c, phone)
		c.Must("finish_passkey_sign_in", in)
		refuse("a reused response of a passkey without a signature counter", in)
		old := asked(c, laptop)
		s.Clock.Advance(5*time.Minute + time.Second)
		refuse("after five minutes", old)
		one, two := asked(c, laptop), asked(c, laptop)
		refuse("a response to another challenge", fields{"challengeId": one["challengeId"], "credential": two["credential"]})
		refuse("nonsense", fields{"challengeId": asked(c, phone)["challengeId"], "credential": fields{"id": "x"}})
		laptop.Origin = "https://evil.example.com"
		refuse("a page of another site", asked(c, laptop))
		laptop.Origin = ""
		laptop.Unverified = true
		refuse("a response without user verification", asked(c, laptop))
		laptop.Unverified = false
		stranger := &apptest.Authenticator{}
		stranger.Create(begun.Get("options"))
		refuse("a passkey that is not registered", asked(c, stranger))
		laptop.Counter = 0
		refuse("a copy of the key, whose counter is behind", asked(c, laptop))
		laptop.Counter = 100
		c.Must("finish_passkey_sign_in", asked(c, laptop))

		// A passkey confirms the person's identity, as the password does. Another person's
		// passkey does not.
		eve := member(s, "eve@example.com")
		s.Clock.Advance(board.RecentFor)
		eve.Refused(board.CodeForbidden, "begin_passkey", nil)
		a := eve.Refused(board.CodeForbidden, "confirm_sign_in", asked(eve, phone))
		if strings.HasPrefix(a.Message, "Sign in again") {
			t.Errorf("another person's passkey: %s", a.Raw)
		}
		b.Must("confirm_sign_in", asked(b, phone))
		eve.Must("confirm_sign_in", fields{"password": password})
		eve.Refused(board.CodeNotFound, "delete_passkey", fields{"passkeyId": id})
		b.Must("delete_passkey", fields{"passkeyId": id})
		refuse("a passkey that was deleted", asked(c, laptop))
		c.Must("finish_passkey_sign_in", asked(c, phone))

		// A challenge belongs to one person and registers a key once.
		begun = eve.Must("begin_passkey", nil)
		device := &apptest.Authenticator{}
		made := fields{"challengeId": begun.Text("challengeId"), "credential": device.Create(begun.Get("options"))}
		b.Refused(board.CodeNotFound, "finish_passkey", made)
		if a := eve.Must("finish_passkey", made); a.Text("name") != "Passkey" {
			t.Errorf("a passkey without a name is %s", a.Raw)
		}
		eve.Refused(board.CodeNotFound, "finish_passkey", made)
		begun = eve.Must("begin_passkey", nil)
		device.Unverified = true
		eve.Refused(board.CodeInvalidRequest, "finish_passkey",
			fields{"challengeId": begun.Text("challengeId"), "credential": device.Create(begun.Get("options"))})
		for range 19 {
			addPasskey(eve, "More")
		}
		eve.Refused(board.CodeLimitReached, "begin_passkey", nil)
	})
}

// Browsers support passkeys on https and with a host name only.
func TestPasskeysNeedHTTPSAndAName(t *testing.T) {
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
			t.Errorf("%s: %v, want %v", base, o.Passkeys, want)
		}
	}
}
