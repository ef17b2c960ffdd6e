package account_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// The number of emails that anyone can cause to be sent to an address is limited.
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
		if sent != 6 {
			t.Errorf("sent %d emails, want 6: 3 to each address", sent)
		}
		// A link for a new password works for an hour, and one for a new account for a day.
		s.Clock.Advance(time.Hour)
		s.Browser().Must("request_password_reset", fields{"email": b.Email})
		emailedSecret(s, board.EmailReset, b.Email)
		signUp(s, s.Browser(), "eve@example.com")
		if late := emails(s); len(late) != 0 {
			t.Errorf("sent %d emails about sign-ups an hour later, want none", len(late))
		}
		s.Clock.Advance(23 * time.Hour)
		signUp(s, s.Browser(), "eve@example.com")
		emailedSecret(s, board.EmailVerify, "eve@example.com")
	})
}

// requireLimit repeats a call until it is rate limited, and fails the test unless limit
// calls were accepted first.
func requireLimit(t *testing.T, limit int, call func(i int) apptest.Response) {
	t.Helper()
	for i := range limit + 1 {
		a := call(i)
		wait, _ := strconv.Atoi(a.Header.Get("Retry-After"))
		if refused := a.Status == http.StatusTooManyRequests && a.Code == board.CodeRateLimited &&
			wait > 0; refused != (i == limit) {
			t.Fatalf("attempt %d: got status %d, body %s; want a limit of %d attempts", i+1, a.Status, a.Raw, limit)
		}
	}
}

func TestPasswordGuessesAreLimited(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		b := member(s, "grace@example.com")
		guess := func(email, from, password string) apptest.Response {
			p := s.Browser()
			p.From = from + ":1234"
			return p.Call("sign_in", fields{"email": email, "password": password})
		}
		const wrong = "wrong horse battery"
		requireLimit(t, 10, func(int) apptest.Response { return guess("grace@example.com", "198.51.100.1", wrong) })
		if a := guess("GRACE@example.com", "198.51.100.1", password); a.Status != http.StatusTooManyRequests {
			t.Errorf("the right password after ten wrong ones: got status %d, body %s; want 429", a.Status, a.Raw)
		}
		if a := guess("grace@example.com", "198.51.100.2", password); a.Status != http.StatusOK {
			t.Errorf("the person, from another network: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		// An address without an account has the same limit.
		requireLimit(t, 10, func(int) apptest.Response { return guess("eve@example.com", "198.51.100.3", wrong) })
		// In IPv6, a network is a /64.
		requireLimit(t, 10, func(i int) apptest.Response {
			return guess("eve@example.com", fmt.Sprintf("[2001:db8::%x]", i), wrong)
		})
		// Guesses at many accounts from one network are limited too.
		requireLimit(t, 50, func(i int) apptest.Response {
			return guess(fmt.Sprintf("p%d@example.com", i), "198.51.100.4", wrong)
		})
		s.Clock.Advance(15 * time.Minute)
		if a := guess("grace@example.com", "198.51.100.1", password); a.Status != http.StatusOK {
			t.Errorf("after 15 minutes: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		// Correct passwords are not limited.
		for range 12 {
			if a := guess("grace@example.com", "198.51.100.1", password); a.Status != http.StatusOK {
				t.Fatalf("sign-in with the right password, repeated: got status %d, body %s; want 200", a.Status, a.Raw)
			}
		}
		// A stolen session cannot be used to guess the password.
		requireLimit(t, 10, func(int) apptest.Response { return b.Call("confirm_sign_in", fields{"password": wrong}) })
	})
}

func TestEmailsAndPagesAreLimited(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		requireLimit(t, 30, func(i int) apptest.Response {
			return s.Browser().Call("request_password_reset", fields{"email": fmt.Sprintf("p%d@example.com", i)})
		})
		s.Clock.Advance(time.Minute)
		requireLimit(t, 120, func(int) apptest.Response { return s.Browser().Call("get_sign_in_options", nil) })
		s.Clock.Advance(time.Hour)
		b := member(s, "grace@example.com") // on the Free plan, a program may send 60 requests per minute
		if a := b.Must("get_session", nil); a.Header.Get("X-Ratelimit-Limit") != "1200" {
			t.Errorf("got rate limit %s for a page, want 1200", a.Header.Get("X-Ratelimit-Limit"))
		}
		requireLimit(t, 1199, func(int) apptest.Response { return b.Call("get_me", nil) })
	})
}
