package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/seal"
)

// KeySetting is the setting with the ids of the keys that secrets are sealed under,
// separated by commas. All servers seal under the first one, in whatever order their
// keyrings are configured. During a rotation there are several.
const (
	KeySetting      = "secret_key"
	keySettingQuery = "SELECT value FROM settings WHERE key = $1"
)

// ErrNoKeys means that the store was opened without sealing keys.
var ErrNoKeys = errors.New("the store has no secret key, so it cannot store secrets")

// WebhookSealContext returns the context of a webhook's address or secret. A sealed value
// is bound to its context: if it is copied elsewhere, it cannot be opened.
func WebhookSealContext(webhookID, column string) string {
	return "webhook:" + webhookID + ":" + column
}

// PageSealContext returns the context of the key of a board's public page.
func PageSealContext(boardID string) string { return "public-page:" + boardID + ":secret" }

// ResponseSealContext returns the context of a stored response to an idempotent
// request.
func ResponseSealContext(userID, key string) string { return "idempotency:" + userID + ":" + key }

// sealed seals a secret for its context. On PostgreSQL it locks the setting until
// the transaction ends, so that a key rotation waits and then also finds this
// secret.
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

// opened opens a secret that was sealed for the context.
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

// checkKeys returns an error if the keyring lacks a key that secrets in this database
// are sealed under. If the database has no secrets yet, checkKeys records the current
// key as the one to seal under.
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
			err = read() // another server may have been first
		}
	}
	if err != nil {
		return fmt.Errorf("check the secret key: %w", err)
	}
	return keysMissing(keys, ids)
}

// keysMissing returns an error if the keyring lacks one of the keys. The error names
// the setting to change.
func keysMissing(keys *seal.Keyring, ids []string) error {
	for _, id := range ids {
		if !keys.Has(id) {
			return fmt.Errorf("the secrets in this database are sealed under the key %s, and this server has only %s: "+
				"set CARDWALL_SECRET_KEY to that key, the same on every server, or put its secret.key back into the data folder", id, keys)
		}
	}
	return nil
}

// Keys returns the sealing keys of the server, nil for none.
func (db *DB) Keys() *seal.Keyring { return db.opts.Keys }
