package store

import (
	"context"
	"time"

	"cardwall/internal/board"
)

// InsertDevice writes a device authorization request with the hashes of its device
// code and its user code. It returns false if one of the codes is in use.
func (tx *Tx) InsertDevice(ctx context.Context, d board.Device, hash, userCode []byte) (inserted bool, err error) {
	n, err := tx.affected(ctx, `INSERT INTO oauth_devices (id, hash, user_code, client_id, client_name, host, resource, scopes,
		refreshes, state, pause, polled_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING`,
		d.ID, hash, userCode, d.ClientID, d.ClientName, d.Host, d.Resource, joined(d.Scopes), flag(d.Refreshes), string(board.DevicePending),
		board.DevicePause.Milliseconds(), 0, int64(tx.now)+board.DeviceLifetime.Milliseconds())
	return n == 1, err
}

const deviceColumns = `SELECT id, client_id, client_name, host, resource, scopes, refreshes <> 0, state, COALESCE(user_id, ''),
	COALESCE(workspace_id, ''), pause, polled_at, expires_at, COALESCE(token_id, ''),
	user_id IS NULL OR ` + ownerExists + ` FROM oauth_devices WHERE `

func (v *View) device(ctx context.Context, text string, hash []byte) (board.Device, error) {
	var (
		d      board.Device
		scopes string
		pause  int64
		until  board.Instant
		exists bool
	)
	found, err := v.one(ctx, text, []any{hash}, &d.ID, &d.ClientID, &d.ClientName, &d.Host, &d.Resource, &scopes, &d.Refreshes, &d.State,
		&d.UserID, &d.WorkspaceID, &pause, &d.PolledAt, &until, &d.TokenID, &exists)
	if err == nil && !found {
		err = board.NotFound()
	}
	d.Scopes, d.Pause, d.Expired = scopesOf(scopes), time.Duration(pause)*time.Millisecond, until <= v.now || !exists
	return d, err
}

// Device loads a device authorization request by the hash of its device code and locks
// it until the transaction ends.
func (tx *Tx) Device(ctx context.Context, hash []byte) (board.Device, error) {
	return tx.device(ctx, tx.forUpdate(deviceColumns+"hash = $1"), hash)
}

// PendingDevice returns the pending device authorization request whose user code has the
// given hash. It returns a not_found error if the request was decided or has expired.
func (v *View) PendingDevice(ctx context.Context, userCode []byte) (board.Device, error) {
	d, err := v.device(ctx, deviceColumns+"user_code = $1", userCode)
	if err == nil && (d.Expired || d.State != board.DevicePending) {
		err = board.NotFound()
	}
	return d, err
}

// DecideDevice writes the caller's decision on a device authorization request. It
// returns false if the request was already decided.
func (tx *Tx) DecideDevice(ctx context.Context, d board.Device) (decided bool, err error) {
	n, err := tx.affected(ctx, "UPDATE oauth_devices SET state = $1, scopes = $2, workspace_id = $3, user_id = $4 "+
		"WHERE id = $5 AND state = $6",
		string(d.State), joined(d.Scopes), null(d.WorkspaceID), tx.caller.UserID, d.ID, string(board.DevicePending))
	return n == 1, err
}

// RecordDevicePoll records that a device has just polled. Pause is the minimum time
// until the device's next poll.
func (tx *Tx) RecordDevicePoll(ctx context.Context, id string, pause time.Duration) error {
	return tx.exec(ctx, "UPDATE oauth_devices SET polled_at = $1, pause = $2 WHERE id = $3", int64(tx.now), pause.Milliseconds(), id)
}

// UseDevice records the token that a device authorization request was exchanged for.
func (tx *Tx) UseDevice(ctx context.Context, id, tokenID string) error {
	return tx.exec(ctx, "UPDATE oauth_devices SET token_id = $1 WHERE id = $2", tokenID, id)
}
