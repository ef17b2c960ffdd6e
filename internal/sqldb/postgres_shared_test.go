package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// sharedWorld is a database with boards whose writes can share transactions.
type sharedWorld struct {
	*testing.T
	db     *store.DB
	boards []string
}

// newSharedWorld returns a world whose writes wait for a lock for the given time.
func newSharedWorld(t *testing.T, lockTimeout time.Duration) *sharedWorld {
	s := apptest.New(t, apptest.WithLockTimeout(t, apptest.EmptyPostgresURL(t), lockTimeout), apptest.Options{})
	sqldb.SetSharedTime(s.DB.Engine(), time.Minute)
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", "team")
	w := &sharedWorld{T: t, db: s.DB}
	for _, name := range []string{"Launch", "Landing"} {
		id := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": name}).ID()
		ada.Must("create_list", apptest.Fields{"boardId": id, "name": "To do"}) // so that the server knows the board
		w.boards = append(w.boards, id)
	}
	return w
}

// outcome is the outcome of one write in a batch.
type outcome struct {
	err          error
	panicked     bool
	transactions []string // the PostgreSQL transactions in which it ran
}

// batch runs writes to the first board, all of which wait for the same shared transaction. Each
// inserts the setting "write N" before it calls its function.
func (w *sharedWorld) batch(contexts map[int]context.Context, writes ...func(ctx context.Context, tx *store.Tx) error) []outcome {
	w.Helper()
	var (
		all     sync.WaitGroup
		begun   = make(chan struct{})
		release = make(chan struct{})
		out     = make([]outcome, len(writes))
	)
	all.Go(func() {
		first := sync.OnceFunc(func() { close(begun) })
		if err := w.db.WriteTo(w.Context(), board.System(), w.boards[:1], func(tx *store.Tx) error {
			first()
			<-release
			return nil
		}); err != nil {
			w.Error(err)
		}
	})
	<-begun
	for i, write := range writes {
		ctx := w.Context()
		if contexts[i] != nil {
			ctx = contexts[i]
		}
		all.Go(func() {
			defer func() { out[i].panicked = recover() != nil }()
			out[i].err = w.db.WriteTo(ctx, board.System(), w.boards[:1], func(tx *store.Tx) error {
				id, err := tx.Raw().Strings(ctx, "SELECT txid_current()::text")
				if err != nil {
					return err
				}
				out[i].transactions = append(out[i].transactions, id...)
				return write(ctx, tx)
			})
		})
		apptest.Await(w, "the write waits for the shared transaction", func() (int, bool) {
			n := sqldb.WaitingWrites(w.db.Engine(), w.boards[0])
			return n, n == i+1
		})
	}
	close(release)
	all.Wait()
	return out
}

// insert returns a write that inserts a setting.
func insert(key string) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		return affect(ctx, tx, "INSERT INTO settings (key, value) VALUES ($1, 'x')", key)
	}
}

func (w *sharedWorld) check(want ...string) {
	w.Helper()
	if got := apptest.Select(w, w.db, "SELECT key FROM settings WHERE value = 'x' ORDER BY key"); !slices.Equal(got, want) {
		w.Errorf("got the settings %s, want %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
	for _, id := range w.boards {
		if n := sqldb.QueueLength(w.db.Engine(), id); n != 0 {
			w.Errorf("after all writes: %d transactions use the queue of %s, want 0", n, id)
		}
	}
}

// Writes that are waiting for the same board share a transaction.
func TestWaitingWritesShareTransaction(t *testing.T) {
	t.Parallel()
	w := newSharedWorld(t, time.Minute)
	done := w.batch(nil, insert("a"), insert("b"), insert("c"))
	for i, o := range done {
		if o.err != nil || !slices.Equal(o.transactions, done[0].transactions) || len(o.transactions) != 1 {
			t.Errorf("write %d: got error %v in transactions %s, want no error in %s", i, o.err, strings.Join(o.transactions, ", "),
				strings.Join(done[0].transactions, ", "))
		}
	}
	w.check("a", "b", "c")
}

// If a write is refused before it has changed anything, the other writes of the shared transaction
// do not run again.
func TestRefusalLeavesSharedTransaction(t *testing.T) {
	t.Parallel()
	w := newSharedWorld(t, time.Minute)
	done := w.batch(nil, insert("a"), func(context.Context, *store.Tx) error { return board.NotFound() }, insert("c"))
	if !board.IsCode(done[1].err, board.CodeNotFound) || len(done[1].transactions) != 1 {
		t.Errorf("refused write: got error %v after %d runs, want %s after 1", done[1].err, len(done[1].transactions), board.CodeNotFound)
	}
	for _, i := range []int{0, 2} {
		if len(done[i].transactions) != 1 || done[i].err != nil {
			t.Errorf("write %d: got error %v after %d runs, want no error after 1", i, done[i].err, len(done[i].transactions))
		}
	}
	w.check("a", "c")
}

// One write of a shared transaction fails in a way that affects the others. The others run
// again, and each takes effect once.
func TestFailureInSharedTransaction(t *testing.T) {
	t.Parallel()
	refused := board.NotFound()
	for _, c := range []struct {
		name  string
		write func(ctx context.Context, tx *store.Tx) error
		check func(o outcome) bool
	}{
		{"refused after a change", func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(insert("failed")(ctx, tx), refused)
		}, func(o outcome) bool { return errors.Is(o.err, refused) }},
		{"panic", func(ctx context.Context, tx *store.Tx) error {
			_ = insert("failed")(ctx, tx)
			panic("in the middle of a write")
		}, func(o outcome) bool { return o.panicked }},
		{"SQL error", func(ctx context.Context, tx *store.Tx) error {
			return raise(ctx, tx, "23502")
		}, func(o outcome) bool { return o.err != nil && !board.IsCode(o.err, board.CodeUnavailable) }},
		{"lost race", func(ctx context.Context, tx *store.Tx) error {
			return raise(ctx, tx, "40P01")
		}, func(o outcome) bool { return board.IsCode(o.err, board.CodeUnavailable) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newSharedWorld(t, time.Minute)
			done := w.batch(nil, insert("a"), c.write, insert("c"))
			if !c.check(done[1]) {
				t.Errorf("failing write: got error %v, panicked %t, want the outcome of: %s", done[1].err, done[1].panicked, c.name)
			}
			for _, i := range []int{0, 2} {
				if done[i].err != nil || done[i].panicked {
					t.Errorf("write %d failed too: %v", i, done[i].err)
				}
			}
			w.check("a", "c")
		})
	}
}

// A write of a shared transaction that waits too long for a lock fails alone.
func TestLockWaitInSharedTransaction(t *testing.T) {
	t.Parallel()
	w := newSharedWorld(t, time.Second)
	apptest.Change(t, w.db, "INSERT INTO settings (key, value) VALUES ('locked', '')")
	locked, release := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		if err := w.db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
			err := affect(t.Context(), tx, "UPDATE settings SET value = 'y' WHERE key = 'locked'")
			close(locked)
			<-release
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	<-locked
	done := w.batch(nil, insert("a"), func(ctx context.Context, tx *store.Tx) error {
		return affect(ctx, tx, "UPDATE settings SET value = 'x' WHERE key = 'locked'")
	}, insert("c"))
	close(release)
	holder.Wait()
	if !board.IsCode(done[1].err, board.CodeUnavailable) {
		t.Errorf("write that waited for a lock: got error %v, want %s", done[1].err, board.CodeUnavailable)
	}
	if err := errors.Join(done[0].err, done[2].err); err != nil {
		t.Errorf("other writes failed too: %v", err)
	}
	w.check("a", "c")
}

// If a caller is canceled while its write is running, the shared transaction continues.
func TestCancellationInSharedTransaction(t *testing.T) {
	t.Parallel()
	w := newSharedWorld(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := w.batch(map[int]context.Context{1: ctx}, insert("a"), func(ctx context.Context, tx *store.Tx) error {
		cancel()
		return insert("b")(ctx, tx)
	}, insert("c"))
	for i, o := range done {
		if o.err != nil || len(o.transactions) != 1 {
			t.Errorf("write %d: got error %v after %d runs, want no error after 1", i, o.err, len(o.transactions))
		}
	}
	w.check("a", "b", "c")
}

// A write that turns out to change another board runs again in its own transaction, because two
// transactions that each lock several boards could deadlock.
func TestOtherBoardLeavesSharedTransaction(t *testing.T) {
	t.Parallel()
	w := newSharedWorld(t, time.Minute)
	done := w.batch(nil, insert("a"), func(ctx context.Context, tx *store.Tx) error {
		if _, err := tx.Board(ctx, w.boards[1], board.Edit); err != nil {
			return err
		}
		return insert("b")(ctx, tx)
	}, insert("c"))
	for i, runs := range []int{1, 2, 1} {
		if done[i].err != nil || len(done[i].transactions) != runs {
			t.Errorf("write %d: got error %v after %d runs, want no error after %d", i, done[i].err, len(done[i].transactions), runs)
		}
	}
	w.check("a", "b", "c")
}

// The error of a deferred statement is returned by a statement of another write. Only the write
// that deferred the statement must fail.
func TestDeferredErrorInSharedTransaction(t *testing.T) {
	t.Parallel()
	w := newSharedWorld(t, time.Minute)
	apptest.Change(t, w.db, "INSERT INTO settings (key, value) VALUES ('taken', '')")
	done := w.batch(nil, insert("a"), func(ctx context.Context, tx *store.Tx) error {
		return tx.Raw().Exec(ctx, "INSERT INTO settings (key, value) VALUES ('taken', 'x')")
	}, insert("c"))
	if done[1].err == nil || !strings.Contains(done[1].err.Error(), "23505") {
		t.Errorf("write with the deferred error: got error %v, want SQLSTATE 23505", done[1].err)
	}
	if err := errors.Join(done[0].err, done[2].err); err != nil {
		t.Errorf("other writes failed too: %v", err)
	}
	w.check("a", "c")
}

// Many writes to one board through two servers all take effect, and the versions of the board have
// no gaps.
func TestSharedTransactionsOfTwoServers(t *testing.T) {
	t.Parallel()
	database := apptest.EmptyPostgresURL(t)
	s := apptest.New(t, database, apptest.Options{})
	ada := s.Person("Ada")
	boardID := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("Engines", "team"), "name": "Launch"}).ID()
	other := apptest.OpenStore(t, database)
	const clients, each = 8, 10
	var all sync.WaitGroup
	for c := range clients {
		db := []*store.DB{s.DB, other}[c%2]
		all.Go(func() {
			for i := range each {
				if err := db.WriteTo(t.Context(), board.System(), []string{boardID}, func(tx *store.Tx) error {
					b, err := tx.Board(t.Context(), boardID, board.Edit)
					if err != nil {
						return err
					}
					name := fmt.Sprint("Launch ", c, " ", i)
					tx.Emit(b.ID, board.Event{Kind: board.KindBoardUpdated, Changes: board.Changes{"name": board.FromTo{From: b.Name, To: name}}})
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	const versions = "SELECT count(*) || ' ' || (max(a.version) - min(a.version) + 1) || ' ' || (max(b.version) - max(a.version)) " +
		"FROM activity a JOIN boards b ON b.id = a.board_id WHERE b.id = $1 AND type = 'board.updated'"
	if got, want := apptest.Select(t, s.DB, versions, boardID)[0], fmt.Sprint(clients*each, clients*each, 0); got != want {
		t.Errorf("got numbers of changes, versions and missing versions %s, want %s", got, want)
	}
}
