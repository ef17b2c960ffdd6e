package mail_test

import (
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/mail"
)

// Account emails go to the right address with the right link. The secret of the link
// is not logged, and a name that someone typed is not in the email.
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
				t.Fatalf("%s: %d emails", c.subject, len(sent)-before)
			}
			last := sent[len(sent)-1]
			header, text, html := read(t, last.data)
			if !strings.Contains(last.to, "<"+c.email+">") || header.Get("Subject") != c.subject {
				t.Errorf("the email to %s is %q to %s", c.email, header.Get("Subject"), last.to)
			}
			_, link, ok := strings.Cut(text, apptest.BaseURL+c.link)
			if !ok || !strings.Contains(html, apptest.BaseURL+c.link) || strings.Contains(text+html, "evil.example") {
				t.Errorf("the email %q says\n%s\n%s", c.subject, text, html)
			}
			if secret, _, _ := strings.Cut(link, "\n"); c.secret &&
				(len(secret) < 26 || strings.Contains(p.log.String(), secret)) {
				t.Errorf("the secret of the email %q is %q; the log is\n%s", c.subject, secret, p.log)
			}
		}
	})
}
