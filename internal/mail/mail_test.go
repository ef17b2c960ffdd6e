package mail_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
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

// worker is a mail.Worker on a service, wired as in cmd, with its log.
type worker struct {
	*mail.Worker
	log *buffer
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

func newWorker(s *apptest.Service, opts mail.Options) *worker {
	s.T.Helper()
	log := &buffer{}
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
		Next: func(ctx context.Context) (l *board.Email, err error) {
			err = write(ctx, func(tx *store.Tx) (err error) { l, err = app.NextEmail(ctx, tx, mail.Lease); return err })
			return l, err
		},
		Done: func(ctx context.Context, l board.Email) error {
			return write(ctx, func(tx *store.Tx) error { return tx.DeleteEmail(ctx, l.ID) })
		},
		Later: func(ctx context.Context, l board.Email, pause time.Duration) error {
			return write(ctx, func(tx *store.Tx) error { return tx.PostponeEmail(ctx, l.ID, l.Attempt, pause) })
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
		t.Fatalf("not a message: %v\n%s", err, data)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return m.Header, text, html
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/plain") {
			text = string(body)
		} else {
			html = string(body)
		}
	}
}

// linkOf returns the secret of the invitation link in the plain text of an email.
func linkOf(t *testing.T, text string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, apptest.BaseURL+"/invitation#")
	if !ok {
		t.Fatalf("no link in %s", text)
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
		p := newWorker(s, mail.Options{SMTP: "smtp://ada:pass%20word@" + server.address})
		ada, grace := s.Person("Ada"), s.Person("Grace")
		invite(ada, ada.Workspace("Ünïcode & Söhne", board.PlanTeam), "grace@example.com")
		p.deliver(t)
		p.deliver(t)
		got := server.emails()
		if len(got) != 1 || !strings.Contains(got[0].to, "<grace@example.com>") {
			t.Fatalf("the server received %+v", got)
		}
		header, text, html := read(t, got[0].data)
		subject, err := (&mime.WordDecoder{}).DecodeHeader(header.Get("Subject"))
		if err != nil || subject != "You have been invited to a workspace on Cardwall" {
			t.Errorf("the subject is %q %v", subject, err)
		}
		if header.Get("From") != `"Cardwall" <cards@example.org>` || !strings.HasPrefix(header.Get("Message-Id"), "<eml_") ||
			header.Get("Auto-Submitted") != "auto-generated" {
			t.Errorf("the headers are %v", header)
		}
		if !strings.Contains(text, "Ada invited you to join the workspace Ünïcode & Söhne as a member.") ||
			!strings.Contains(html, "Ünïcode &amp; Söhne") {
			t.Errorf("the email is\n%s\n%s", text, html)
		}
		if strings.Contains(html, "<img") || strings.Contains(html, "src=") || strings.Contains(html, "url(") {
			t.Errorf("the email loads external content:\n%s", html)
		}
		token := linkOf(t, text)
		if strings.Contains(p.log.String(), token) || strings.Contains(p.log.String(), "pass") ||
			!strings.Contains(p.log.String(), "email sent") {
			t.Errorf("the log is %s", p.log)
		}
		if err := accept(grace, token); err != nil {
			t.Errorf("the link does not work: %v", err)
		}
	})
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
				t.Fatalf("after %s: the pause was shorter than %v", step.response, step.pause)
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
			t.Fatalf("%d emails, want the email and its repetition\n%s", len(got), p.log)
		}
		_, first, _ := read(t, got[0].data)
		_, second, _ := read(t, got[1].data)
		for _, token := range []string{linkOf(t, first), linkOf(t, second)} {
			if strings.Contains(p.log.String(), token) {
				t.Errorf("the log has the secret: %s", p.log)
			}
		}
		if !strings.Contains(p.log.String(), "/invitation#…") || strings.Count(p.log.String(), "will retry") != 4 ||
			!strings.Contains(p.log.String(), "looks odd") {
			t.Errorf("the log is %s", p.log)
		}
		// Either email may have arrived, so both links must work.
		if err := accept(grace, linkOf(t, first)); err != nil {
			t.Errorf("the link of the first email does not work: %v", err)
		}
		if err := accept(grace, linkOf(t, second)); err != nil {
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
				t.Errorf("after %s: %d emails\n%s", final.response, n, p.log)
			}
		}
		// A server that never accepts the email: all retries fail, then the email is dropped.
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
			t.Errorf("%d attempts\n%s", attempts, p.log)
		}
		// Inviting again sends a new email.
		server.respond("RCPT", "")
		invite(ada, workspace, "c@example.com")
		p.deliver(t)
		if n := len(server.emails()); n != 1 {
			t.Errorf("%d emails after inviting again, want 1", n)
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
	for _, l := range all {
		l.ID, l.To, l.Link = "eml_1", "grace@example.com", "https://cards.example.com/x#s3cret"
		m, err := mail.Compose(l)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(m.Subject, "won") || strings.Contains(m.Subject, "evil") {
			t.Errorf("the subject of %s is %q", l.Kind, m.Subject)
		}
		for _, body := range []string{m.Text, m.HTML} {
			for _, link := range []string{"http://evil", "://evil", "evil.example", "www.evil", "win@evil"} {
				if strings.Contains(body, link) {
					t.Errorf("an email of kind %s contains the link %s:\n%s", l.Kind, link, body)
				}
			}
			if !strings.Contains(body, "You won!") {
				t.Errorf("an email of kind %s does not contain the name:\n%s", l.Kind, body)
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
		t.Errorf("the header is %v, the subject %q", header, m.Subject)
	}
	if strings.Contains(html, "<script") || strings.Contains(html, "<a href=x") || strings.Count(html, "<a ") != 1 {
		t.Errorf("a name became a tag:\n%s", html)
	}
	if strings.Contains(text, "\nBcc") || strings.Contains(text, "\u202e") {
		t.Errorf("a name became a line:\n%s", text)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if n := strings.Count(strings.Join(server.commands, "\n"), "RCPT"); n != 1 {
		t.Errorf("%d recipients, want 1", n)
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
			t.Fatalf("the outbox contains %v %v", files, err)
		}
		if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file has the mode %v %v", info.Mode(), err)
		}
		if info, err := os.Stat(outbox); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder has the mode %v %v", info.Mode(), err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := read(t, string(data))
		token := linkOf(t, text)
		if log := p.log.String(); strings.Contains(log, token) || strings.Contains(log, "grace@example.com") ||
			strings.Contains(log, "Invitation to Engines") || !strings.Contains(log, files[0]) {
			t.Errorf("the log is %s", log)
		}
		if err := accept(grace, token); err != nil {
			t.Errorf("the link does not work: %v", err)
		}
	})
}

// Several servers share the queue: each email is sent once.
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
				for range 20 { // an email that another server took is skipped; poll again
					p.deliver(t)
				}
			})
		}
		wg.Wait()
		seen := map[string]int{}
		for _, l := range server.emails() {
			seen[l.to]++
		}
		if len(seen) != emails || len(server.emails()) != emails {
			t.Errorf("%d emails to %d people, want %d", len(server.emails()), len(seen), emails)
		}
	})
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	p := newWorker(s, mail.Options{Outbox: filepath.Join(t.TempDir(), "outbox")})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	cancel()
	<-done
}
