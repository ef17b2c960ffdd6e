package sqldb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// The writer leaves checkpoints to another connection. The log is still reused from the
// beginning, even if commits follow each other without a pause.
func TestLogIsBoundedWithoutCheckpointsInCommits(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cardwall.db")
	db := apptest.OpenStore(t, file)
	var automatic string
	if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		_, err := tx.Raw().One(t.Context(), "PRAGMA wal_autocheckpoint", nil, &automatic)
		return err
	}); err != nil || automatic != "0" {
		t.Errorf("got wal_autocheckpoint %s (%v) for the writer, want 0", automatic, err)
	}
	const writers, writes, size = 4, 400, 100_000 // 160 MB in total
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range writes {
				if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
					return affect(t.Context(), tx, "INSERT INTO settings (key, value) VALUES ($1, hex(randomblob($2))) "+
						"ON CONFLICT (key) DO UPDATE SET value = excluded.value", fmt.Sprint("large ", w), size/2)
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	info, err := os.Stat(file + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 100<<20 {
		t.Errorf("the log has %d MB after writing %d MB, want at most 100 MB", info.Size()>>20, writers*writes*size>>20)
	}
	t.Logf("the log takes %d MB", info.Size()>>20)
}
