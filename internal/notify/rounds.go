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
	maxLateness = 24 * time.Hour // later reminders are dropped
	noteEvery   = 10 * time.Minute
	emailBatch  = 200 // emails queued per transaction
)

// Rounds periodically does the work that is due.
type Rounds struct {
	db     *store.DB
	holder string
	log    *slog.Logger
	failed *backoff.Log
	until  board.Instant // reminders are written up to here; 0 if unknown
	noted  board.Instant // as stored in the database
}

// New returns the rounds of a server with the given name.
func New(db *store.DB, holder string, log *slog.Logger) *Rounds {
	return &Rounds{db: db, holder: holder, log: log, failed: backoff.NewLog(log)}
}

const waiting = "reminders and notification emails delayed"

// Run works until ctx ends.
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

// Round does the work that is due now, unless another server has the lease.
func (r *Rounds) Round(ctx context.Context) error {
	if r.db.Shared() {
		held, err := r.db.Lease(ctx, "notifications", r.holder, leaseLength)
		if err != nil || !held {
			r.until = 0 // the next holder continues from the stored time
			return err
		}
	}
	if err := r.remind(ctx); err != nil {
		return fmt.Errorf("remind: %w", err)
	}
	return r.post(ctx)
}

// remind writes the reminders since the last call. If nothing is due, it only
// stores its progress now and then; checking a period twice reminds nobody
// twice.
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
			r.until = now // the very first start
		}
	}
	after := max(r.until, now-board.Instant(maxLateness.Milliseconds()))
	due := false
	if err := r.db.Read(ctx, board.System(), func(v *store.View) (err error) {
		due, err = v.HasDueReminders(ctx, after, now)
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
			r.log.Debug("reminders written", "reminders", n)
		}
	}
	r.until = now
	return nil
}

// post queues emails about notifications that are due now.
func (r *Rounds) post(ctx context.Context) error {
	for {
		waits := false
		if err := r.db.Read(ctx, board.System(), func(v *store.View) (err error) {
			waits, err = v.HasNotificationEmails(ctx)
			return err
		}); err != nil || !waits {
			return err
		}
		n := 0
		if err := r.db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
			n, err = tx.QueueNotificationEmails(ctx, emailBatch)
			return err
		}); err != nil || n < emailBatch {
			return err
		}
	}
}
