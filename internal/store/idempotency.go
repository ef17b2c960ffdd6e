package store

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"cardwall/internal/board"
)

// KeyLifetime is how long the response to an idempotency key is stored.
const KeyLifetime = 24 * time.Hour

// StoredResponse is the first response to an idempotency key.
type StoredResponse struct {
	Operation   string
	Fingerprint []byte
	WorkspaceID string
	BoardID     string
	Fault       board.Code // empty for a success
	Body        []byte     // the data and boardVersion, or the fault
	Sealed      bool       // Body contains a secret, so it is stored sealed
}

// claim is an idempotency key that SaveResponse stores a response for.
type claim struct {
	key, operation string
	fingerprint    []byte
	expired        bool // an expired response to the key is stored
}

const storedResponse = "SELECT operation, fingerprint, COALESCE(workspace_id, ''), COALESCE(board_id, ''), fault, answer, sealed, " +
	"created_at FROM idempotency WHERE user_id = $1 AND key = $2"

// ExpectKeyClaim arranges for check to be called when claiming the key costs no extra
// round trip. check must call ClaimKey. On SQLite, ExpectKeyClaim calls check
// immediately. On PostgreSQL, the loader of the first record on a board calls check and
// returns its error. If the transaction loads no such record, check is not called.
func (tx *Tx) ExpectKeyClaim(key string, check func() error) error {
	if !tx.db.dialect().RowLocks {
		return check()
	}
	tx.run.Expect(storedResponse, tx.caller.KeyOwner(), key)
	tx.onLoad = check
	return nil
}

// ClaimKey returns the response that is stored for an idempotency key of the caller, or
// nil if there is none or it has expired. If ClaimKey returns nil, the caller must call
// SaveResponse in the same transaction. If another transaction stores a response to the
// key in the meantime, this transaction runs again and finds that response. ClaimKey
// returns an invalid_request error if the key was used for another request: the operation
// or the fingerprint differs.
func (tx *Tx) ClaimKey(ctx context.Context, key, operation string, fingerprint []byte) (*StoredResponse, error) {
	var (
		s       StoredResponse
		sealed  int64
		created board.Instant
	)
	args := []any{tx.caller.KeyOwner(), key}
	found, err := tx.one(ctx, storedResponse, args,
		&s.Operation, &s.Fingerprint, &s.WorkspaceID, &s.BoardID, &s.Fault, &s.Body, &sealed, &created)
	if err != nil {
		return nil, err
	}
	expired := found && int64(created) < int64(tx.now)-KeyLifetime.Milliseconds()
	if !found || expired {
		tx.claim = claim{key, operation, fingerprint, expired}
		return nil, nil
	}
	if tx.db.dialect().RowLocks {
		// The row lock is a write, so the commit waits for a synchronous standby.
		// Without it, the caller could see the result of the first call before the
		// standby has it.
		if err := tx.exec(ctx, "SELECT 1 FROM idempotency WHERE user_id = $1 AND key = $2 FOR UPDATE", args...); err != nil {
			return nil, err
		}
	}
	if s.Operation != operation || !bytes.Equal(s.Fingerprint, fingerprint) {
		return nil, board.Invalid("Idempotency-Key %q was used for another request. Use a new key for a new request.", key)
	}
	if s.Sealed = sealed != 0; s.Sealed {
		s.Body, err = tx.opened(ResponseSealContext(tx.caller.KeyOwner(), key), s.Body)
	}
	return &s, err
}

// KeyUsed reports whether a response to an idempotency key of the caller is stored and
// has not expired.
func (db *DB) KeyUsed(ctx context.Context, caller board.Caller, key string) (used bool, err error) {
	err = db.Read(ctx, caller, func(v *View) error {
		n, err := v.count(ctx, "SELECT count(*) FROM idempotency WHERE user_id = $1 AND key = $2 AND created_at >= $3",
			caller.KeyOwner(), key, int64(v.now)-KeyLifetime.Milliseconds())
		used = n > 0
		return err
	})
	return used, err
}

// SaveResponse stores the response to a claimed key.
func (tx *Tx) SaveResponse(ctx context.Context, key string, s StoredResponse) error {
	c := tx.claim
	if c.key != key {
		return fmt.Errorf("the idempotency key %q was not claimed", key)
	}
	if c.expired {
		if err := tx.exec(ctx, "DELETE FROM idempotency WHERE user_id = $1 AND key = $2 AND created_at < $3",
			tx.caller.KeyOwner(), key, int64(tx.now)-KeyLifetime.Milliseconds()); err != nil {
			return err
		}
	}
	return tx.saveResponse(ctx, key, c.operation, c.fingerprint, s, "")
}

// PartKey returns the key for which the response to a part of a batch is stored. Keys of clients
// contain no spaces.
func PartKey(key string, part int) string { return fmt.Sprintf("%s %d", key, part) }

// SavePart stores the response to a part of a batch, which was the last change in the transaction. It is for a
// transaction that claims the key of the batch, so that a stored response to the part has expired.
func (tx *Tx) SavePart(ctx context.Context, key string, part int, operation string, fingerprint []byte, s StoredResponse) error {
	s.WorkspaceID, s.BoardID = tx.Scope()
	err := tx.saveResponse(ctx, PartKey(key, part), operation, fingerprint, s, " ON CONFLICT (user_id, key) DO UPDATE SET "+
		"operation = excluded.operation, fingerprint = excluded.fingerprint, workspace_id = excluded.workspace_id, "+
		"board_id = excluded.board_id, fault = excluded.fault, answer = excluded.answer, sealed = excluded.sealed, "+
		"comment_id = excluded.comment_id, created_at = excluded.created_at")
	tx.comment = ""
	return err
}

func (tx *Tx) saveResponse(ctx context.Context, key, operation string, fingerprint []byte, s StoredResponse, conflict string) (err error) {
	owner := tx.caller.KeyOwner()
	if s.Sealed {
		if s.Body, err = tx.sealed(ctx, ResponseSealContext(owner, key), s.Body); err != nil {
			return err
		}
	}
	return tx.exec(ctx, "INSERT INTO idempotency (user_id, key, operation, fingerprint, workspace_id, board_id, fault, answer, sealed, "+
		"comment_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"+conflict,
		owner, key, operation, fingerprint, null(s.WorkspaceID), null(s.BoardID), string(s.Fault), nonNil(s.Body), flag(s.Sealed),
		null(tx.comment), int64(tx.now))
}

// keyIndex is the unique index of idempotency keys on PostgreSQL. Two transactions that store a
// response to the same key conflict there.
const keyIndex = "idempotency_pkey"

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Subtransaction runs fn. If fn fails, Subtransaction undoes its changes and returns its
// error. The transaction can then continue, but must load its records again. It must not
// emit events before it calls Subtransaction, because a failure would discard them.
func (tx *Tx) Subtransaction(ctx context.Context, fn func() error) error {
	err := tx.run.Subtransaction(ctx, fn)
	if err != nil {
		tx.seen, tx.unitOfWork = nil, unitOfWork{}
	}
	return err
}

// PurgeKeys deletes at most limit responses that are older than KeyLifetime.
func (tx *Tx) PurgeKeys(ctx context.Context, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM idempotency WHERE (user_id, key) IN (SELECT user_id, key FROM idempotency "+
		"WHERE created_at < $1 ORDER BY created_at LIMIT $2)", int64(tx.now)-KeyLifetime.Milliseconds(), limit)
}

// StillVisible returns an error if the caller can no longer see the board or workspace
// of a stored response. A board that is now archived or in the trash still counts as
// visible, and so does a workspace in the trash for people who owned it.
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
			return tx.TrashedWorkspace(ctx, workspaceID) // returns no error to people who owned the workspace
		}
		return err
	}
	var s accessScan
	found, err := tx.one(ctx, "SELECT "+accessColumns+" FROM boards b"+accessJoins+"WHERE b.id = $1",
		[]any{boardID, tx.caller.UserID}, s.dest()...)
	if err == nil && (!found || !s.result().CanSee(tx.caller)) {
		err = board.NotFound()
	}
	return err
}
