package mail_test

import (
	"path/filepath"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/mail"
)

func TestSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []mail.Options{
		{From: "nobody"}, {From: "a@example.com", SMTP: "http://mail"}, {From: "a@example.com", SMTP: "smtp://"},
		{From: "a@example.com", SMTP: "smtp://u:topsecret@host:port"}, {From: "a@example.com", SMTP: "smtp://u:topsecret@host/folder"},
		{From: "a@example.com", SMTP: "smtp://u:topsecret@host:99999"}, {From: "a@example.com", SMTP: "smtp://u:top%zzsecret@host"},
	} {
		if _, err := mail.NewSender(o); err == nil || strings.Contains(err.Error(), "topsecret") || strings.Contains(err.Error(), "zz") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A password is never said on a connection that others can read.
func TestPasswordNeedsEncryption(t *testing.T) {
	t.Parallel()
	server := newSMTPAt(t, "127.0.0.2") // on this machine, but not known to be
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	p := newPost(s, mail.Options{SMTP: "smtp://ada:topsecret@" + server.address})
	m, err := mail.Write(board.Letter{ID: "ltr_1", Kind: board.LetterInvitation, To: "a@example.com", Link: "https://x.example.com/#s", Invitation: &board.InvitationLetter{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Sender.Send(t.Context(), m); err == nil {
		t.Error("a letter went out without encryption")
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.said) == 0 || strings.Contains(strings.Join(server.said, "\n"), "AUTH") {
		t.Errorf("the password was said: %v", server.said)
	}
}
