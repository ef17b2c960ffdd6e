package store

import (
	"context"
	"database/sql"
	"time"

	"cardwall/internal/board"
)

// Passkeys returns a page of the caller's passkeys, newest first. If before is not "", it
// returns only passkeys older than the passkey with that id.
func (v *View) Passkeys(ctx context.Context, before string, limit int) ([]board.Passkey, error) {
	out := []board.Passkey{}
	err := v.each(ctx, "SELECT id, name, created_at, last_used_at FROM passkeys WHERE user_id = $1 AND ($2 = '' OR id < $2) "+
		"ORDER BY id DESC LIMIT $3",
		[]any{v.caller.UserID, before, limit}, func(rows *sql.Rows) error {
			var p board.Passkey
			err := rows.Scan(&p.ID, &p.Name, &p.CreatedAt, &p.LastUsedAt)
			out = append(out, p)
			return err
		})
	return out, err
}

// Credentials returns the credentials of a person's passkeys, in the encoding of package
// account.
func (v *View) Credentials(ctx context.Context, userID string) ([]string, error) {
	return v.texts(ctx, "SELECT credential FROM passkeys WHERE user_id = $1 ORDER BY id", userID)
}

// HasUser reports whether there is an account with the given id.
func (v *View) HasUser(ctx context.Context, userID string) (bool, error) {
	n, err := v.count(ctx, "SELECT count(*) FROM users WHERE id = $1 AND deleted_at IS NULL", userID)
	return n > 0, err
}

// InsertPasskey stores a new passkey of the caller. It returns an invalid_request error
// if the credential is already registered with any account.
func (tx *Tx) InsertPasskey(ctx context.Context, p *board.Passkey, credentialID []byte, credential string) error {
	p.CreatedAt = tx.now
	n, err := tx.affected(ctx, "INSERT INTO passkeys (id, user_id, name, credential_id, credential, created_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
		p.ID, tx.caller.UserID, p.Name, credentialID, credential, int64(tx.now))
	if err == nil && n == 0 {
		err = board.Invalid("credential: this passkey is already registered.").In("credential", board.RuleValue)
	}
	return err
}

// UsePasskey records that a person has signed in with a passkey. It also stores the
// credential, because its signature counter may have changed.
func (tx *Tx) UsePasskey(ctx context.Context, userID string, credentialID []byte, credential string) error {
	return tx.exec(ctx, "UPDATE passkeys SET credential = $1, last_used_at = $2 WHERE credential_id = $3 AND user_id = $4",
		credential, int64(tx.now), credentialID, userID)
}

// DeletePasskey deletes a passkey of the caller. It returns a not_found error if the
// caller has no such passkey.
func (tx *Tx) DeletePasskey(ctx context.Context, id string) error {
	n, err := tx.affected(ctx, "DELETE FROM passkeys WHERE id = $1 AND user_id = $2", id, tx.caller.UserID)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	return err
}

// InsertChallenge stores the challenge of a WebAuthn ceremony. If the caller is signed
// in, only the caller can complete the ceremony.
func (tx *Tx) InsertChallenge(ctx context.Context, id, data string, lifetime time.Duration) error {
	return tx.exec(ctx, "INSERT INTO challenges (id, user_id, data, expires_at) VALUES ($1, $2, $3, $4)",
		id, null(tx.caller.UserID), data, int64(tx.now)+lifetime.Milliseconds())
}

// TakeChallenge deletes a challenge and returns its data. If signedIn is true, the caller
// must have started the ceremony. Otherwise, someone who was not signed in must have
// started it. TakeChallenge returns a not_found error if there is no such challenge or it
// has expired.
func (tx *Tx) TakeChallenge(ctx context.Context, id string, signedIn bool) (data string, err error) {
	owner, args := "user_id IS NULL", []any{id, int64(tx.now)}
	if signedIn {
		owner, args = "user_id = $3", append(args, tx.caller.UserID)
	}
	found, err := tx.one(ctx, "DELETE FROM challenges WHERE id = $1 AND expires_at > $2 AND "+owner+" RETURNING data", args, &data)
	if err == nil && !found {
		err = board.NotFound()
	}
	return data, err
}
