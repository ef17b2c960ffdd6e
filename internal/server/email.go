package server

import (
	"context"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/mail"
	"cardwall/internal/store"
)

// EmailQueue adapts the store's email queue to package mail.
func EmailQueue(db *store.DB) mail.Queue {
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
