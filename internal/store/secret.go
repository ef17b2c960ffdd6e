package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/seal"
)

// KeySetting is the name of the setting that contains the ids of the sealing keys in
// use, separated by commas. All servers seal under the first key, regardless of the
// order of their keyrings. There is more than one key only during a key rotation.
const (
	KeySetting      = "secret_key"
	keySettingQuery = "SELECT value FROM settings WHERE key = $1"
)

// ErrNoKeys is returned for an operation on secrets if the store was opened without
// sealing keys.
var ErrNoKeys = errors.New("the store has no secret key, so it can neither store nor read secrets")

// WebhookSealContext returns the seal context of a webhook's address, secret or headers. A
// sealed value is bound to its context, so it cannot be opened if it is copied elsewhere.
func WebhookSealContext(webhookID, column string) string {
	return "webhook:" + webhookID + ":" + column
}

// PageSealContext returns the seal context of the key of a board's public page.
func PageSealContext(boardID string) string { return "public-page:" + boardID + ":secret" }

// ResponseSealContext returns the seal context of a stored response to an idempotent
// request.
func ResponseSealContext(userID, key string) string { return "idempotency:" + userID + ":" + key }

// sealed seals a secret in a context. On PostgreSQL, it locks the setting until the
// transaction ends, so that a key rotation waits and then finds this secret too.
func (tx *Tx) sealed(ctx context.Context, sealContext string, plain []byte) ([]byte, error) {
	keys := tx.db.opts.Keys
	if keys == nil {
		return nil, ErrNoKeys
	}
	text := keySettingQuery
	if tx.db.dialect().RowLocks {
		text += " FOR SHARE"
	}
	ids, err := tx.keySetting(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, ErrNoKeys
	}
	out, err := keys.SealUnder(ids[0], sealContext, plain)
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", sealContext, err)
	}
	return out, nil
}

// opened opens a secret that was sealed in a context.
func (v *View) opened(sealContext string, sealed []byte) ([]byte, error) {
	if v.db.opts.Keys == nil {
		return nil, ErrNoKeys
	}
	plain, err := v.db.opts.Keys.Open(sealContext, sealed)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", sealContext, err)
	}
	return plain, nil
}

func (v *View) keySetting(ctx context.Context, text string) ([]string, error) {
	var value string
	if found, err := v.one(ctx, text, []any{KeySetting}, &value); err != nil || !found {
		return nil, err
	}
	return strings.Split(value, ","), nil
}

// checkKeys returns an error if the keyring lacks a key under which secrets in this
// database are sealed. If the database has no key setting yet, checkKeys stores the id of
// the current key in it.
func (db *DB) checkKeys(ctx context.Context) error {
	keys := db.opts.Keys
	if keys == nil {
		return nil
	}
	var ids []string
	read := func() error {
		return db.Read(ctx, board.System(), func(v *View) (err error) {
			ids, err = v.keySetting(ctx, keySettingQuery)
			return err
		})
	}
	err := read()
	if err == nil && len(ids) == 0 {
		if err = db.Write(ctx, board.System(), func(tx *Tx) error {
			return tx.exec(ctx, "INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", KeySetting, keys.Current())
		}); err == nil {
			err = read() // another server may have stored its key first
		}
	}
	if err != nil {
		return fmt.Errorf("check the secret key: %w", err)
	}
	return keysMissing(keys, ids)
}

// keysMissing returns an error if the keyring lacks one of the keys. The error names
// the environment variable to change.
func keysMissing(keys *seal.Keyring, ids []string) error {
	for _, id := range ids {
		if !keys.Has(id) {
			return fmt.Errorf("the secrets in this database are sealed under the key %s, but this server has only %s: "+
				"set CARDWALL_SECRET_KEY to that key, the same on every server, or put its secret.key back into the data folder", id, keys)
		}
	}
	return nil
}

// Keys returns the sealing keys of the server, or nil if it has none.
func (db *DB) Keys() *seal.Keyring { return db.opts.Keys }
