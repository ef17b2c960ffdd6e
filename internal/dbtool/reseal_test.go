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

func TestResealing(t *testing.T) {
	vaults(t, 110, 60, func(t *testing.T, v *vault, old, fresh string) {
		before, after := ringOf(t, old), ringOf(t, fresh)
		v.refused(t, after, before.Current())
		v.opensAll(t, before)
		db := v.mustServer(t, v.keys)
		if n, err := dbtool.Reseal(t.Context(), db, goOn); err != nil || n != len(v.values) {
			t.Fatalf("re-sealed %d (%v), want %d", n, err, len(v.values))
		}
		v.opensAll(t, after)
		v.refused(t, before, after.Current())
		v.mustServer(t, after)
		if n, err := dbtool.Reseal(t.Context(), db, goOn); err != nil || n != 0 {
			t.Errorf("a second call re-sealed %d values (%v), want 0", n, err)
		}
	})
}

// A rotation that is killed at any point loses nothing: servers with both keys still work, and
// running it again completes it.
func TestResealingIsInterrupted(t *testing.T) {
	vaults(t, 110, 60, func(t *testing.T, v *vault, old, fresh string) {
		before, after := ringOf(t, old), ringOf(t, fresh)
		stop := errors.New("killed")
		all := len(v.values)
		db := v.mustServer(t, v.keys)
		if err := dbtool.SealUnder(t.Context(), db, v.keys.Current()); err != nil {
			t.Fatal(err)
		}
		v.refused(t, before, after.Current())
		v.refused(t, after, before.Current())
		steps, last := 0, 0
		for ended := false; !ended; steps++ {
			left := steps
			_, err := dbtool.Reseal(t.Context(), db, func() error {
				if left--; left < 0 {
					return stop
				}
				return nil
			})
			if ended = err == nil; !ended && !errors.Is(err, stop) {
				t.Fatal(err)
			}
			v.opensAll(t, v.keys)
			now := v.under(after)
			if now < last || ended && now != all {
				t.Errorf("after %d batches, %d values are sealed with the new key, before that %d", steps, now, last)
			}
			if last = now; steps == 2 {
				v.refused(t, after, before.Current())
			}
		}
		if steps < 5 {
			t.Errorf("the rotation took %d steps, want at least 5 so that the test shows something", steps)
		}
		v.opensAll(t, after)
		v.mustServer(t, after)
	})
}

// If a row is sealed with the old key after the rotation has passed it, the next pass finds it.
func TestRowSealedWithTheOldKeyDuringRotation(t *testing.T) {
	vaults(t, 60, 10, func(t *testing.T, v *vault, old, fresh string) {
		before, batches := ringOf(t, old), 0
		n, err := dbtool.Reseal(t.Context(), v.mustServer(t, v.keys), func() error {
			if batches++; batches == 3 { // after the webhooks
				v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
					return v.webhook(ctx, tx, before, "whk_0", true)
				})
			}
			return nil
		})
		if err != nil || n != len(v.values) {
			t.Errorf("re-sealed %d (%v), want %d", n, err, len(v.values))
		}
		v.opensAll(t, ringOf(t, fresh))
		// If values with the old key never stop appearing, the rotation does not report success.
		n = 0
		_, err = dbtool.Reseal(t.Context(), v.mustServer(t, ringOf(t, seal.NewKey(), fresh)), func() error {
			n++
			v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				return v.webhook(ctx, tx, ringOf(t, fresh), fmt.Sprintf("whk_0%d", n), false)
			})
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "restart the servers") {
			t.Errorf("while a server keeps sealing with the old key: %v", err)
		}
	})
}

// A value that changes while it is being re-sealed keeps its new content.
func TestResealingOverwritesNothing(t *testing.T) {
	vaults(t, 0, 2, func(t *testing.T, v *vault, _, fresh string) {
		place := "idempotency:" + v.user + ":key 0001"
		v.values[place] = "changed meanwhile"
		n, err := dbtool.ResealAfter(t.Context(), v.mustServer(t, v.keys), v.keys.Current(), func() {
			v.Write(board.Person(v.user), func(ctx context.Context, tx *store.Tx) error {
				return tx.Keep(ctx, "key 0001", store.Stored{Answer: []byte(v.values[place]), Sealed: true})
			})
		})
		if err != nil || n != 1 {
			t.Errorf("re-sealed %d (%v), want 1", n, err)
		}
		v.opensAll(t, v.keys)
	})
}

// A rotation waits for transactions that were sealing with the old key when it began.
func TestResealingWaitsForTransactions(t *testing.T) {
	vaults(t, 1, 1, func(t *testing.T, v *vault, _, fresh string) {
		db := v.mustServer(t, v.keys)
		begun, end, ended, done := make(chan bool), make(chan bool), make(chan error, 1), make(chan error, 1)
		go func() {
			done <- v.DB.Write(context.Background(), board.Person(v.user), func(tx *store.Tx) error {
				err := v.answer(context.Background(), tx, "in flight")
				begun <- true
				<-end
				return err
			})
		}()
		<-begun
		go func() {
			_, err := dbtool.Reseal(context.Background(), db, goOn)
			ended <- err
		}()
		select {
		case err := <-ended:
			t.Errorf("the rotation did not wait: %v", err)
			ended <- err
		case <-time.After(300 * time.Millisecond):
		}
		end <- true
		if err := errors.Join(<-done, <-ended); err != nil {
			t.Fatal(err)
		}
		v.opensAll(t, ringOf(t, fresh))
	})
}

// A value that cannot be opened stays unchanged and is named in the error. The old key then stays
// in use.
func TestResealingNamesValuesThatItCannotOpen(t *testing.T) {
	vaults(t, 3, 1, func(t *testing.T, v *vault, old, fresh string) {
		lost := ringOf(t, seal.NewKey())
		v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return affect(ctx, tx, "UPDATE webhooks SET secret = $1 WHERE id = 'whk_0001'", lost.Seal("webhook:whk_0001:secret", nil))
		})
		v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { // sealed for another place
			return affect(ctx, tx, "UPDATE webhooks SET address = (SELECT h.secret FROM webhooks h WHERE h.id = 'whk_0002') WHERE id = 'whk_0001'")
		})
		db := v.mustServer(t, v.keys)
		n, err := dbtool.Reseal(t.Context(), db, goOn)
		if !errors.Is(err, seal.ErrUnknownKey) || !errors.Is(err, seal.ErrDamaged) || !strings.Contains(err.Error(), "webhook:whk_0001:secret") ||
			!strings.Contains(err.Error(), "webhook:whk_0001:address") || n != len(v.values)-2 {
			t.Errorf("re-sealed %d of %d: %v", n, len(v.values), err)
		}
		v.refused(t, ringOf(t, fresh), ringOf(t, old).Current())
		v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return affect(ctx, tx, "DELETE FROM webhooks WHERE id = 'whk_0001'")
		})
		if n, err := dbtool.Reseal(t.Context(), db, goOn); err != nil || n != 0 {
			t.Errorf("without that webhook, %d values were re-sealed (%v), want 0", n, err)
		}
		v.mustServer(t, ringOf(t, fresh))
	})
}

// A server continues while another process rotates the key in their shared file. It still replays
// stored responses, and seals with the new key from then on.
func TestServerRunsWhileTheKeyIsRotated(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		path := filepath.Join(t.TempDir(), "secret.key")
		keys, err := seal.FromFile(path)
		if err != nil {
			t.Fatal(err)
		}
		v := newVault(t, database, keys, 1, 2)
		server := v.mustServer(t, keys)
		replay := func() {
			t.Helper()
			if err := server.Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
				s, err := tx.Claim(t.Context(), "key 0000", "op", []byte{1})
				if err == nil && (s == nil || !s.Sealed || string(s.Answer) != v.values["idempotency:"+v.user+":key 0000"]) {
					t.Errorf("the stored response is %+v", s)
				}
				return err
			}); err != nil {
				t.Errorf("replay: %v", err)
			}
		}
		store := func(key string) {
			t.Helper()
			if err := server.Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
				return v.answer(t.Context(), tx, key)
			}); err != nil {
				t.Errorf("store a response: %v", err)
			}
		}
		for round := range 3 {
			command, err := seal.FromFile(path)
			if err != nil {
				t.Fatal(err)
			}
			db := v.mustServer(t, command)
			if err := command.Renew(); err != nil {
				t.Fatal(err)
			}
			store(fmt.Sprint("before ", round)) // still sealed with the old key, which the database names
			if _, err := dbtool.Reseal(t.Context(), db, goOn); err != nil {
				t.Fatal(err)
			}
			if round == 1 { // seal before the server has read a value with the new key
				store("at once")
			}
			replay()
			if err := command.Retire(); err != nil {
				t.Fatal(err)
			}
			store(fmt.Sprint("after ", round))
			replay()
			fresh, err := seal.FromFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if fresh.Len() != 1 {
				t.Errorf("the file has the keys %v, want one", fresh)
			}
			v.opensAll(t, fresh)
		}
	})
}

// Servers that already have the new key as their first keep sealing with the old one until the
// rotation, so that servers without the new key can open the values.
func TestServersRestartOneByOne(t *testing.T) {
	vaults(t, 0, 1, func(t *testing.T, v *vault, old, fresh string) {
		if err := v.mustServer(t, v.keys).Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
			return v.answer(t.Context(), tx, "from the restarted server")
		}); err != nil {
			t.Fatal(err)
		}
		v.opensAll(t, ringOf(t, old))
		if _, err := dbtool.Reseal(t.Context(), v.mustServer(t, v.keys), goOn); err != nil {
			t.Fatal(err)
		}
		// A server that was not restarted refuses to seal, because its key is about to be removed.
		err := v.DB.Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
			if _, err := tx.Claim(t.Context(), "late", "op", []byte{1}); err != nil {
				return err
			}
			return tx.Keep(t.Context(), "late", store.Stored{Answer: []byte("secret"), Sealed: true})
		})
		if !errors.Is(err, seal.ErrUnknownKey) {
			t.Errorf("a server with only the old key sealed a value (error %v)", err)
		}
		v.opensAll(t, ringOf(t, fresh))
	})
}

// Without keys, the store refuses to write secrets.
func TestStoreWithoutKeys(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		v := newVault(t, database, ringOf(t, seal.NewKey()), 0, 1)
		db := v.mustServer(t, nil)
		for _, sealed := range []bool{false, true} {
			key := fmt.Sprint("sealed ", sealed)
			err := db.Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
				if _, err := tx.Claim(t.Context(), key, "op", []byte{1}); err != nil {
					return err
				}
				return tx.Keep(t.Context(), key, store.Stored{Answer: []byte("secret"), Sealed: sealed})
			})
			if (err != nil) != sealed || slices.Contains(v.Column("SELECT key FROM idempotency"), key) == sealed {
				t.Errorf("sealed %t: %v", sealed, err)
			}
		}
		if _, err := dbtool.Reseal(t.Context(), db, goOn); err == nil {
			t.Error("re-sealing without a key succeeded")
		}
	})
}

// A sealed response that is copied into another row cannot be opened there.
func TestSealedAnswerIsBoundToItsRow(t *testing.T) {
	vaults(t, 0, 2, func(t *testing.T, v *vault, _, _ string) {
		v.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return affect(ctx, tx, "UPDATE idempotency SET answer = (SELECT i.answer FROM idempotency i WHERE i.key = 'key 0000') "+
				"WHERE key = 'key 0001'")
		})
		if err := v.DB.Write(t.Context(), board.Person(v.user), func(tx *store.Tx) error {
			_, err := tx.Claim(t.Context(), "key 0001", "op", []byte{1})
			return err
		}); !errors.Is(err, seal.ErrDamaged) {
			t.Errorf("the copied response was opened (error %v)", err)
		}
	})
}
