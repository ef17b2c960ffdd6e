package notify

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	every       = 15 * time.Second
	leaseLength = 4 * every
	lateMost    = 24 * time.Hour // a reminder that comes later than this is left out
	noteEvery   = 10 * time.Minute
	emailBatch  = 200 // that one transaction has written
)

// Rounds look again and again for what is due.
type Rounds struct {
	db     *store.DB
	holder string
	log    *slog.Logger
	failed *backoff.Log
	until  board.Instant // until when reminders were looked for; 0 while that is not known
	noted  board.Instant // as the database has it
}

// New makes the rounds of a server, whose own name is the holder's.
func New(db *store.DB, holder string, log *slog.Logger) *Rounds {
	return &Rounds{db: db, holder: holder, log: log, failed: backoff.NewLog(log)}
}

const waiting = "reminders and emails about notifications wait"

// Run goes round until ctx ends.
func (r *Rounds) Run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := r.Round(ctx); err == nil {
			r.failed.Succeeded(waiting)
		} else if ctx.Err() == nil {
			r.failed.Failed(waiting, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Round does once what is due now, unless another server's turn it is.
func (r *Rounds) Round(ctx context.Context) error {
	if r.db.Shared() {
		held, err := r.db.Lease(ctx, "notifications", r.holder, leaseLength)
		if err != nil || !held {
			r.until = 0 // who has it goes on from what the database says
			return err
		}
	}
	if err := r.remind(ctx); err != nil {
		return fmt.Errorf("remind: %w", err)
	}
	return r.post(ctx)
}

// remind writes the reminders since it last did. Where nothing is due it writes
// nothing, and so notes how far it came now and then alone: to look twice at a time
// reminds nobody twice.
func (r *Rounds) remind(ctx context.Context) error {
	now := board.InstantOf(r.db.Now())
	if r.until == 0 {
		if err := r.db.Read(ctx, board.System(), func(v *store.View) (err error) {
			r.noted, err = v.RemindedUntil(ctx)
			return err
		}); err != nil {
			return err
		}
		r.until = r.noted
		if r.until == 0 {
			r.until = now // the first start of all
		}
	}
	after := max(r.until, now-board.Instant(lateMost.Milliseconds()))
	due := false
	if err := r.db.Read(ctx, board.System(), func(v *store.View) (err error) {
		due, err = v.AnybodyToRemind(ctx, after, now)
		return err
	}); err != nil {
		return err
	}
	if due || now-r.noted >= board.Instant(noteEvery.Milliseconds()) {
		var n int64
		if err := r.db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
			if n, err = tx.Remind(ctx, after, now); err != nil {
				return err
			}
			return tx.SetRemindedUntil(ctx, now)
		}); err != nil {
			return err
		}
		r.noted = now
		if n > 0 {
			r.log.Debug("wrote reminders", "reminders", n)
		}
	}
	r.until = now
	return nil
}

// post has emails written about what is to leave now.
func (r *Rounds) post(ctx context.Context) error {
	for {
		waits := false
		if err := r.db.Read(ctx, board.System(), func(v *store.View) (err error) {
			waits, err = v.NotificationsToPost(ctx)
			return err
		}); err != nil || !waits {
			return err
		}
		n := 0
		if err := r.db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
			n, err = tx.PostNotifications(ctx, emailBatch)
			return err
		}); err != nil || n < emailBatch {
			return err
		}
	}
}
