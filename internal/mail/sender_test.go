package mail_test

import (
	"path/filepath"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/mail"
)

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []mail.Options{
		{From: "nobody"}, {From: "a@example.com", SMTP: "http://mail"}, {From: "a@example.com", SMTP: "smtp://"},
		{From: "a@example.com", SMTP: "smtp://u:topsecret@host:port"},
		{From: "a@example.com", SMTP: "smtp://u:topsecret@host/folder"},
		{From: "a@example.com", SMTP: "smtp://u:topsecret@host:99999"},
		{From: "a@example.com", SMTP: "smtp://u:top%zzsecret@host"},
	} {
		if _, err := mail.NewSender(o); err == nil || strings.Contains(err.Error(), "topsecret") ||
			strings.Contains(err.Error(), "zz") {
			t.Errorf("%+v: got error %v, want one without the password", o, err)
		}
	}
}

// A password is never sent over an unencrypted connection to another machine.
func TestPasswordNeedsEncryption(t *testing.T) {
	t.Parallel()
	server := newSMTPAt(t, "127.0.0.2") // local, but not recognized as local
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	p := newWorker(s, mail.Options{SMTP: "smtp://ada:topsecret@" + server.address})
	m, err := mail.Compose(board.Email{ID: "eml_1", Kind: board.EmailInvitation, To: "a@example.com",
		Link: "https://x.example.com/#s", Invitation: &board.InvitationEmail{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Sender.Send(t.Context(), m); err == nil {
		t.Error("Send succeeded without encryption, want an error")
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.commands) == 0 || strings.Contains(strings.Join(server.commands, "\n"), "AUTH") {
		t.Errorf("got commands %v, want no AUTH", server.commands)
	}
}
