package account_test

import (
	"bytes"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
)

// checkSame reports an error unless two responses are equal, apart from request ids and
// rate limits.
func checkSame(t *testing.T, what string, got, want apptest.Response) {
	t.Helper()
	if got.Status != want.Status || !bytes.Equal(got.Raw, want.Raw) {
		t.Errorf("%s: got status %d, body %s; want %d, %s", what, got.Status, got.Raw, want.Status, want.Raw)
	}
	for name := range got.Header {
		if name != "X-Request-Id" && !strings.HasPrefix(name, "X-Ratelimit") &&
			!slices.Equal(got.Header[name], want.Header[name]) {
			t.Errorf("%s: got header %s %q, want %q", what, name, got.Header[name], want.Header[name])
		}
	}
	if len(got.Header) != len(want.Header) {
		t.Errorf("%s: got headers %v, want %v", what, got.Header, want.Header)
	}
}

// Responses do not reveal whether an address has an account. Only an email to the
// address does.
func TestResponsesDoNotRevealAccounts(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		const known, unknown, bare = "grace@example.com", "eve@example.com", "ada@example.com"
		member(s, known)
		s.Person("Ada") // without a password
		kinds := func() (out []string) {
			for _, e := range emails(s) {
				out = append(out, string(e.Kind)+" "+e.To)
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
				checkSame(t, c.operation+" of "+email, s.Browser().Call(c.operation, c.in(email)), first)
			}
			if got := kinds(); !slices.Equal(got, c.emails) {
				t.Errorf("%s: got emails %q, want %q", c.operation, got, c.emails)
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
func TestSignInTimeDoesNotRevealAccounts(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	member(s, "grace@example.com")
	s.Person("Ada")
	const known, unknown, bare = "grace@example.com", "eve@example.com", "ada@example.com"
	best := map[string]time.Duration{}
	similar := func() bool { return min(best[unknown], best[bare]) >= best[known]/4 }
	// Alternate between the addresses, because the machine may be busy for a while.
	for round := 1; round <= 5 || round <= 50 && !similar(); round++ {
		for _, email := range []string{known, unknown, bare} {
			start := time.Now()
			s.Browser().Call("sign_in", fields{"email": email, "password": "wrong horse battery"})
			if took := time.Since(start); round == 1 || took < best[email] {
				best[email] = took
			}
		}
	}
	if !similar() {
		t.Errorf("sign-in took %s with a password, %s without a password, %s without an account; want similar times",
			best[known], best[bare], best[unknown])
	}
}
