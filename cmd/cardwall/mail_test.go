package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/mail"
	"cardwall/internal/server"
	"cardwall/internal/store"
)

// Some mail servers accept only clients that introduce themselves with a full host name.
func TestMailServerSeesTheHostOfTheBaseURL(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	greeting := make(chan string, 1)
	go func() {
		defer close(greeting)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "220 ready\r\n")
		line, _ := bufio.NewReader(conn).ReadString('\n')
		greeting <- line
		_ = conn.Close()
	}()
	g := &globals{clock: time.Now, Data: t.TempDir(), BaseURL: "https://cards.example.com:8443", log: slog.New(slog.DiscardHandler)}
	sender, err := mailFlags{SMTPURL: "smtp://" + listener.Addr().String()}.newSender(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Send(t.Context(), mail.Message{ID: "eml_1", To: "ada@example.com"}); err == nil {
		t.Error("Send succeeded, although the connection was closed")
	}
	_ = listener.Close() // if nothing has connected, the test must not wait
	if got := <-greeting; got != "EHLO cards.example.com\r\n" {
		t.Errorf("got the greeting %q, want that of cards.example.com", got)
	}
}

// Without an SMTP server, a queued email is written to the outbox folder.
func TestEmailsGoToTheOutbox(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := &globals{clock: time.Now, Data: t.TempDir(), Database: "sqlite", BaseURL: "https://cards.example.com",
		log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	db, err := g.open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := (mailFlags{SMTPURL: "http://mail"}).newSender(g); err == nil {
		t.Error("newSender accepted an invalid SMTP URL")
	}
	err = db.Write(ctx, board.System(), func(tx *store.Tx) error {
		u, err := app.AddUser(ctx, tx, app.NewUser{Email: "ada@example.com", Name: "Ada"})
		if err != nil {
			return err
		}
		if err := tx.InsertOrganization(ctx, board.Organization{ID: "org_1", Name: "E", Plan: board.PlanTeam}); err != nil {
			return err
		}
		if err := tx.InsertWorkspace(ctx,
			&board.Workspace{ID: "wsp_1", OrganizationID: "org_1", Name: "Engines"}); err != nil {
			return err
		}
		if err := tx.SetMember(ctx, "wsp_1", u.ID, board.WorkspaceOwner); err != nil {
			return err
		}
		_, err = app.CreateInvitation(ctx, tx, app.CreateInvitationInput{WorkspaceInput: app.WorkspaceInput{WorkspaceID: "wsp_1"},
			Email: "grace@example.com", Role: board.WorkspaceMember})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sender, err := mailFlags{}.newSender(g)
	if err != nil {
		t.Fatal(err)
	}
	running, cancel := context.WithCancel(ctx)
	var worker sync.WaitGroup
	worker.Go(func() { (&mail.Worker{Queue: server.EmailQueue(db), Sender: sender, Log: g.log}).Run(running) })
	defer worker.Wait()
	defer cancel()
	files := apptest.Await(t, "the outbox contains an email", func() (files []string, done bool) {
		files, _ = filepath.Glob(filepath.Join(g.Data, "outbox", "*.eml"))
		return files, len(files) == 1
	})
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the email file has mode %v (%v), want 0600", info, err)
	}
}
