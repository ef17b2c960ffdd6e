package account_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/account"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func TestLinksInEmailsExpire(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := s.Browser()
		signUp(s, b, "grace@example.com")
		expired := emailedSecret(s, board.EmailVerify, "grace@example.com")
		s.Clock.Advance(board.VerifyLifetime)
		b.Refused(board.CodeInvalidRequest, "verify_email", fields{"secret": expired})
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
		// The second link was sent before the password changed.
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

// The database contains no session secret, link secret, token or password in plain text.
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
		t.Fatal("the database files do not contain the address, so the test reads the wrong files")
	}
	for what, secret := range map[string]string{"session": b.Secret(), "verification link": verify,
		"reset link": reset, "password": password, "token": token} {
		raw, err := base64.RawURLEncoding.DecodeString(secret)
		if secret == "" || bytes.Contains(data, []byte(secret)) ||
			what == "session" && (err != nil || bytes.Contains(data, raw)) {
			t.Errorf("the database contains the %s in plain text", what)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := member(s, "grace@example.com")
		here := b.Must("create_workspace", fields{"name": "Here"}).ID()
		there := b.Must("create_workspace", fields{"name": "There"}).ID()
		in := fields{"name": "Deploy", "scopes": []string{"write"}, "workspaceId": here,
			"expiresAt": board.InstantOf(s.Clock.Now().Add(time.Hour))}
		created, again := b.Keyed("k", "create_token", in), b.Keyed("k", "create_token", in)
		secret := created.Text("secret")
		if _, ok := board.TokenHash(secret); !ok || created.Status != http.StatusCreated ||
			created.Text("lastFour") != secret[len(secret)-4:] || !bytes.Equal(created.Raw, again.Raw) ||
			again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("creating the token returned %s, then %s; want the same response twice", created.Raw, again.Raw)
		}
		if stored := s.Column("SELECT answer FROM idempotency WHERE key = 'k'"); strings.Contains(strings.Join(stored, ""),
			secret[4:20]) {
			t.Error("the stored idempotent response contains the token")
		}
		program := &apptest.Person{Service: s, Token: secret}
		if a := program.Must("list_workspaces", nil); !slices.Equal(a.Each("id"), []string{here}) {
			t.Errorf("list_workspaces with the token returned %s, want only %s", a.Raw, here)
		}
		program.Refused(board.CodeNotFound, "get_workspace", fields{"workspaceId": there})
		program.Must("create_board", fields{"workspaceId": here, "name": "x"})
		program.Refused(board.CodeInsufficientScope, "list_webhooks", fields{"workspaceId": here})
		list := b.Must("list_tokens", nil)
		if strings.Contains(string(list.Raw), secret) || list.Text("0.id") != created.ID() ||
			list.Text("0.workspaceId") != here || list.Get("0.secret") != nil {
			t.Errorf("got tokens %s, want %s first, without its secret", list.Raw, created.ID())
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
				t.Errorf("%s: got status %d, body %s; want invalid_request", what, a.Status, a.Raw)
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
		password string
		personal []string
	}{
		"short": {"123456789", nil}, "long": {strings.Repeat("x1", 501), nil}, "common": {"Password123!", nil},
		"a season and a year": {"Summer2026!", nil}, "almost one character": {"aaaaaaaaaab", nil},
		"common, with spaces": {"correct horse battery staple", nil},
		"the address":         {"Grace.Hopper@example.com", []string{"grace.hopper@example.com"}},
		"before the @":        {"grace.hopper", []string{"grace.hopper@example.com"}},
		"the name":            {"Grace Hopper", []string{"x@example.com", "grace hopper"}},
		"one character":       {"zzzzzzzzzzzzzz", nil},
	} {
		if err := account.CheckPassword(c.password, c.personal...); !board.IsCode(err, board.CodeInvalidRequest) ||
			!strings.HasPrefix(err.Error(), "invalid_request: password ") {
			t.Errorf("%s: got error %v, want invalid_request", what, err)
		}
	}
	for _, good := range []string{"ten chars!", "tulip harbor 47" + strings.Repeat("x", 985), "пароль из слов",
		"grace hopper likes boats"} {
		if err := account.CheckPassword(good, "grace@example.com", "Grace Hopper"); err != nil {
			t.Errorf("%q: got error %v, want none", good, err)
		}
	}
	first, err := account.HashPassword(password)
	second, err2 := account.HashPassword(password)
	if err != nil || err2 != nil || first == second || !strings.HasPrefix(first, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("got hashes %s and %s, want two different Argon2id hashes", first, second)
	}
}
