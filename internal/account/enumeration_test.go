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

// same fails the test unless two responses are equal, apart from what identifies the
// request.
func same(t *testing.T, what string, a, b apptest.Response) {
	t.Helper()
	if a.Status != b.Status || !bytes.Equal(a.Raw, b.Raw) {
		t.Errorf("%s: got status %d, body %s; the other response is %d %s", what, a.Status, a.Raw, b.Status, b.Raw)
	}
	for name := range a.Header {
		if name != "X-Request-Id" && !strings.HasPrefix(name, "X-Ratelimit") &&
			!slices.Equal(a.Header[name], b.Header[name]) {
			t.Errorf("%s: the header %s is %q; in the other response it is %q", what, name, a.Header[name], b.Header[name])
		}
	}
	if len(a.Header) != len(b.Header) {
		t.Errorf("%s: the headers are %v; those of the other response are %v", what, a.Header, b.Header)
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
