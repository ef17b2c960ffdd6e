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
		tries := 0
		err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
			tries++
			return raise(t.Context(), tx, code)
		})
		if !board.IsCode(err, board.CodeUnavailable) || tries != 8 {
			t.Errorf("%s, lost every time: got %d attempts and error %v, want 8 attempts and code %s", code, tries, err,
				board.CodeUnavailable)
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

// Transactions that lock the same two rows in opposite orders, or that conflict under
// serializable isolation, are committed in the end, each once.
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
			[2]string{"UPDATE settings SET value = value WHERE key = $1 AND value = ''", more}, 1},
	} {
		apptest.Change(t, db, "UPDATE settings SET value = '0' WHERE key IN ('a', 'b')")
		const rounds = 5
		var tries atomic.Int64
		for range rounds {
			var pair, both sync.WaitGroup // both have run their first statement
			both.Add(2)
			for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
				pair.Go(func() {
					first := sync.OnceFunc(func() {
						both.Done()
						both.Wait()
					})
					if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
						tries.Add(1)
						err := errors.Join(affect(t.Context(), tx, way.before), affect(t.Context(), tx, way.text[0], order[0]))
						first()
						return errors.Join(err, affect(t.Context(), tx, way.text[1], order[1]))
					}); err != nil {
						t.Errorf("%s: unexpected error %v", way.name, err)
					}
				})
			}
			pair.Wait()
		}
		if tries.Load() < 3*rounds {
			t.Errorf("%s: got %d attempts, want at least %d, because each pair conflicts", way.name, tries.Load(), 3*rounds)
		}
		sum := apptest.Select(t, db, "SELECT sum(value::int)::text FROM settings WHERE key IN ('a', 'b')")[0]
		if want := fmt.Sprint(2 * rounds * way.adds); sum != want {
			t.Errorf("%s: the sum is %s, want %s, as each transaction is committed once", way.name, sum, want)
		}
	}
}

// A server that loses its network during a write does not keep rows locked, because
// PostgreSQL ends an idle write transaction. Waiting writes then acquire the locks. A
// long read may be idle, because its client may be slow.
func TestIdleWriteTransactionIsEnded(t *testing.T) {
	t.Parallel()
	database := apptest.WithLockTimeout(t, apptest.EmptyPostgresURL(t), time.Minute)
	const limits = "SELECT current_setting('idle_in_transaction_session_timeout')"
	if got := apptest.Select(t, apptest.OpenStore(t, database), limits)[0]; got != "5s" {
		t.Errorf("without a setting, idle transactions end after %s, want 5s", got)
	}
	const limit = time.Second
	db := apptest.OpenStore(t, apptest.WithIdleTimeout(t, database, limit))
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
	apptest.Change(t, db, more) // waits until the idle transaction has ended
	time.Sleep(2 * limit)       // so that the read is idle for longer
	end()
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
		apptest.Await(t, "the write uses the queue", func() (int, bool) {
			n := sqldb.QueueLength(s.DB.Engine(), boardID)
			return n, n == i+1
		})
	}
	all()
	writes.Wait()
	if n := sqldb.QueueLength(s.DB.Engine(), boardID); n != 0 {
		t.Errorf("after all writes: %d writes use the queue, want 0", n)
	}
}
