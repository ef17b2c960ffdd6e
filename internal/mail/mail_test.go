package mail_test

import (
	"context"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/mail"
	"cardwall/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// worker is a mail.Worker that sends the emails of a service, with its log.
type worker struct {
	*mail.Worker
	log *apptest.Buffer
}

func newWorker(s *apptest.Service, opts mail.Options) *worker {
	s.T.Helper()
	log := &apptest.Buffer{}
	opts.Log, opts.Clock = slog.New(slog.NewTextHandler(log, nil)), s.Clock.Now
	if opts.From == "" {
		opts.From = "Cardwall <cards@example.org>"
	}
	sender, err := mail.NewSender(opts)
	if err != nil {
		s.T.Fatal(err)
	}
	write := func(ctx context.Context, fn func(tx *store.Tx) error) error {
		return s.DB.Write(ctx, board.System(), fn)
	}
	return &worker{log: log, Worker: &mail.Worker{Sender: sender, Log: opts.Log, Queue: mail.Queue{
		Next: func(ctx context.Context) (e *board.Email, err error) {
			err = write(ctx, func(tx *store.Tx) (err error) { e, err = app.NextEmail(ctx, tx, mail.Lease); return err })
			return e, err
		},
		Done: func(ctx context.Context, e board.Email) error {
			return write(ctx, func(tx *store.Tx) error { return tx.DeleteEmail(ctx, e.ID) })
		},
		Later: func(ctx context.Context, e board.Email, pause time.Duration) error {
			return write(ctx, func(tx *store.Tx) error { return tx.PostponeEmail(ctx, e.ID, e.Attempt, pause) })
		},
	}}}
}

func (p *worker) deliver(t *testing.T) {
	t.Helper()
	if err := p.SendDue(t.Context()); err != nil {
		t.Errorf("send due emails: %v", err)
	}
}

// read parses a message into its header, text and HTML.
func read(t *testing.T, data string) (header netmail.Header, text, html string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatalf("parse message: %v\n%s", err, data)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return m.Header, text, html
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(part) // decodes quoted-printable
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/plain") {
			text = strings.ReplaceAll(string(body), "\r\n", "\n")
		} else {
			html = string(body)
		}
	}
}

// secretOf returns the secret of the invitation link in the plain text of an email.
func secretOf(t *testing.T, text string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, apptest.BaseURL+"/invitation#")
	if !ok {
		t.Fatalf("got text\n%s\nwant an invitation link", text)
	}
	return strings.Fields(rest)[0]
}

func accept(p *apptest.Person, token string) error {
	return p.DB.Write(context.Background(), board.Person(p.ID), func(tx *store.Tx) error {
		_, err := app.AcceptInvitation(context.Background(), tx, token)
		return err
	})
}

func invite(p *apptest.Person, workspace, email string) {
	p.T.Helper()
	p.Must("create_invitation", apptest.Fields{"workspaceId": workspace, "email": email, "role": "member"})
}

func TestSendThroughSMTP(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		server := newSMTP(t)
		p := newWorker(s, mail.Options{SMTP: "smtp://ada:pass%20word@" + server.address, Host: "cards.example.com"})
		ada, grace := s.Person("Ada"), s.Person("Grace")
		invite(ada, ada.Workspace("Ünïcode & Söhne", board.PlanTeam), "grace@example.com")
		p.deliver(t)
		p.deliver(t)
		got := server.emails()
		if len(got) != 1 || !strings.Contains(got[0].to, "<grace@example.com>") {
			t.Fatalf("got emails %+v, want one to grace@example.com", got)
		}
		header, text, html := read(t, got[0].data)
		subject, err := (&mime.WordDecoder{}).DecodeHeader(header.Get("Subject"))
		if err != nil || subject != "You have been invited to a workspace on Cardwall" {
			t.Errorf("got subject %q (%v), want the invitation's subject", subject, err)
		}
		if header.Get("From") != `"Cardwall" <cards@example.org>` || !strings.HasPrefix(header.Get("Message-Id"), "<eml_") ||
			header.Get("Auto-Submitted") != "auto-generated" {
			t.Errorf("got headers %v, want From, Message-Id and Auto-Submitted of the service", header)
		}
		if !strings.Contains(text, "Ada invited you to join the workspace Ünïcode & Söhne as a member.") ||
			!strings.Contains(html, "Ünïcode &amp; Söhne") {
			t.Errorf("got email\n%s\n%s\nwant the names of the inviter and the workspace", text, html)
		}
		if strings.Contains(html, "<img") || strings.Contains(html, "src=") || strings.Contains(html, "url(") {
			t.Errorf("the email loads external content:\n%s", html)
		}
		token := secretOf(t, text)
		if link := "\r\n" + apptest.BaseURL + "/invitation#" + token + "\r\n"; !strings.Contains(got[0].data, link) {
			t.Errorf("the link is not a line of its own:\n%s", got[0].data)
		}
		if !slices.Contains(server.commands, "EHLO cards.example.com") {
			t.Errorf("got commands %q, want EHLO with the host", server.commands)
		}
		if strings.Contains(p.log.String(), token) || strings.Contains(p.log.String(), "pass") ||
			!strings.Contains(p.log.String(), "email sent") {
			t.Errorf("got log %s, want the sent email and no secrets", p.log)
		}
		if err := accept(grace, token); err != nil {
			t.Errorf("the link does not work: %v", err)
		}
	})
}

// A link is sent in one piece, and no line is longer than SMTP allows (RFC 5321, 4.5.3.1.6).
func TestLinksAndLongLinesAreSentWhole(t *testing.T) {
	t.Parallel()
	server := newSMTP(t)
	sender, err := mail.NewSender(mail.Options{SMTP: "smtp://" + server.address, From: "cards@example.org",
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	link := "https://cards.example.com/unsubscribe?token=" + strings.Repeat("=ab", 40)
	err = sender.Send(t.Context(), mail.Message{ID: "eml_1", To: "ada@example.org", Subject: "Long",
		Text: strings.Repeat("word ", 500) + "\n" + link + "\n", HTML: "<p>Long</p>"})
	if err != nil {
		t.Fatal(err)
	}
	data := server.emails()[0].data
	if !strings.Contains(data, "\r\n"+link+"\r\n") {
		t.Errorf("the link is not a line of its own:\n%s", data)
	}
	for line := range strings.Lines(data) {
		if len(line) > 1000 {
			t.Errorf("a line has %d bytes, want at most 1000: %.60s", len(line), line)
		}
	}
}

func TestTemporaryFailureIsRetried(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		server := newSMTP(t)
		p := newWorker(s, mail.Options{SMTP: "smtp://" + server.address})
		ada, grace := s.Person("Ada"), s.Person("Grace")
		invite(ada, ada.Workspace("Engines", board.PlanTeam), "grace@example.com")
		steps := []struct {
			command, response string
			pause             time.Duration
		}{
			{"RCPT", "450 4.2.0 busy", time.Minute}, {"MAIL", "530 5.7.0 say who you are", 5 * time.Minute},
			{"CONTENT", "451 4.3.0 {data} looks odd", 15 * time.Minute},
		}
		for _, step := range steps {
			server.respond(step.command, step.response)
			p.deliver(t)
			server.respond(step.command, "")
			s.Clock.Advance(step.pause - 10*time.Second)
			p.deliver(t)
			if n := len(server.emails()); n != 0 {
				t.Fatalf("after %s: got %d emails before the pause of %v ended, want 0", step.response, n, step.pause)
			}
			s.Clock.Advance(20 * time.Second)
		}
		// The server accepts the email, but its response is lost.
		server.mu.Lock()
		server.drop = true
		server.mu.Unlock()
		p.deliver(t)
		server.mu.Lock()
		server.drop = false
		server.mu.Unlock()
		s.Clock.Advance(2 * time.Hour)
		p.deliver(t)
		got := server.emails()
		if len(got) != 2 {
			t.Fatalf("got %d emails, want 2\n%s", len(got), p.log)
		}
		_, first, _ := read(t, got[0].data)
		_, second, _ := read(t, got[1].data)
		for _, token := range []string{secretOf(t, first), secretOf(t, second)} {
			if strings.Contains(p.log.String(), token) {
				t.Errorf("the log contains the secret: %s", p.log)
			}
		}
		if !strings.Contains(p.log.String(), "/invitation#…") || strings.Count(p.log.String(), "will retry") != 4 ||
			!strings.Contains(p.log.String(), "looks odd") {
			t.Errorf("got log %s, want four retries, and the link without its secret", p.log)
		}
		// Either email may have arrived, so both links must work.
		if err := accept(grace, secretOf(t, first)); err != nil {
			t.Errorf("the link of the first email does not work: %v", err)
		}
		if err := accept(grace, secretOf(t, second)); err != nil {
			t.Errorf("the link of the second email does not work: %v", err)
		}
	})
}

func TestEmailIsDroppedAfterPermanentFailure(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		server := newSMTP(t)
		p := newWorker(s, mail.Options{SMTP: "smtp://" + server.address})
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		for i, final := range []struct{ command, response string }{{"RCPT", "550 5.1.1 nobody here"},
			{"CONTENT", "554 5.7.1 {data} is on a list"}} {
			invite(ada, workspace, string(rune('a'+i))+"@example.com")
			server.respond(final.command, final.response)
			p.deliver(t)
			server.respond(final.command, "")
			s.Clock.Advance(72 * time.Hour)
			p.deliver(t)
			if n := len(server.emails()); n != 0 || strings.Count(p.log.String(), "email dropped") != i+1 {
				t.Errorf("after %s: got %d emails, want 0 and another dropped email in the log\n%s", final.response, n, p.log)
			}
		}
		// An email that the server never accepts is dropped after all retries have failed.
		invite(ada, workspace, "c@example.com")
		server.respond("RCPT", "450 4.2.0 busy")
		for range 12 {
			p.deliver(t)
			s.Clock.Advance(25 * time.Hour)
		}
		server.mu.Lock()
		attempts := strings.Count(strings.Join(server.commands, "\n"), "RCPT TO:<c@example.com>")
		server.mu.Unlock()
		if attempts != 9 || strings.Count(p.log.String(), "email dropped") != 3 {
			t.Errorf("got %d attempts, want 9, and then the third dropped email in the log\n%s", attempts, p.log)
		}
		// Inviting again sends a new email.
		server.respond("RCPT", "")
		invite(ada, workspace, "c@example.com")
		p.deliver(t)
		if n := len(server.emails()); n != 1 {
			t.Errorf("got %d emails after inviting again, want 1", n)
		}
	})
}

// A subject contains no text that a person typed, and an address in a name does not
// become a link. Otherwise a workspace name could turn our email into phishing.
func TestNamesAreNotInSubjectsOrLinks(t *testing.T) {
	t.Parallel()
	evil := "You won! http://evil.example/3 www.evil.example win@evil.example"
	all := []board.Email{
		{Kind: board.EmailInvitation,
			Invitation: &board.InvitationEmail{Workspace: evil, InvitedBy: evil, Role: board.WorkspaceMember}},
		{Kind: board.EmailWebhookDisabled, Webhook: &board.WebhookEmail{Name: evil, Host: "evil.example", Workspace: evil}},
	}
	for _, kind := range board.NotificationKinds() {
		n := board.NotificationItem{Link: "https://cards.example.com/cards/crd_1"}
		n.Kind, n.Board.Name, n.Actor.Name = kind, evil, &evil
		n.Card = &board.NotifiedCard{Title: evil}
		for _, items := range [][]board.NotificationItem{{n}, {n, n}} {
			for _, k := range []board.EmailKind{board.EmailNotify, board.EmailDigest} {
				all = append(all, board.Email{Kind: k, Notifications: &board.NotificationEmail{Items: items}})
			}
		}
	}
	for _, e := range all {
		e.ID, e.To, e.Link = "eml_1", "grace@example.com", "https://cards.example.com/x#s3cret"
		m, err := mail.Compose(e)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(m.Subject, "won") || strings.Contains(m.Subject, "evil") {
			t.Errorf("%s: got subject %q, want no typed text", e.Kind, m.Subject)
		}
		for _, body := range []string{m.Text, m.HTML} {
			for _, link := range []string{"http://evil", "://evil", "evil.example", "www.evil", "win@evil"} {
				if strings.Contains(body, link) {
					t.Errorf("an email of kind %s contains the link %s:\n%s", e.Kind, link, body)
				}
			}
			if !strings.Contains(body, "You won!") {
				t.Errorf("an email of kind %s does not contain the name:\n%s", e.Kind, body)
			}
		}
	}
}

// Names cannot add a header, a recipient, a line or a tag.
func TestNamesCannotInject(t *testing.T) {
	t.Parallel()
	server := newSMTP(t)
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	p := newWorker(s, mail.Options{SMTP: "smtp://" + server.address})
	evil := "Acme\x1b[31m\r\nBcc: all@example.com\r\n\r\n<script>alert(1)</script>\u202e\u2028" + strings.Repeat("x", 300)
	m, err := mail.Compose(board.Email{
		ID: "eml_1", Kind: board.EmailInvitation, To: "grace@example.com",
		Link:       "https://cards.example.com/invitation#s3cret",
		Invitation: &board.InvitationEmail{Workspace: evil, InvitedBy: "Eve\n\"><a href=x>", Role: board.WorkspaceMember},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Sender.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	header, text, html := read(t, server.emails()[0].data)
	if header.Get("Bcc") != "" || strings.ContainsAny(m.Subject, "\x1b\r\n\u202e\u2028") || len(m.Subject) > 130 {
		t.Errorf("got headers %v and subject %q, want no Bcc and no control characters", header, m.Subject)
	}
	if strings.Contains(html, "<script") || strings.Contains(html, "<a href=x") || strings.Count(html, "<a ") != 1 {
		t.Errorf("a name added a tag:\n%s", html)
	}
	if strings.Contains(text, "\nBcc") || strings.Contains(text, "\u202e") {
		t.Errorf("a name added a line:\n%s", text)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if n := strings.Count(strings.Join(server.commands, "\n"), "RCPT"); n != 1 {
		t.Errorf("got %d recipients, want 1", n)
	}
}

func TestOutbox(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		outbox := filepath.Join(t.TempDir(), "data", "outbox")
		p := newWorker(s, mail.Options{Outbox: outbox})
		ada, grace := s.Person("Ada"), s.Person("Grace")
		invite(ada, ada.Workspace("Engines", board.PlanTeam), "grace@example.com")
		p.deliver(t)
		files, err := filepath.Glob(outbox + "/*.eml")
		if err != nil || len(files) != 1 {
			t.Fatalf("got files %v (%v), want one", files, err)
		}
		if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("got file mode %v (%v), want 0600", info.Mode(), err)
		}
		if info, err := os.Stat(outbox); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("got folder mode %v (%v), want 0700", info.Mode(), err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := read(t, string(data))
		token := secretOf(t, text)
		if log := p.log.String(); strings.Contains(log, token) || strings.Contains(log, "grace@example.com") ||
			strings.Contains(log, "You have been invited") || !strings.Contains(log, files[0]) {
			t.Errorf("got log %s, want the file name, and no recipient or content", log)
		}
		if err := accept(grace, token); err != nil {
			t.Errorf("the link does not work: %v", err)
		}
	})
}

// Several servers share the queue, and each email is sent once.
func TestServersShareTheQueue(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		server := newSMTP(t)
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		const emails = 30
		for i := range emails {
			invite(ada, workspace, string(rune('a'+i%26))+strings.Repeat("x", i)+"@example.com")
		}
		nodes := []*apptest.Service{s, s}
		if s.DB.Dialect() == "postgres" {
			nodes = []*apptest.Service{s, s.Node(), s.Node()}
		}
		var wg sync.WaitGroup
		for _, node := range nodes {
			p := newWorker(node, mail.Options{SMTP: "smtp://" + server.address})
			wg.Go(func() {
				for range 20 { // several times, because an email that another server reserved is skipped
					p.deliver(t)
				}
			})
		}
		wg.Wait()
		recipients := map[string]int{}
		for _, e := range server.emails() {
			recipients[e.to]++
		}
		if len(recipients) != emails || len(server.emails()) != emails {
			t.Errorf("got %d emails to %d people, want %d emails to %[3]d people", len(server.emails()), len(recipients), emails)
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	p := newWorker(s, mail.Options{Outbox: filepath.Join(t.TempDir(), "outbox")})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	cancel()
	<-done
}
