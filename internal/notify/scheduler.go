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
	interval     = 15 * time.Second
	leaseLength  = 4 * interval
	maxDelay     = 24 * time.Hour   // reminders that would be later than this are dropped
	saveInterval = 10 * time.Minute // between updates of the stored progress if nothing is due
	emailBatch   = 200              // emails queued per transaction
)

// Scheduler writes reminders and queues notification emails when they are due.
type Scheduler struct {
	db     *store.DB
	holder string
	log    *slog.Logger
	failed *backoff.Log
	until  board.Instant // reminders due by this time have been written; 0 if unknown
	saved  board.Instant // the value of until in the database
}

// New returns the scheduler of a server. holder identifies the server in leases.
func New(db *store.DB, holder string, log *slog.Logger) *Scheduler {
	return &Scheduler{db: db, holder: holder, log: log, failed: backoff.NewLog(log)}
}

const delayed = "reminders and notification emails delayed"

// Run calls RunOnce periodically until ctx ends.
func (s *Scheduler) Run(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := s.RunOnce(ctx); err == nil {
			s.failed.Succeeded(delayed)
		} else if ctx.Err() == nil {
			s.failed.Failed(delayed, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// RunOnce does the work that is due now, unless another server has the lease.
func (s *Scheduler) RunOnce(ctx context.Context) error {
	if s.db.Shared() {
		held, err := s.db.Lease(ctx, "notifications", s.holder, leaseLength)
		if err != nil || !held {
			s.until = 0 // the next holder continues from the stored time
			return err
		}
	}
	if err := s.remind(ctx); err != nil {
		return fmt.Errorf("remind: %w", err)
	}
	return s.queueEmails(ctx)
}

// remind writes the reminders that have become due since the last call or, if s.until is
// unknown, since the stored progress. If nothing is due, it stores its progress only once
// per saveInterval. Checking a period again is harmless, because a reminder is written
// only once.
func (s *Scheduler) remind(ctx context.Context) error {
	now := board.InstantOf(s.db.Now())
	if s.until == 0 {
		if err := s.db.Read(ctx, board.System(), func(v *store.View) (err error) {
			s.saved, err = v.RemindedUntil(ctx)
			return err
		}); err != nil {
			return err
		}
		s.until = s.saved
		if s.until == 0 {
			s.until = now // the first run on this database
		}
	}
	after := max(s.until, now-board.Instant(maxDelay.Milliseconds()))
	due := false
	if err := s.db.Read(ctx, board.System(), func(v *store.View) (err error) {
		due, err = v.HasDueReminders(ctx, after, now)
		return err
	}); err != nil {
		return err
	}
	if due || now-s.saved >= board.Instant(saveInterval.Milliseconds()) {
		var n int64
		if err := s.db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
			if n, err = tx.Remind(ctx, after, now); err != nil {
				return err
			}
			return tx.SetRemindedUntil(ctx, now)
		}); err != nil {
			return err
		}
		s.saved = now
		if n > 0 {
			s.log.Debug("reminders written", "reminders", n)
		}
	}
	s.until = now
	return nil
}

// queueEmails queues the emails about notifications that are due now.
func (s *Scheduler) queueEmails(ctx context.Context) error {
	for {
		due := false
		if err := s.db.Read(ctx, board.System(), func(v *store.View) (err error) {
			due, err = v.HasNotificationEmails(ctx)
			return err
		}); err != nil || !due {
			return err
		}
		n := 0
		if err := s.db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
			n, err = tx.QueueNotificationEmails(ctx, emailBatch)
			return err
		}); err != nil || n < emailBatch {
			return err
		}
	}
}
