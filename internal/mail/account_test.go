package mail_test

import (
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/mail"
)

// Account emails go to the right address with the right link. The secret in the link is
// not logged. The emails do not contain the name that someone typed to sign up.
func TestAccountEmails(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		server := newSMTP(t)
		p := newWorker(s, mail.Options{SMTP: "smtp://" + server.address})
		s.Person("Ada")
		b := s.Browser()
		for _, c := range []struct {
			operation, email, subject, link string
			secret                          bool
		}{
			{"sign_up", "grace@example.com", "Confirm your email address", "/verify#", true},
			{"sign_up", "ada@example.com", "You already have an account", "/sign-in", false},
			{"request_password_reset", "ada@example.com", "Reset your password", "/reset#", true},
		} {
			in := apptest.Fields{"email": c.email}
			if c.operation == "sign_up" {
				in["name"], in["password"] = "Buy at evil.example", "correct horse battery"
			}
			b.Must(c.operation, in)
			before := len(server.emails())
			p.deliver(t)
			sent := server.emails()
			if len(sent) != before+1 {
				t.Fatalf("%s: got %d emails, want 1", c.subject, len(sent)-before)
			}
			last := sent[len(sent)-1]
			header, text, html := read(t, last.data)
			if !strings.Contains(last.to, "<"+c.email+">") || header.Get("Subject") != c.subject {
				t.Errorf("got email %q to %s, want %q to %s", header.Get("Subject"), last.to, c.subject, c.email)
			}
			_, link, ok := strings.Cut(text, apptest.BaseURL+c.link)
			if !ok || !strings.Contains(html, apptest.BaseURL+c.link) || strings.Contains(text+html, "evil.example") {
				t.Errorf("email %q: got\n%s\n%s\nwant a link to %s and no typed name", c.subject, text, html, c.link)
			}
			if secret, _, _ := strings.Cut(link, "\n"); c.secret &&
				(len(secret) < 26 || strings.Contains(p.log.String(), secret)) {
				t.Errorf("email %q: got secret %q and log\n%s\nwant a secret that is not logged", c.subject, secret, p.log)
			}
		}
	})
}
