package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// KeyLifetime is how long the response to an idempotency key is stored.
const KeyLifetime = 24 * time.Hour

// Stored is the first response to an idempotency key.
type Stored struct {
	Operation   string
	Fingerprint []byte
	WorkspaceID string
	BoardID     string
	Fault       board.Code // empty for a success
	Answer      []byte     // the data and boardVersion, or the fault's message
	Sealed      bool       // Answer contains a secret, so it is stored sealed
}

// Claim reserves an idempotency key for the caller. If a response to the key is
// stored, Claim returns it, and the caller must not run the operation. On PostgreSQL,
// Claim waits for another transaction that has just reserved the key. The request is
// the same if its fingerprint is equal to that of the key or to one of the earlier
// fingerprints.
func (tx *Tx) Claim(ctx context.Context, key, operation string, fingerprint []byte, earlier ...[]byte) (*Stored, error) {
	// The key of an expired response can be reserved again.
	n, err := tx.affected(ctx, `INSERT INTO idempotency (user_id, key, operation, fingerprint, fault, answer, created_at)
		VALUES ($1, $2, $3, $4, '', $5, $6) ON CONFLICT (user_id, key) DO UPDATE SET operation = excluded.operation,
		fingerprint = excluded.fingerprint, created_at = excluded.created_at WHERE idempotency.created_at < $7`,
		tx.caller.KeyOwner(), key, operation, fingerprint, []byte{}, int64(tx.now), int64(tx.now)-KeyLifetime.Milliseconds())
	if errors.Is(err, sqldb.ErrLocked) {
		return nil, board.InFlight()
	}
	if err != nil || n == 1 {
		return nil, err
	}
	var (
		s      Stored
		sealed int64
	)
	text := "SELECT operation, fingerprint, COALESCE(workspace_id, ''), COALESCE(board_id, ''), fault, answer, sealed " +
		"FROM idempotency WHERE user_id = $1 AND key = $2"
	if tx.db.dialect().RowLocks {
		// The row lock is a write, so the commit waits for a synchronous standby.
		// Without it, the caller could see the result of the first call before the
		// standby has it.
		text += " FOR UPDATE"
	}
	found, err := tx.one(ctx, text,
		[]any{tx.caller.KeyOwner(), key}, &s.Operation, &s.Fingerprint, &s.WorkspaceID, &s.BoardID, &s.Fault, &s.Answer, &sealed)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, board.Refuse(board.CodeUnavailable, "The idempotency key has just been released. Send the request again.")
	}
	same := func(sum []byte) bool { return bytes.Equal(s.Fingerprint, sum) }
	if s.Operation != operation || !same(fingerprint) && !slices.ContainsFunc(earlier, same) {
		return nil, board.Invalid("Idempotency-Key %q was used for another request. Use a new key for a new request.", key)
	}
	if s.Sealed = sealed != 0; s.Sealed {
		s.Answer, err = tx.opened(ResponseSealContext(tx.caller.KeyOwner(), key), s.Answer)
	}
	return &s, err
}

// KeyUsed reports whether a response to an idempotency key of the caller is stored.
func (db *DB) KeyUsed(ctx context.Context, caller board.Caller, key string) (used bool, err error) {
	err = db.Read(ctx, caller, func(v *View) error {
		n, err := v.count(ctx, "SELECT count(*) FROM idempotency WHERE user_id = $1 AND key = $2 AND created_at >= $3",
			caller.KeyOwner(), key, int64(v.now)-KeyLifetime.Milliseconds())
		used = n > 0
		return err
	})
	return used, err
}

// Keep stores the response to a reserved key.
func (tx *Tx) Keep(ctx context.Context, key string, s Stored) (err error) {
	if s.Sealed {
		if s.Answer, err = tx.sealed(ctx, ResponseSealContext(tx.caller.KeyOwner(), key), s.Answer); err != nil {
			return err
		}
	}
	return tx.exec(ctx, "UPDATE idempotency SET workspace_id = $1, board_id = $2, fault = $3, answer = $4, sealed = $5, comment_id "+
		"= $6 WHERE user_id = $7 AND key = $8",
		null(s.WorkspaceID), null(s.BoardID), string(s.Fault), s.Answer, flag(s.Sealed), null(tx.comment), tx.caller.KeyOwner(), key)
}

// Attempt runs fn in a savepoint. If fn fails, its changes are undone and the
// transaction can continue.
func (tx *Tx) Attempt(ctx context.Context, fn func() error) error {
	if err := tx.run.Savepoint(ctx, "SAVEPOINT attempt"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	err := fn()
	if err != nil {
		tx.pending, tx.touched, tx.seen, tx.held, tx.regranted, tx.dispatched = nil, nil, nil, nil, nil, nil
		tx.noted, tx.notedBoard, tx.audited, tx.comment = nil, "", 0, ""
		tx.grown, tx.sizes, tx.templates = nil, nil, nil
		tx.run.Discard()
		if _, err := tx.affected(ctx, "ROLLBACK TO SAVEPOINT attempt"); err != nil {
			return err
		}
	}
	if released := tx.exec(ctx, "RELEASE SAVEPOINT attempt"); released != nil {
		return released
	}
	return err
}

// PurgeKeys deletes responses that are older than KeyLifetime, at most limit.
func (tx *Tx) PurgeKeys(ctx context.Context, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM idempotency WHERE (user_id, key) IN (SELECT user_id, key FROM idempotency "+
		"WHERE created_at < $1 ORDER BY created_at LIMIT $2)", int64(tx.now)-KeyLifetime.Milliseconds(), limit)
}

// StillVisible returns an error if the caller can no longer see the subject of a
// stored response. It does not matter if the subject is archived or in the trash by
// now.
func (tx *Tx) StillVisible(ctx context.Context, workspaceID, boardID string) error {
	if tx.caller.Guest != nil {
		if _, _, err := tx.View.GuestPage(ctx); err != nil {
			return err
		}
	}
	if boardID == "" {
		if workspaceID == "" {
			return nil
		}
		_, err := tx.View.Workspace(ctx, workspaceID, board.ViewWorkspace)
		if board.IsCode(err, board.CodeNotFound) {
			return tx.TrashedWorkspace(ctx, workspaceID) // visible to the owners who moved it there
		}
		return err
	}
	var s accessScan
	found, err := tx.one(ctx, "SELECT "+accessColumns+" FROM boards b"+accessJoins+"WHERE b.id = $1",
		[]any{boardID, tx.caller.UserID}, s.dest()...)
	if err == nil && (!found || !s.result().Sees(tx.caller)) {
		err = board.NotFound()
	}
	return err
}
