package store

import (
	"context"
	"time"

	"cardwall/internal/board"
)

// InsertDevice writes the question of a device by the hashes of its code and of
// what a person types. It is false when another one has that already.
func (tx *Tx) InsertDevice(ctx context.Context, d board.Device, hash, userCode []byte) (fresh bool, err error) {
	n, err := tx.affected(ctx, `INSERT INTO oauth_devices (id, hash, user_code, client_id, client_name, host, resource, scopes,
		refreshes, state, pause, polled_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING`,
		d.ID, hash, userCode, d.ClientID, d.ClientName, d.Host, d.Resource, joined(d.Scopes), flag(d.Refreshes), string(board.DeviceAsked),
		board.DevicePause.Milliseconds(), 0, int64(tx.now)+board.DeviceLifetime.Milliseconds())
	return n == 1, err
}

const deviceColumns = `SELECT id, client_id, client_name, host, resource, scopes, refreshes <> 0, state, COALESCE(user_id, ''),
	COALESCE(workspace_id, ''), pause, polled_at, expires_at, COALESCE(token_id, ''),
	user_id IS NULL OR ` + ownerThere + ` FROM oauth_devices WHERE `

func (v *View) device(ctx context.Context, text string, hash []byte) (board.Device, error) {
	var (
		d      board.Device
		scopes string
		pause  int64
		until  board.Instant
		there  bool
	)
	found, err := v.one(ctx, text, []any{hash}, &d.ID, &d.ClientID, &d.ClientName, &d.Host, &d.Resource, &scopes, &d.Refreshes, &d.State,
		&d.UserID, &d.WorkspaceID, &pause, &d.PolledAt, &until, &d.TokenID, &there)
	if err == nil && !found {
		err = board.NotFound()
	}
	d.Scopes, d.Pause, d.Expired = scopesOf(scopes), time.Duration(pause)*time.Millisecond, until <= v.now || !there
	return d, err
}

// Device loads the question of a device by the hash of its code, for this
// transaction alone.
func (tx *Tx) Device(ctx context.Context, hash []byte) (board.Device, error) {
	return tx.device(ctx, tx.forUpdate(deviceColumns+"hash = $1"), hash)
}

// AskedDevice is the question that waits for an answer, by the hash of what a
// person typed. One that was answered or has expired is not found.
func (v *View) AskedDevice(ctx context.Context, userCode []byte) (board.Device, error) {
	d, err := v.device(ctx, deviceColumns+"user_code = $1", userCode)
	if err == nil && (d.Expired || d.State != board.DeviceAsked) {
		err = board.NotFound()
	}
	return d, err
}

// AnswerDevice writes the caller's answer to a question. It is false when there
// is one already.
func (tx *Tx) AnswerDevice(ctx context.Context, d board.Device) (answered bool, err error) {
	n, err := tx.affected(ctx, "UPDATE oauth_devices SET state = $1, scopes = $2, workspace_id = $3, user_id = $4 "+
		"WHERE id = $5 AND state = $6",
		string(d.State), joined(d.Scopes), optional(d.WorkspaceID), tx.caller.UserID, d.ID, string(board.DeviceAsked))
	return n == 1, err
}

// PolledDevice notes that a device asked just now, and the pause that it must
// keep.
func (tx *Tx) PolledDevice(ctx context.Context, id string, pause time.Duration) error {
	return tx.exec(ctx, "UPDATE oauth_devices SET polled_at = $1, pause = $2 WHERE id = $3", int64(tx.now), pause.Milliseconds(), id)
}

// UseDevice notes what a device's question was redeemed for.
func (tx *Tx) UseDevice(ctx context.Context, id, tokenID string) error {
	return tx.exec(ctx, "UPDATE oauth_devices SET token_id = $1 WHERE id = $2", tokenID, id)
}
