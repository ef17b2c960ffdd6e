package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// raise makes a statement fail with a database error code, as in a lost race.
func raise(ctx context.Context, tx *store.Tx, code string) error {
	return affect(ctx, tx, "DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '"+code+"'; END $$")
}

// A transaction that loses a race is retried a limited number of times. The failed
// attempts leave no changes. Other errors are returned immediately.
func TestLostRacesAreRetried(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, apptest.EmptyPostgresURL(t))
	for _, code := range []string{"40001", "40P01"} {
		for lost := range 8 {
			tries := 0
			key := fmt.Sprint(code, lost)
			err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
				if err := affect(t.Context(), tx, "INSERT INTO settings (key, value) VALUES ($1, 'x')", key); err != nil {
					return err
				}
				if tries++; tries <= lost {
					return raise(t.Context(), tx, code)
				}
				return nil
			})
			if err != nil || tries != lost+1 || len(apptest.Select(t, db, "SELECT key FROM settings WHERE key = $1", key)) != 1 {
				t.Errorf("%s, lost %d times: got %d attempts and error %v, want %d attempts, no error and one row", code, lost, tries,
					err, lost+1)
			}
		}
		tries, begun := 0, time.Now()
		err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
			tries++
			return raise(t.Context(), tx, code)
		})
		if !board.IsCode(err, board.CodeUnavailable) || tries != 8 || time.Since(begun) > 30*time.Second {
			t.Errorf("%s, lost every time: got %d attempts in %s and error %v, want 8 attempts and code %s", code, tries,
				time.Since(begun), err, board.CodeUnavailable)
		}
	}
	tries := 0
	err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		tries++
		return raise(t.Context(), tx, "23505")
	})
	if err == nil || tries != 1 {
		t.Errorf("another error: got %d attempts and error %v, want 1 attempt and that error", tries, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	tries = 0
	err = db.Write(ctx, board.System(), func(tx *store.Tx) error {
		tries++
		cancel()
		return raise(context.WithoutCancel(ctx), tx, "40001")
	})
	if err == nil || tries > 2 {
		t.Errorf("with a canceled context: got %d attempts and error %v, want at most 2 attempts and an error", tries, err)
	}
}

// Most of the transactions that lock the same two rows in opposite orders, or that conflict
// under serializable isolation, are committed in the end, each once. The others are refused
// as unavailable.
func TestConflictingTransactionsCommitOnce(t *testing.T) {
	t.Parallel()
	// The lock timeout is long, because a transaction that only waits for a lock must not fail.
	db := apptest.OpenStore(t, apptest.WithLockTimeout(t, apptest.EmptyPostgresURL(t), 20*time.Second))
	apptest.Change(t, db, "INSERT INTO settings (key, value) VALUES ('a', '0'), ('b', '0')")
	const more = "UPDATE settings SET value = (value::int + 1)::text WHERE key = $1"
	for _, way := range []struct {
		name   string
		before string
		text   [2]string
		adds   int64 // per transaction
	}{
		{"deadlocks", "SET LOCAL deadlock_timeout = '20ms'", [2]string{more, more}, 2},
		{"serialization failures", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
			[2]string{"UPDATE settings SET value = value WHERE key = $1 AND false", more}, 1},
	} {
		apptest.Change(t, db, "UPDATE settings SET value = '0' WHERE key IN ('a', 'b')")
		var (
			clients sync.WaitGroup
			tries   atomic.Int64
			done    atomic.Int64
		)
		const each = 10
		for c := range 4 {
			order := []string{"a", "b"}
			if c%2 == 1 {
				order = []string{"b", "a"}
			}
			clients.Go(func() {
				for range each {
					err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
						tries.Add(1)
						err := affect(t.Context(), tx, way.before)
						for i, key := range order {
							err = errors.Join(err, affect(t.Context(), tx, way.text[i], key))
							time.Sleep(2 * time.Millisecond)
						}
						return err
					})
					if err == nil {
						done.Add(1)
					} else if !board.IsCode(err, board.CodeUnavailable) {
						t.Errorf("%s: got error %v, want code %s", way.name, err, board.CodeUnavailable)
					}
				}
			})
		}
		clients.Wait()
		t.Logf("%s: %d attempts; of %d transactions, %d were committed", way.name, tries.Load(), 4*each, done.Load())
		if tries.Load() == 4*each {
			t.Errorf("%s: no transactions conflicted, so the test proves nothing", way.name)
		}
		if sum := apptest.Select(t, db, "SELECT sum(value::int)::text FROM settings "+
			"WHERE key IN ('a', 'b')")[0]; sum != fmt.Sprint(done.Load()*way.adds) || done.Load() < 3*each {
			t.Errorf("%s: %d transactions were committed and the sum is %s, want at least %d and the sum %d", way.name, done.Load(),
				sum, 3*each, done.Load()*way.adds)
		}
	}
}

// A server that loses its network during a write does not keep rows locked, because
// PostgreSQL ends an idle write transaction. Waiting writes then acquire the locks. A
// long read may be idle, because its client may be slow.
func TestIdleWriteTransactionIsEnded(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, apptest.WithLockTimeout(t, apptest.EmptyPostgresURL(t), 20*time.Second))
	apptest.Change(t, db, "INSERT INTO settings (key, value) VALUES ('a', '0')")
	const more = "UPDATE settings SET value = (value::int + 1)::text WHERE key = 'a'"
	var (
		locked, reading = make(chan struct{}), make(chan struct{})
		over            = make(chan struct{})
		wrote, read     = make(chan error, 1), make(chan error, 1)
		end             = sync.OnceFunc(func() { close(over) })
	)
	defer end()
	go func() {
		wrote <- db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
			err := affect(t.Context(), tx, more)
			close(locked)
			<-over
			return errors.Join(err, affect(t.Context(), tx, more))
		})
	}()
	go func() {
		read <- db.Stream(t.Context(), board.System(), func(v *store.View) error {
			close(reading)
			<-over
			_, err := v.ExpiredBoard(t.Context())
			return err
		})
	}()
	<-locked
	<-reading
	begun := time.Now()
	apptest.Change(t, db, more)
	took := time.Since(begun)
	time.Sleep(time.Until(begun.Add(6 * time.Second))) // longer than the database's timeout
	end()
	if took < 4*time.Second || took > 15*time.Second {
		t.Errorf("the row was locked for %v, want about 5 seconds", took)
	}
	if err := <-wrote; !board.IsCode(err, board.CodeUnavailable) {
		t.Errorf("idle write: got error %v, want code %s", err, board.CodeUnavailable)
	}
	if err := <-read; err != nil {
		t.Errorf("long read: unexpected error %v", err)
	}
	if value := apptest.Select(t, db, "SELECT value FROM settings WHERE key = 'a'")[0]; value != "1" {
		t.Errorf("the row was changed to %s, want 1", value)
	}
}

// On PostgreSQL, the writes of a server to one board wait in a queue of that server
// instead of waiting for database locks. Each write waits until the previous one has
// committed. This applies to writes to any record of the board.
func TestWritesToOneBoardAreQueued(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.EmptyPostgresURL(t), apptest.Options{})
	ada := s.Person("Ada")
	boardID := ada.Must("create_board",
		apptest.Fields{"workspaceId": ada.Workspace("Engines", "team"), "name": "Launch"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": boardID, "name": "To do"}).ID()
	card := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Paint"}).ID()
	ada.Must("update_card", apptest.Fields{"cardId": card, "title": "Paint it"})
	if n := sqldb.QueueLength(s.DB.Engine(), boardID); n != 0 {
		t.Errorf("while no write is running: %d writes use the queue, want 0", n)
	}
	var (
		writes sync.WaitGroup
		end    = make(chan struct{})
		all    = sync.OnceFunc(func() { close(end) })
	)
	defer all()
	for i, load := range []func(ctx context.Context, tx *store.Tx) error{
		func(ctx context.Context, tx *store.Tx) error { _, err := tx.List(ctx, list, board.Edit); return err },
		func(ctx context.Context, tx *store.Tx) error { _, err := tx.Card(ctx, card, board.Edit); return err },
	} {
		writes.Go(func() {
			if err := s.DB.Write(t.Context(), board.System(), func(tx *store.Tx) error {
				err := load(t.Context(), tx)
				<-end
				return err
			}); err != nil {
				t.Error(err)
			}
		})
		for deadline := time.Now().Add(30 * time.Second); sqldb.QueueLength(s.DB.Engine(),
			boardID) != i+1; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d writes use the queue, want %d", sqldb.QueueLength(s.DB.Engine(), boardID), i+1)
			}
		}
	}
	all()
	writes.Wait()
	if n := sqldb.QueueLength(s.DB.Engine(), boardID); n != 0 {
		t.Errorf("after all writes: %d writes use the queue, want 0", n)
	}
}
