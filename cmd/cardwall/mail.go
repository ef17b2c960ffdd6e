package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/mail"
	"cardwall/internal/store"
)

// mailFlags holds the flags that configure how email is sent.
type mailFlags struct {
	SMTPURL  string `name:"smtp-url" placeholder:"ADDRESS" help:"${help_smtp_url}"`
	MailFrom string `placeholder:"ADDRESS" help:"Sender address of emails (default: no-reply@ the host of --base-url)."`
}

// newSender returns the sender that the flags configure. Without an SMTP URL, the
// sender writes emails to the outbox folder.
func (f mailFlags) newSender(g *globals) (*mail.Sender, error) {
	host := "localhost"
	if u, err := url.Parse(g.BaseURL); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	from := cmp.Or(f.MailFrom, "Cardwall <no-reply@"+host+">")
	outbox := filepath.Join(g.Data, "outbox")
	sender, err := mail.NewSender(mail.Options{SMTP: f.SMTPURL, From: from, Host: host, Outbox: outbox, Log: g.log, Clock: g.now})
	if err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	if f.SMTPURL == "" {
		g.log.Warn("no mail server configured (CARDWALL_SMTP_URL); emails are written to the outbox folder", "folder", outbox)
	}
	return sender, nil
}

// emailQueue adapts the store's email queue to package mail.
func emailQueue(db *store.DB) mail.Queue {
	system := board.System()
	return mail.Queue{
		Next: func(ctx context.Context) (e *board.Email, err error) {
			due := false
			// Usually no email is due. A read is cheaper than a write transaction.
			if err := db.Read(ctx, system, func(v *store.View) (err error) {
				due, err = v.EmailsDue(ctx)
				return err
			}); err != nil || !due {
				return nil, err
			}
			err = db.Write(ctx, system, func(tx *store.Tx) (err error) {
				e, err = app.NextEmail(ctx, tx, mail.Lease)
				return err
			})
			return e, err
		},
		Done: func(ctx context.Context, e board.Email) error {
			return db.Write(ctx, system, func(tx *store.Tx) error { return tx.DeleteEmail(ctx, e.ID) })
		},
		Later: func(ctx context.Context, e board.Email, pause time.Duration) error {
			return db.Write(ctx, system, func(tx *store.Tx) error { return tx.PostponeEmail(ctx, e.ID, e.Attempt, pause) })
		},
	}
}
