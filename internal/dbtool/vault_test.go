package dbtool_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/seal"
	"cardwall/internal/store"
)

// vault is a database with sealed values.
type vault struct {
	*apptest.Service
	keys   *seal.Keyring     // all keys under which values may be sealed
	values map[string]string // the expected plaintexts, by seal context

	user, organization, workspace string // ids of the owners of stored responses and webhooks
}

// keyring returns a keyring with the given keys.
func keyring(t testing.TB, keys ...string) *seal.Keyring {
	t.Helper()
	k, err := seal.Parse(strings.Join(keys, ","))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// testVaults runs a test on SQLite and on PostgreSQL, with values that are sealed under
// the old key.
func testVaults(t *testing.T, webhooks, responses int, fn func(t *testing.T, v *vault, oldKey, newKey string)) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		oldKey, newKey := seal.NewKey(), seal.NewKey()
		v := newVault(t, database, keyring(t, oldKey), webhooks, responses)
		v.keys = keyring(t, newKey, oldKey)
		fn(t, v, oldKey, newKey)
	})
}

func newVault(t *testing.T, database string, keys *seal.Keyring, webhooks, responses int) *vault {
	t.Helper()
	s := apptest.New(t, database, apptest.Options{Keys: keys})
	ada := s.Person("Ada")
	v := &vault{Service: s, keys: keys, values: map[string]string{}, workspace: ada.Workspace("Engines", board.PlanTeam)}
	v.user = s.Column("SELECT user_id FROM workspace_members")[0]
	v.organization = s.Column("SELECT id FROM organizations")[0]
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		for i := range webhooks {
			if err := v.insertWebhook(ctx, tx, keys, fmt.Sprintf("whk_%04d", i), i%3 == 0); err != nil {
				return err
			}
			if err := v.insertPublicPage(ctx, tx, keys, fmt.Sprintf("brd_%04d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	s.Write(board.Person(v.user), func(ctx context.Context, tx *store.Tx) error {
		for i := range responses {
			if err := v.storeResponse(ctx, tx, fmt.Sprintf("key %04d", i)); err != nil {
				return err
			}
		}
		for i := range responses { // unsealed responses, which Reseal must not change
			key := fmt.Sprintf("open %04d", i)
			if _, err := tx.ClaimKey(ctx, key, "op", []byte{1}); err != nil {
				return err
			}
			if err := tx.SaveResponse(ctx, key, store.StoredResponse{Body: []byte(key)}); err != nil {
				return err
			}
		}
		return nil
	})
	return v
}

// insertWebhook inserts a webhook whose columns are sealed under the first key of a keyring.
func (v *vault) insertWebhook(ctx context.Context, tx *store.Tx, keys *seal.Keyring, id string, rotated bool) error {
	sealed := func(column string) []byte {
		sealContext := "webhook:" + id + ":" + column
		v.values[sealContext] = "secret of " + sealContext
		return keys.Seal(sealContext, []byte(v.values[sealContext]))
	}
	var old, headers any
	if rotated {
		old, headers = sealed("old-secret"), sealed("headers")
	}
	// Tx.InsertWebhook would seal under the current key of the server instead.
	return affect(ctx, tx, `INSERT INTO webhooks (id, organization_id, workspace_id, owner_id, name, events, platform, host,
		last_four, address, secret, old_secret, headers, off, created_at, updated_at)
		VALUES ($1, $2, $3, $4, '', '', '', '', '', $5, $6, $7, $8, '', 0, 0)`, id, v.organization, v.workspace, v.user,
		sealed("address"), sealed("secret"), old, headers)
}

// insertPublicPage inserts a board with a public page whose secret is sealed under the first key of
// a keyring.
func (v *vault) insertPublicPage(ctx context.Context, tx *store.Tx, keys *seal.Keyring, boardID string) error {
	sealContext := "public-page:" + boardID + ":secret"
	v.values[sealContext] = "secret of " + sealContext
	if err := affect(ctx, tx, `INSERT INTO boards (id, workspace_id, name, visibility, features, version, created_at, updated_at, description)
		VALUES ($1, $2, '', 'workspace', 0, 0, 0, 0, '')`, boardID, v.workspace); err != nil {
		return err
	}
	return affect(ctx, tx, `INSERT INTO public_pages (board_id, hash, secret, mode, all_lists, lists, comments, names, welcome, updated_at)
		VALUES ($1, $2, $3, 'read', 1, '', 0, 0, '', 0)`, boardID, []byte(boardID), keys.Seal(sealContext, []byte(v.values[sealContext])))
}

// storeResponse stores the response of an idempotent request that returned a secret.
func (v *vault) storeResponse(ctx context.Context, tx *store.Tx, key string) error {
	sealContext := "idempotency:" + v.user + ":" + key
	v.values[sealContext] = "secret of " + sealContext
	if _, err := tx.ClaimKey(ctx, key, "op", []byte{1}); err != nil {
		return err
	}
	return tx.SaveResponse(ctx, key, store.StoredResponse{Body: []byte(v.values[sealContext]), Sealed: true})
}

// sealedValues returns all sealed values in the database, by seal context.
func (v *vault) sealedValues() map[string][]byte {
	v.T.Helper()
	out := map[string][]byte{}
	for _, column := range []string{"address", "secret", "old_secret", "headers"} {
		ids := v.Column("SELECT id FROM webhooks WHERE " + column + " IS NOT NULL ORDER BY id")
		for i, value := range v.Column("SELECT " + column + " FROM webhooks WHERE " + column + " IS NOT NULL ORDER BY id") {
			out["webhook:"+ids[i]+":"+strings.ReplaceAll(column, "_", "-")] = []byte(value)
		}
	}
	ids := v.Column("SELECT board_id FROM public_pages ORDER BY board_id")
	for i, value := range v.Column("SELECT secret FROM public_pages ORDER BY board_id") {
		out["public-page:"+ids[i]+":secret"] = []byte(value)
	}
	keys := v.Column("SELECT key FROM idempotency WHERE sealed = 1 ORDER BY key")
	for i, value := range v.Column("SELECT answer FROM idempotency WHERE sealed = 1 ORDER BY key") {
		out["idempotency:"+v.user+":"+keys[i]] = []byte(value)
	}
	return out
}

// checkOpens fails the test unless the keyring opens every sealed value.
func (v *vault) checkOpens(t *testing.T, keys *seal.Keyring) {
	t.Helper()
	rows := v.sealedValues()
	if len(rows) != len(v.values) {
		t.Errorf("got %d sealed values, want %d", len(rows), len(v.values))
	}
	for sealContext, want := range v.values {
		if got, err := keys.Open(sealContext, rows[sealContext]); err != nil || string(got) != want {
			t.Fatalf("%s: got %q (%v), want %q", sealContext, got, err, want)
		}
		if bytes.Contains(rows[sealContext], []byte("secret")) {
			t.Errorf("%s is stored in plaintext", sealContext)
		}
	}
}

// countSealedUnder returns the number of values that are sealed under the first key of a keyring.
func (v *vault) countSealedUnder(keys *seal.Keyring) (n int) {
	v.T.Helper()
	for _, value := range v.sealedValues() {
		if !keys.Stale(value) {
			n++
		}
	}
	return n
}

// openServer opens the database as another server with these keys.
func (v *vault) openServer(keys *seal.Keyring) (*store.DB, error) {
	return store.Open(v.T.Context(), store.Options{Database: v.Database, Clock: v.Clock.Now, Keys: keys})
}

// mustOpenServer is like openServer but fails the test on an error.
func (v *vault) mustOpenServer(t *testing.T, keys *seal.Keyring) *store.DB {
	t.Helper()
	db, err := v.openServer(keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// checkRefused fails the test unless a server with these keys refuses to start, with an error that
// names the missing key and the environment variable.
func (v *vault) checkRefused(t *testing.T, keys *seal.Keyring, missing string) {
	t.Helper()
	db, err := v.openServer(keys)
	if err == nil {
		_ = db.Close()
		t.Fatalf("open with %v: got no error, want one", keys)
	}
	if !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "CARDWALL_SECRET_KEY") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %q, want one line that names %s and CARDWALL_SECRET_KEY", err, missing)
	}
}

// proceed is a next callback for Reseal that never stops it.
func proceed() error { return nil }
