package store

import (
	"context"
	"time"

	"cardwall/internal/board"
)

const (
	maxDevices     = 100                  // maximum per person; the least recently used devices beyond it are deleted
	deviceLifetime = 400 * 24 * time.Hour // since the last use; the maximum lifetime of cookies in browsers
)

// KnownDevice reports whether a person has signed in with the caller's browser before, and
// whether the person has signed in from the given network before, with any browser.
func (v *View) KnownDevice(ctx context.Context, userID, network string) (knownDevice, knownNetwork bool, err error) {
	_, err = v.one(ctx, `SELECT COALESCE(MAX(CASE WHEN hash = $2 THEN 1 ELSE 0 END), 0) > 0, COALESCE(MAX(CASE WHEN network = $3
		THEN 1 ELSE 0 END), 0) > 0
		FROM known_devices WHERE user_id = $1 AND last_used_at > $4`,
		[]any{userID, deviceHash(v.caller), network, int64(v.now) - deviceLifetime.Milliseconds()}, &knownDevice, &knownNetwork)
	return knownDevice, knownNetwork, err
}

// deviceHash returns the hash of the caller's device. It is never nil, so that a
// comparison with a stored hash is true or false, but not NULL.
func deviceHash(c board.Caller) []byte { return append([]byte{}, c.Device...) }

// UseKnownDevice records that the caller has signed in with a known browser and returns
// the id of the browser, or "" if the account does not know it. Announced reports whether
// the owner was notified of this browser before. From now on, the browser counts as
// announced.
func (tx *Tx) UseKnownDevice(ctx context.Context, network string) (id string, announced bool, err error) {
	found, err := tx.one(ctx, "SELECT id, announced <> 0 FROM known_devices WHERE user_id = $1 AND hash = $2",
		[]any{tx.caller.UserID, deviceHash(tx.caller)}, &id, &announced)
	if err != nil || !found {
		return "", false, err
	}
	return id, announced, tx.exec(ctx, "UPDATE known_devices SET network = $1, address = $2, user_agent = $3, last_used_at = $4, "+
		"announced = 1 WHERE id = $5",
		network, tx.caller.Address, agent(tx.caller.UserAgent), int64(tx.now), id)
}

// InsertKnownDevice makes the caller's browser known to the account. Hash is the hash of
// the browser's new secret, which also replaces the old secret in other accounts that know
// the browser. A secret that an attacker planted in the browser is then useless.
func (tx *Tx) InsertKnownDevice(ctx context.Context, id string, hash []byte, network string) error {
	if len(tx.caller.Device) > 0 {
		if err := tx.exec(ctx, "UPDATE known_devices SET hash = $1 WHERE hash = $2", hash, tx.caller.Device); err != nil {
			return err
		}
	}
	now := int64(tx.now)
	if err := tx.exec(ctx, "INSERT INTO known_devices (id, user_id, hash, network, address, user_agent, announced, created_at, "+
		"last_used_at) VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $7)",
		id, tx.caller.UserID, hash, network, tx.caller.Address, agent(tx.caller.UserAgent), now); err != nil {
		return err
	}
	return tx.exec(ctx, "DELETE FROM known_devices WHERE user_id = $1 AND id NOT IN (SELECT id FROM known_devices "+
		"WHERE user_id = $1 ORDER BY last_used_at DESC, id DESC LIMIT $2)",
		tx.caller.UserID, maxDevices)
}

// ReannounceDevices makes the next sign-in with each known browser notify the caller
// again. For the limits on password attempts, the browsers remain known.
func (tx *Tx) ReannounceDevices(ctx context.Context) error {
	return tx.exec(ctx, "UPDATE known_devices SET announced = 0 WHERE user_id = $1", tx.caller.UserID)
}
