package store

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// KeyLifetime is how long the answer to an idempotency key is kept.
const KeyLifetime = 24 * time.Hour

// Stored is the first answer to an idempotency key.
type Stored struct {
	Operation   string
	Fingerprint []byte
	WorkspaceID string
	BoardID     string
	Fault       board.Code // empty for a success
	Answer      []byte     // the data and boardVersion, or the fault's message
	Sealed      bool       // Answer holds a secret, and is sealed where it rests
}

// Claim takes a key for the caller. When the key has an answer already it is
// returned: the caller's own operation must not run. On PostgreSQL a claim
// waits for another transaction that has just claimed the same key. A key that
// was claimed with one of the earlier fingerprints is for the same request too.
func (tx *Tx) Claim(ctx context.Context, key, operation string, fingerprint []byte, earlier ...[]byte) (*Stored, error) {
	// An expired answer makes room for the same key.
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
		// A lock is written, so the commit waits for a synchronous standby: the
		// first call may have ended before that had what it did.
		text += " FOR UPDATE"
	}
	found, err := tx.one(ctx, text,
		[]any{tx.caller.KeyOwner(), key}, &s.Operation, &s.Fingerprint, &s.WorkspaceID, &s.BoardID, &s.Fault, &s.Answer, &sealed)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, board.Refuse(board.CodeUnavailable, "The key was just released; send the request again.")
	}
	same := func(sum []byte) bool { return bytes.Equal(s.Fingerprint, sum) }
	if s.Operation != operation || !same(fingerprint) && !slices.ContainsFunc(earlier, same) {
		return nil, board.Invalid("Idempotency-Key %q was used for another request; a new request needs a new key.", key)
	}
	if s.Sealed = sealed != 0; s.Sealed {
		s.Answer, err = tx.opened(AnswerSealContext(tx.caller.KeyOwner(), key), s.Answer)
	}
	return &s, err
}

// Keep stores the answer to a claimed key.
func (tx *Tx) Keep(ctx context.Context, key string, s Stored) (err error) {
	if s.Sealed {
		if s.Answer, err = tx.sealed(ctx, AnswerSealContext(tx.caller.KeyOwner(), key), s.Answer); err != nil {
			return err
		}
	}
	return tx.exec(ctx, "UPDATE idempotency SET workspace_id = $1, board_id = $2, fault = $3, answer = $4, sealed = $5, comment_id "+
		"= $6 WHERE user_id = $7 AND key = $8",
		optional(s.WorkspaceID), optional(s.BoardID), string(s.Fault), s.Answer, flag(s.Sealed), optional(tx.comment), tx.caller.KeyOwner(), key)
}

// Attempt runs fn in a savepoint: when it fails, all that it did is undone and
// the transaction can go on.
func (tx *Tx) Attempt(ctx context.Context, fn func() error) error {
	if _, err := tx.affected(ctx, "SAVEPOINT attempt"); err != nil {
		return err
	}
	err := fn()
	if err != nil {
		tx.pending, tx.touched, tx.seen, tx.held, tx.regranted, tx.dispatched = nil, nil, nil, nil, nil, nil
		tx.noted, tx.notedBoard, tx.audited, tx.comment = nil, "", 0, ""
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

// PurgeKeys forgets answers that are older than KeyLifetime.
func (tx *Tx) PurgeKeys(ctx context.Context) (int64, error) {
	return tx.affected(ctx, "DELETE FROM idempotency WHERE created_at < $1", int64(tx.now)-KeyLifetime.Milliseconds())
}

// StillVisible refuses when the caller no longer sees what a stored answer is
// about, in whatever state that is by now.
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
			return tx.TrashedWorkspace(ctx, workspaceID) // for who put it there
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
