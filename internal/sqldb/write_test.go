package sqldb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// A write that fails or panics leaves no changes, whether it runs alone or shares a
// transaction. The changes of other writes are kept.
func TestFailedWriteLeavesNothing(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		db := apptest.OpenStore(t, database)
		write := func(name string, i int) (err error) {
			refused := errors.New("refused")
			if i%8 > 3 {
				refused = board.NotFound()
			}
			defer func() { // on PostgreSQL, a panic reaches this goroutine; on SQLite, the writer recovers from it
				if v := recover(); v != nil {
					err = refused
				}
			}()
			return db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
				if err := affect(t.Context(), tx, "INSERT INTO settings (key, value) VALUES ($1, 'x')",
					fmt.Sprintf("%s %03d", name, i)); err != nil {
					return err
				}
				switch i % 4 {
				case 1:
					return refused
				case 2:
					panic("in the middle of a write")
				case 3:
					return tx.Subtransaction(t.Context(), func() error { return refused })
				}
				// A failed savepoint is rolled back, and the write continues.
				if err := tx.Subtransaction(t.Context(), func() error {
					if err := affect(t.Context(), tx, "INSERT INTO settings (key, value) VALUES ($1, 'x')",
						fmt.Sprintf("subtransaction %s %03d", name, i)); err != nil || i%8 == 0 {
						return err
					}
					return board.NotFound()
				}); err != nil && !board.IsCode(err, board.CodeNotFound) {
					return err
				}
				return nil
			})
		}
		done := func(name string, i int) []string { // the rows of a write that succeeds
			all := []string{fmt.Sprintf("%s %03d", name, i)}
			if i%8 == 0 {
				all = append(all, fmt.Sprintf("subtransaction %s %03d", name, i))
			}
			return all
		}
		var want []string
		for i := range 8 {
			if err := write("alone", i); (err == nil) != (i%4 == 0) {
				t.Errorf("write %d alone: got error %v, want an error: %t", i, err, i%4 != 0)
			} else if err == nil {
				want = append(want, done("alone", i)...)
			}
		}
		var all sync.WaitGroup
		for i := range 80 {
			if i%4 == 0 {
				want = append(want, done("beside", i)...)
			}
			all.Go(func() {
				if err := write("beside", i); (err == nil) != (i%4 == 0) {
					t.Errorf("write %d in a shared transaction: got error %v, want an error: %t", i, err, i%4 != 0)
				}
			})
		}
		all.Wait()
		slices.Sort(want)
		if got := apptest.Select(t, db, "SELECT key FROM settings WHERE value = 'x' ORDER BY key"); !slices.Equal(got, want) {
			t.Errorf("got rows %s, want %s", strings.Join(got, ", "), strings.Join(want, ", "))
		}
	})
}

// A write or a subtransaction that is refused before it has changed anything does not make the
// other writes of its transaction run again.
func TestRefusalDoesNotRerunOthers(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, filepath.Join(t.TempDir(), "cardwall.db"))
	const writes = 200
	var (
		all  sync.WaitGroup
		runs atomic.Int64
	)
	for i := range writes {
		all.Go(func() {
			err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
				runs.Add(1)
				switch i % 4 {
				case 1:
					return board.NotFound()
				case 2:
					if err := tx.Subtransaction(t.Context(), func() error { return board.NotFound() }); !board.IsCode(err, board.CodeNotFound) {
						return err
					}
				}
				return affect(t.Context(), tx, "INSERT INTO settings (key, value) VALUES ($1, 'x')", fmt.Sprint(i))
			})
			if board.IsCode(err, board.CodeNotFound) != (i%4 == 1) {
				t.Errorf("write %d: got error %v, want it refused: %t", i, err, i%4 == 1)
			}
		})
	}
	all.Wait()
	if n := runs.Load(); n != writes {
		t.Errorf("%[1]d writes ran %[2]d times in total, want %[1]d", writes, n)
	}
}

// On SQLite, a subtransaction that was refused after a change makes the write run again, in
// savepoints, even if the write ignores the error. A subtransaction that failed does not.
func TestFailedSubtransactionRunsAgainInSavepoints(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, filepath.Join(t.TempDir(), "cardwall.db"))
	insert := func(tx *store.Tx, key string) error {
		return affect(t.Context(), tx, "INSERT INTO settings (key, value) VALUES ($1, 'x')", key)
	}
	runs := 0
	if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		runs++
		if err := insert(tx, "before"); err != nil {
			return err
		}
		_ = tx.Subtransaction(t.Context(), func() error { return errors.Join(insert(tx, "in it"), board.NotFound()) })
		return insert(tx, "after")
	}); err != nil || runs != 2 {
		t.Errorf("got error %v after %d runs, want none after 2", err, runs)
	}
	failed := errors.New("failed")
	if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		runs++
		return tx.Subtransaction(t.Context(), func() error { return errors.Join(insert(tx, "failed"), failed) })
	}); !errors.Is(err, failed) || runs != 3 {
		t.Errorf("a failure: got error %v after %d runs, want %v after 1", err, runs-2, failed)
	}
	if got, want := apptest.Select(t, db, "SELECT key FROM settings WHERE value = 'x' ORDER BY key"), []string{"after",
		"before"}; !slices.Equal(got, want) {
		t.Errorf("got rows %q, want those from before and after the subtransaction", got)
	}
}

// If the disk becomes full, SQLite rolls back the transaction. Exactly the acknowledged
// writes are kept.
func TestFullDiskKeepsAcknowledgedWrites(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, filepath.Join(t.TempDir(), "cardwall.db"))
	write := func(key string, size int) error {
		return db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
			return affect(t.Context(), tx, "INSERT INTO settings (key, value) VALUES ($1, $2)", key, strings.Repeat("x", size))
		})
	}
	if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		return affect(t.Context(), tx, "PRAGMA max_page_count = 1") // limits the file to its current size
	}); err != nil {
		t.Fatal(err)
	}
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		want []string
		full int
	)
	for i := range 200 {
		key, size := fmt.Sprintf("small %03d", i), 1
		if i%8 == 5 {
			key, size = fmt.Sprintf("large %03d", i), 1<<20
		}
		all.Go(func() {
			err := write(key, size)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				want = append(want, key)
			} else if full++; !board.IsCode(err, board.CodeUnavailable) {
				t.Errorf("%s: got error %v, want code %s", key, err, board.CodeUnavailable)
			}
		})
	}
	all.Wait()
	slices.Sort(want)
	if got := apptest.Select(t, db,
		"SELECT key FROM settings WHERE key LIKE 'small %' OR key LIKE 'large %' ORDER BY key"); !slices.Equal(got, want) {
		t.Errorf("got %d rows (%s), want %d rows (%s)", len(got), strings.Join(got, ", "), len(want), strings.Join(want, ", "))
	}
	if full < 25 || len(want) == 0 {
		t.Errorf("%d writes were refused and %d acknowledged, so the test proves nothing", full, len(want))
	}
}

// If the file is damaged, or the disk returns data that was never written, writes fail
// with CodeUnavailable rather than an internal error.
func TestWritesToADamagedFileAreUnavailable(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	ada := s.Person("Ada")
	b := ada.Must("create_board",
		apptest.Fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Board"}).ID()
	l := ada.Must("create_list", apptest.Fields{"boardId": b, "name": "List"}).ID()
	database := filepath.Join(t.TempDir(), "damaged.db")
	damaged := s.Copy(database)
	file, err := os.OpenFile(database, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096 // the first page contains the schema
	if _, err := file.WriteAt(bytes.Repeat([]byte{0xa5}, int(info.Size())-page), page); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	ada.At(damaged).Refused(board.CodeUnavailable, "create_card", apptest.Fields{"listId": l, "title": "Card"})
}

// After a disk failure, recovery makes a commit that needs a sync. It does so even if it
// made one within the same second and the log has not changed since.
func TestEachDiskRecoveryWritesACommit(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, filepath.Join(t.TempDir(), "cardwall.db"))
	for range 20 {
		if written, recovered, err := sqldb.Recover(db.Engine()); err != nil || !recovered || written == 0 {
			t.Fatalf("got recovered %v after %d bytes were written (%v), want true and more than 0 bytes", recovered, written, err)
		}
	}
}

// affect runs a statement and returns its error immediately.
func affect(ctx context.Context, tx *store.Tx, text string, args ...any) error {
	_, err := tx.Raw().Affected(ctx, text, args...)
	return err
}
