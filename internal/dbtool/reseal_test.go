package dbtool_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/dbtool"
	"cardwall/internal/seal"
	"cardwall/internal/store"
)

// Reseal re-seals all values. After that, a server needs only the new key.
func TestReseal(t *testing.T) {
	testVaults(t, 110, 60, func(t *testing.T, v *vault, oldKey, newKey string) {
		before, after := keyring(t, oldKey), keyring(t, newKey)
		v.checkRefused(t, after, before.Current())
		v.checkOpens(t, before)
		db := v.mustOpenServer(t, v.keys)
		if n, err := dbtool.Reseal(t.Context(), db, proceed); err != nil || n != len(v.values) {
			t.Fatalf("got %d re-sealed values (%v), want %d", n, err, len(v.values))
		}
		v.checkOpens(t, after)
		v.checkRefused(t, before, after.Current())
		v.mustOpenServer(t, after)
		if n, err := dbtool.Reseal(t.Context(), db, proceed); err != nil || n != 0 {
			t.Errorf("got %d re-sealed values in a second call (%v), want 0", n, err)
		}
	})
}

// Reseal can be interrupted before any batch. After that, servers with both keys still
// work, and another call completes the rotation.
func TestInterruptedReseal(t *testing.T) {
	testVaults(t, 110, 60, func(t *testing.T, v *vault, oldKey, newKey string) {
		before, after := keyring(t, oldKey), keyring(t, newKey)
		stop := errors.New("killed")
		all := len(v.values)
		db := v.mustOpenServer(t, v.keys)
		if err := dbtool.SealUnder(t.Context(), db, v.keys.Current()); err != nil {
			t.Fatal(err)
		}
		v.checkRefused(t, before, after.Current())
		v.checkRefused(t, after, before.Current())
		steps, last := 0, 0
		for ended := false; !ended; steps++ {
			remaining := steps
			_, err := dbtool.Reseal(t.Context(), db, func() error {
				if remaining--; remaining < 0 {
					return stop
				}
				return nil
			})
			if ended = err == nil; !ended && !errors.Is(err, stop) {
				t.Fatal(err)
			}
			v.checkOpens(t, v.keys)
			n := v.countSealedUnder(after)
			if n < last || ended && n != all {
				t.Errorf("after %d batches: got %d of %d values under the new key, want at least %d, and all at the end", steps, n, all, last)
			}
			if last = n; steps == 2 {
				v.checkRefused(t, after, before.Current())
			}
		}
		if steps < 5 {
			t.Errorf("got %d steps, want at least 5 to test interruptions", steps)
		}
		v.checkOpens(t, after)
		v.mustOpenServer(t, after)
	})
}

// If a server seals a row under the old key after a pass has read it, the next pass finds the row.
func TestRowSealedUnderTheOldKeyDuringReseal(t *testing.T) {
	testVaults(t, 60, 10, func(t *testing.T, v *vault, oldKey, newKey string) {
		before, batches := keyring(t, oldKey), 0
		n, err := dbtool.Reseal(t.Context(), v.mustOpenServer(t, v.keys), func() error {
			if batches++; batches == 3 { // after the webhooks
				v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
					return v.insertWebhook(ctx, tx, before, "whk_0", true)
				})
			}
			return nil
		})
		if err != nil || n != len(v.values) {
			t.Errorf("got %d re-sealed values (%v), want %d", n, err, len(v.values))
		}
		v.checkOpens(t, keyring(t, newKey))
		// If a server keeps sealing under the old key, Reseal returns an error.
		n = 0
		_, err = dbtool.Reseal(t.Context(), v.mustOpenServer(t, keyring(t, seal.NewKey(), newKey)), func() error {
			n++
			v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				return v.insertWebhook(ctx, tx, keyring(t, newKey), fmt.Sprintf("whk_0%d", n), false)
			})
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "restart the servers") {
			t.Errorf(`a server keeps sealing under the old key: got error %v, want "restart the servers"`, err)
		}
	})
}

// A value that changes while it is being re-sealed keeps its new content.
func TestResealKeepsConcurrentChanges(t *testing.T) {
	testVaults(t, 0, 2, func(t *testing.T, v *vault, _, newKey string) {
		sealContext := "idempotency:" + v.user + ":key 0001"
		v.values[sealContext] = "changed in the meantime"
		n, err := dbtool.ResealAfter(t.Context(), v.mustOpenServer(t, v.keys), v.keys.Current(), func() {
			sealed := v.keys.Seal(sealContext, []byte(v.values[sealContext]))
			v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				return affect(ctx, tx, "UPDATE idempotency SET answer = $1 WHERE key = 'key 0001'", sealed)
			})
		})
		if err != nil || n != 1 {
			t.Errorf("got %d re-sealed values (%v), want 1", n, err)
		}
		v.checkOpens(t, v.keys)
	})
}

// Reseal waits for open transactions that have sealed values under the old key.
func TestResealWaitsForTransactions(t *testing.T) {
	testVaults(t, 1, 1, func(t *testing.T, v *vault, _, newKey string) {
		db := v.mustOpenServer(t, v.keys)
		sealed, commit := make(chan bool), make(chan bool)
		written, resealed := make(chan error, 1), make(chan error, 1)
		go func() {
			written <- v.DB.Write(context.Background(), board.Person(v.user), func(tx *store.Tx) error {
				err := v.storeResponse(context.Background(), tx, "in flight")
				sealed <- true
				<-commit
				return err
			})
		}()
		<-sealed
		go func() {
			_, err := dbtool.Reseal(context.Background(), db, proceed)
			resealed <- err
		}()
		select {
		case err := <-resealed:
			t.Errorf("Reseal returned %v before the transaction ended", err)
			resealed <- err
		case <-time.After(300 * time.Millisecond):
		}
		commit <- true
		if err := errors.Join(<-written, <-resealed); err != nil {
			t.Fatal(err)
		}
		v.checkOpens(t, keyring(t, newKey))
	})
}

// Reseal keeps values that it cannot open, and names them in its error. The old key then stays in
// use.
func TestResealNamesValuesThatItCannotOpen(t *testing.T) {
	testVaults(t, 3, 1, func(t *testing.T, v *vault, oldKey, newKey string) {
		lost := keyring(t, seal.NewKey())
		v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return affect(ctx, tx, "UPDATE webhooks SET secret = $1 WHERE id = 'whk_0001'", lost.Seal("webhook:whk_0001:secret", nil))
		})
		v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { // sealed in another context
			return affect(ctx, tx, "UPDATE webhooks SET address = (SELECT h.secret FROM webhooks h WHERE h.id = 'whk_0002') WHERE id = 'whk_0001'")
		})
		db := v.mustOpenServer(t, v.keys)
		n, err := dbtool.Reseal(t.Context(), db, proceed)
		if !errors.Is(err, seal.ErrUnknownKey) || !errors.Is(err, seal.ErrDamaged) || !strings.Contains(err.Error(), "webhook:whk_0001:secret") ||
			!strings.Contains(err.Error(), "webhook:whk_0001:address") || n != len(v.values)-2 {
			t.Errorf("got %d re-sealed values (%v), want %d and an error that names the two others", n, err, len(v.values)-2)
		}
		v.checkRefused(t, keyring(t, newKey), keyring(t, oldKey).Current())
		v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return affect(ctx, tx, "DELETE FROM webhooks WHERE id = 'whk_0001'")
		})
		if n, err := dbtool.Reseal(t.Context(), db, proceed); err != nil || n != 0 {
			t.Errorf("after that webhook was deleted: got %d re-sealed values (%v), want 0", n, err)
		}
		v.mustOpenServer(t, keyring(t, newKey))
	})
}

// A server keeps running while another process rotates the key in their shared key file.
// It still replays stored responses, and it seals under the new key after the rotation.
func TestServerRunsDuringKeyRotation(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		path := filepath.Join(t.TempDir(), "secret.key")
		keys, err := seal.FromFile(path)
		if err != nil {
			t.Fatal(err)
		}
		v := newVault(t, database, keys, 1, 2)
		server := v.mustOpenServer(t, keys)
		replay := func() {
			t.Helper()
			if err := server.Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
				s, err := tx.ClaimKey(t.Context(), "key 0000", "op", []byte{1})
				if err == nil && (s == nil || !s.Sealed || string(s.Body) != v.values["idempotency:"+v.user+":key 0000"]) {
					t.Errorf("got stored response %+v, want the sealed one of key 0000", s)
				}
				return err
			}); err != nil {
				t.Errorf("replay: %v", err)
			}
		}
		store := func(key string) {
			t.Helper()
			if err := server.Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
				return v.storeResponse(t.Context(), tx, key)
			}); err != nil {
				t.Errorf("store a response: %v", err)
			}
		}
		for round := range 3 {
			command, err := seal.FromFile(path)
			if err != nil {
				t.Fatal(err)
			}
			db := v.mustOpenServer(t, command)
			if err := command.Renew(); err != nil {
				t.Fatal(err)
			}
			store(fmt.Sprint("before ", round)) // sealed under the old key, which the database still records as current
			if _, err := dbtool.Reseal(t.Context(), db, proceed); err != nil {
				t.Fatal(err)
			}
			if round == 1 { // the server seals before it has read a value sealed under the new key
				store("immediately")
			}
			replay()
			if err := command.Retire(); err != nil {
				t.Fatal(err)
			}
			store(fmt.Sprint("after ", round))
			replay()
			keys, err := seal.FromFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if keys.Len() != 1 {
				t.Errorf("got keys %v in the file, want only one", keys)
			}
			v.checkOpens(t, keys)
		}
	})
}

// Until Reseal runs, servers that already have the new key still seal under the old key.
// So servers without the new key can open all values.
func TestServersRestartOneByOne(t *testing.T) {
	testVaults(t, 0, 1, func(t *testing.T, v *vault, oldKey, newKey string) {
		if err := v.mustOpenServer(t, v.keys).Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
			return v.storeResponse(t.Context(), tx, "from the restarted server")
		}); err != nil {
			t.Fatal(err)
		}
		v.checkOpens(t, keyring(t, oldKey))
		if _, err := dbtool.Reseal(t.Context(), v.mustOpenServer(t, v.keys), proceed); err != nil {
			t.Fatal(err)
		}
		// A server that has only the old key refuses to seal after that.
		err := v.DB.Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
			if _, err := tx.ClaimKey(t.Context(), "late", "op", []byte{1}); err != nil {
				return err
			}
			return tx.SaveResponse(t.Context(), "late", store.StoredResponse{Body: []byte("secret"), Sealed: true})
		})
		if !errors.Is(err, seal.ErrUnknownKey) {
			t.Errorf("seal under the old key: got error %v, want %v", err, seal.ErrUnknownKey)
		}
		v.checkOpens(t, keyring(t, newKey))
	})
}

// Without keys, the store refuses to store secrets.
func TestStoreWithoutKeys(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		v := newVault(t, database, keyring(t, seal.NewKey()), 0, 1)
		db := v.mustOpenServer(t, nil)
		for _, sealed := range []bool{false, true} {
			key := fmt.Sprint("sealed ", sealed)
			err := db.Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
				if _, err := tx.ClaimKey(t.Context(), key, "op", []byte{1}); err != nil {
					return err
				}
				return tx.SaveResponse(t.Context(), key, store.StoredResponse{Body: []byte("secret"), Sealed: sealed})
			})
			if (err != nil) != sealed || slices.Contains(v.Column("SELECT key FROM idempotency"), key) == sealed {
				t.Errorf("sealed %t: got error %v, want an error only for a sealed response", sealed, err)
			}
		}
		if _, err := dbtool.Reseal(t.Context(), db, proceed); err == nil {
			t.Error("Reseal without a key: got no error, want one")
		}
	})
}

// A sealed response cannot be opened if it was copied from another row.
func TestSealedResponseIsBoundToItsRow(t *testing.T) {
	testVaults(t, 0, 2, func(t *testing.T, v *vault, _, _ string) {
		v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return affect(ctx, tx, "UPDATE idempotency SET answer = (SELECT i.answer FROM idempotency i WHERE i.key = 'key 0000') "+
				"WHERE key = 'key 0001'")
		})
		if err := v.DB.Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
			_, err := tx.ClaimKey(t.Context(), "key 0001", "op", []byte{1})
			return err
		}); !errors.Is(err, seal.ErrDamaged) {
			t.Errorf("open a copied response: got error %v, want %v", err, seal.ErrDamaged)
		}
	})
}
