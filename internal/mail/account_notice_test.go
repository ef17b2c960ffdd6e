package mail_test

import (
	"strings"
	"testing"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/mail"
)

// Text that someone typed does not appear in a subject and does not become a link in the
// body. The browser description contains only fixed words.
func TestAccountNoticesContainNoForeignLinks(t *testing.T) {
	t.Parallel()
	const link = "https://cardwall.example.com/profile/security"
	subjects := map[string]bool{}
	for kind, want := range map[board.EmailKind]string{
		board.EmailPasswordChanged: "password of your Cardwall account was changed", board.EmailPasskeyAdded: "passkey",
		board.EmailTokenCreated: "ends in 1aBc",
		board.EmailAppConnected: "from assistant.\u200bevil.\u200bexample",
		board.EmailNewDevice:    "Firefox on Linux, from the IP address 192.0.2.7",
	} {
		n := board.AccountNotice{
			At: board.InstantOf(time.Date(2026, 11, 23, 9, 5, 0, 0, time.UTC)), TimeZone: "Europe/Berlin",
			Name: "You won!\r\nhttps://evil.example/3 \u202e", Host: "assistant.evil.example",
			LastFour: "1aBc", Address: "192.0.2.7",
			UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 https://evil.example/4",
		}
		m, err := mail.Compose(board.Email{ID: "eml_1", Kind: kind, To: "grace@example.com", Link: link, Notice: &n})
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if strings.Contains(m.Subject, "won") || m.Subject == "" || subjects[m.Subject] {
			t.Errorf("%s: got subject %q, want no typed text", kind, m.Subject)
		}
		subjects[m.Subject] = true
		if !strings.Contains(m.Text, want) || !strings.Contains(m.Text, "23 November 2026 at 10:05 (Europe/Berlin)") ||
			!strings.Contains(m.Text, link) || !strings.Contains(m.HTML, link) {
			t.Errorf("%s: got text\n%s\nwant %q", kind, m.Text, want)
		}
		if all := m.Text + m.HTML; strings.Contains(all, "evil.example") || strings.Contains(all, "https://evil") ||
			strings.Contains(all, "\u202e") {
			t.Errorf("%s contains a foreign link:\n%s", kind, all)
		}
	}
	// A kind that only a newer server knows must not become a false alarm.
	if m, err := mail.Compose(board.Email{ID: "eml_1", Kind: "key_added", Link: link, Notice: &board.AccountNotice{}}); err == nil {
		t.Errorf("an unknown kind: got an email with the subject %q, want an error", m.Subject)
	}
}
