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

// vault is a database with secrets, and all keys that they were ever sealed with.
type vault struct {
	*apptest.Service
	keys   *seal.Keyring     // opens everything, in any phase
	values map[string]string // the sealed texts, by place

	user, organization, workspace string // owners of the stored responses and the webhooks
}

// ringOf returns a key ring with the given keys.
func ringOf(t testing.TB, keys ...string) *seal.Keyring {
	t.Helper()
	k, err := seal.Parse(strings.Join(keys, ","))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// vaults runs a test on both databases, whose secrets are sealed with the old key.
func vaults(t *testing.T, webhooks, answers int, fn func(t *testing.T, v *vault, old, fresh string)) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		old, fresh := seal.NewKey(), seal.NewKey()
		v := newVault(t, database, ringOf(t, old), webhooks, answers)
		v.keys = ringOf(t, fresh, old)
		fn(t, v, old, fresh)
	})
}

func newVault(t *testing.T, database string, keys *seal.Keyring, webhooks, answers int) *vault {
	t.Helper()
	s := apptest.New(t, database, apptest.Options{Keys: keys})
	ada := s.Person("Ada")
	v := &vault{Service: s, keys: keys, values: map[string]string{}, workspace: ada.Workspace("Engines", board.PlanTeam)}
	v.user = s.Column("SELECT user_id FROM workspace_members")[0]
	v.organization = s.Column("SELECT id FROM organizations")[0]
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		for i := range webhooks {
			if err := v.webhook(ctx, tx, keys, fmt.Sprintf("whk_%04d", i), i%3 == 0); err != nil {
				return err
			}
			if err := v.page(ctx, tx, keys, fmt.Sprintf("brd_%04d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	s.Write(board.Person(v.user), func(ctx context.Context, tx *store.Tx) error {
		for i := range answers {
			if err := v.answer(ctx, tx, fmt.Sprintf("key %04d", i)); err != nil {
				return err
			}
		}
		for i := range answers { // responses without a secret are not changed
			key := fmt.Sprintf("open %04d", i)
			if _, err := tx.Claim(ctx, key, "op", []byte{1}); err != nil {
				return err
			}
			if err := tx.Keep(ctx, key, store.Stored{Answer: []byte(key)}); err != nil {
				return err
			}
		}
		return nil
	})
	return v
}

// webhook writes a webhook whose columns are sealed with the first key of a ring.
func (v *vault) webhook(ctx context.Context, tx *store.Tx, keys *seal.Keyring, id string, rotated bool) error {
	sealed := func(column string) []byte {
		place := "webhook:" + id + ":" + column
		v.values[place] = "secret of " + place
		return keys.Seal(place, []byte(v.values[place]))
	}
	var old any
	if rotated {
		old = sealed("old-secret")
	}
	// InsertWebhook would always seal with the current key, regardless of its server's key ring.
	return affect(ctx, tx, `INSERT INTO webhooks (id, organization_id, workspace_id, owner_id, name, events, platform, host,
		last_four, address, secret, old_secret, off, created_at, updated_at)
		VALUES ($1, $2, $3, $4, '', '', '', '', '', $5, $6, $7, '', 0, 0)`, id, v.organization, v.workspace, v.user,
		sealed("address"), sealed("secret"), old)
}

// page writes a board with a public page, whose key is sealed like a webhook's secret.
func (v *vault) page(ctx context.Context, tx *store.Tx, keys *seal.Keyring, boardID string) error {
	place := "public-page:" + boardID + ":secret"
	v.values[place] = "secret of " + place
	if err := affect(ctx, tx, `INSERT INTO boards (id, workspace_id, name, visibility, features, version, created_at, updated_at, description)
		VALUES ($1, $2, '', 'workspace', 0, 0, 0, 0, '')`, boardID, v.workspace); err != nil {
		return err
	}
	return affect(ctx, tx, `INSERT INTO public_pages (board_id, hash, secret, mode, all_lists, lists, comments, names, welcome, updated_at)
		VALUES ($1, $2, $3, 'read', 1, '', 0, 0, '', 0)`, boardID, []byte(boardID), keys.Seal(place, []byte(v.values[place])))
}

// answer stores a response with a secret, as the engine does.
func (v *vault) answer(ctx context.Context, tx *store.Tx, key string) error {
	place := "idempotency:" + v.user + ":" + key
	v.values[place] = "secret of " + place
	if _, err := tx.Claim(ctx, key, "op", []byte{1}); err != nil {
		return err
	}
	return tx.Keep(ctx, key, store.Stored{Answer: []byte(v.values[place]), Sealed: true})
}

// sealed reads all sealed values directly from the database.
func (v *vault) sealed() map[string][]byte {
	v.T.Helper()
	out := map[string][]byte{}
	for _, column := range []string{"address", "secret", "old_secret"} {
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

// opensAll fails the test unless a ring opens every secret.
func (v *vault) opensAll(t *testing.T, keys *seal.Keyring) {
	t.Helper()
	rows := v.sealed()
	if len(rows) != len(v.values) {
		t.Errorf("%d values are sealed, want %d", len(rows), len(v.values))
	}
	for place, want := range v.values {
		if got, err := keys.Open(place, rows[place]); err != nil || string(got) != want {
			t.Fatalf("%s opened as %q (%v), want %q", place, got, err, want)
		}
		if bytes.Contains(rows[place], []byte("secret")) {
			t.Errorf("%s is stored in plain text", place)
		}
	}
}

// under counts the values that are sealed with the first key of a ring.
func (v *vault) under(keys *seal.Keyring) (n int) {
	v.T.Helper()
	for _, value := range v.sealed() {
		if !keys.Stale(value) {
			n++
		}
	}
	return n
}

// server opens the database as another server with these keys.
func (v *vault) server(keys *seal.Keyring) (*store.DB, error) {
	return store.Open(v.T.Context(), store.Options{Database: v.Database, Clock: v.Clock.Now, Keys: keys})
}

func (v *vault) mustServer(t *testing.T, keys *seal.Keyring) *store.DB {
	t.Helper()
	db, err := v.server(keys)
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

// refused fails the test unless a server with these keys refuses to start, with an error that names
// the missing key and the setting.
func (v *vault) refused(t *testing.T, keys *seal.Keyring, missing string) {
	t.Helper()
	db, err := v.server(keys)
	if err == nil {
		_ = db.Close()
		t.Fatalf("a server with %v started", keys)
	}
	if !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "CARDWALL_SECRET_KEY") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %q", err)
	}
}

func goOn() error { return nil }
