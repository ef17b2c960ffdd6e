package store

import (
	"context"
	"database/sql"
	"time"

	"cardwall/internal/board"
)

// Link returns the absolute URL of a path of the application.
func (v *View) Link(path string) string { return v.db.opts.BaseURL + path }

// SignUpClosed reports whether nobody can create an account.
func (v *View) SignUpClosed() bool { return v.db.opts.SignUpClosed }

// InsertEmail queues an email about a record, to be sent at notBefore or later. It does
// nothing if an email of the same kind about the record is already queued.
func (tx *Tx) InsertEmail(ctx context.Context, kind board.EmailKind, about string, notBefore board.Instant) error {
	return tx.exec(ctx, "INSERT INTO emails (id, kind, about, due_at, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
		tx.NewID("eml_"), string(kind), about, int64(max(notBefore, tx.now)), int64(tx.now))
}

// EmailsDue reports whether a queued email is due.
func (v *View) EmailsDue(ctx context.Context) (bool, error) {
	n, err := v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM emails WHERE due_at <= $1 LIMIT 1) AS n", int64(v.now))
	return n > 0, err
}

// EmailsWaiting returns the number of queued emails, counted up to limit, and for how
// long the first of them has been due.
func (v *View) EmailsWaiting(ctx context.Context, limit int) (n int, overdue time.Duration, err error) {
	if n, err = v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM emails LIMIT $1) AS n", limit); err != nil || n == 0 {
		return n, 0, err
	}
	var due int64
	_, err = v.one(ctx, "SELECT min(due_at) FROM emails", nil, &due)
	return n, time.Duration(max(0, int64(v.now)-due)) * time.Millisecond, err
}

// claimTries is the maximum number of due emails that one call tries to claim. If other
// servers have claimed them all, the call gives up.
const claimTries = 8

// ClaimEmail claims one of the emails that have been due longest, and returns it with the
// id of the record that it is about. No other server can claim the email before the lease
// ends. Found is false if ClaimEmail claimed no email.
func (tx *Tx) ClaimEmail(ctx context.Context, lease time.Duration) (e board.Email, about string, found bool, err error) {
	due, err := tx.texts(ctx, "SELECT id FROM emails WHERE due_at <= $1 ORDER BY due_at, id LIMIT $2", int64(tx.now), claimTries)
	if err != nil {
		return e, "", false, err
	}
	for _, id := range due {
		// If two servers chose the same email, the second one finds here that the email is
		// no longer due.
		err := tx.each(ctx, "UPDATE emails SET due_at = $1, attempts = attempts + 1 WHERE id = $2 AND due_at <= $3 "+
			"RETURNING id, kind, about, attempts",
			[]any{int64(tx.now) + lease.Milliseconds(), id, int64(tx.now)}, func(rows *sql.Rows) error {
				found = true
				return rows.Scan(&e.ID, &e.Kind, &about, &e.Attempt)
			})
		if err != nil || found {
			return e, about, found, err
		}
	}
	return e, "", false, nil
}

// DeleteEmail deletes an email that was sent or can never be sent.
func (tx *Tx) DeleteEmail(ctx context.Context, id string) error {
	return tx.exec(ctx, "DELETE FROM emails WHERE id = $1", id)
}

// PostponeEmail schedules the next attempt to send an email after a pause, unless
// another server has claimed it since the attempt.
func (tx *Tx) PostponeEmail(ctx context.Context, id string, attempt int, pause time.Duration) error {
	return tx.exec(ctx, "UPDATE emails SET due_at = $1 WHERE id = $2 AND attempts = $3", int64(tx.now)+pause.Milliseconds(), id, attempt)
}
