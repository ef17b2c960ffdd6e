package mail_test

import (
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/mail"
)

// The letters of an account go to whom they are about, each with the link of its
// kind, which is in the letter alone; what somebody typed as a name is in none.
func TestLettersOfAccounts(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		server := newSMTP(t)
		p := newPost(s, mail.Options{SMTP: "smtp://" + server.address})
		s.Person("Ada")
		b := s.Browser()
		for _, c := range []struct {
			operation, email, subject, link string
			secret                          bool
		}{
			{"sign_up", "grace@example.com", "Confirm your address", "/verify#", true},
			{"sign_up", "ada@example.com", "You have an account already", "/sign-in", false},
			{"request_password_reset", "ada@example.com", "Choose another password", "/reset#", true},
		} {
			in := apptest.Fields{"email": c.email}
			if c.operation == "sign_up" {
				in["name"], in["password"] = "Buy at evil.example", "correct horse battery"
			}
			b.Must(c.operation, in)
			before := len(server.letters())
			p.deliver(t)
			sent := server.letters()
			if len(sent) != before+1 {
				t.Fatalf("%s: %d letters", c.subject, len(sent)-before)
			}
			last := sent[len(sent)-1]
			header, text, html := read(t, last.data)
			if !strings.Contains(last.to, "<"+c.email+">") || header.Get("Subject") != c.subject {
				t.Errorf("the letter to %s is %q to %s", c.email, header.Get("Subject"), last.to)
			}
			_, link, ok := strings.Cut(text, apptest.BaseURL+c.link)
			if !ok || !strings.Contains(html, apptest.BaseURL+c.link) || strings.Contains(text+html, "evil.example") {
				t.Errorf("the letter %q says\n%s\n%s", c.subject, text, html)
			}
			if secret, _, _ := strings.Cut(link, "\n"); c.secret && (len(secret) < 26 || strings.Contains(p.log.String(), secret)) {
				t.Errorf("the secret of the letter %q is %q; the log is\n%s", c.subject, secret, p.log)
			}
		}
	})
}
