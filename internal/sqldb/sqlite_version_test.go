package sqldb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// The version of the data changes with each commit, through whichever path the file was opened, and
// with nothing else.
func TestDataVersionChangesWithEachCommit(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		link := database
		if !sqldb.IsPostgres(database) {
			link = filepath.Join(t.TempDir(), "link.db")
			if err := os.Symlink(database, link); err != nil {
				t.Fatal(err)
			}
		}
		one, two := apptest.OpenStore(t, database), apptest.OpenStore(t, link)
		known := runtime.GOOS == "linux" && !one.Shared()
		seen := map[sqldb.DataVersion]bool{{}: true}
		for i, db := range slices.Repeat([]*store.DB{one, two}, 20) {
			apptest.Change(t, db, "INSERT INTO settings (key, value) VALUES ($1, 'x')", fmt.Sprint("key ", i))
			version := one.Engine().DataVersion()
			if seen[version] == known {
				t.Errorf("got the version %x, want a new one: %v", version, known)
			}
			seen[version] = true
			apptest.Select(t, db, "SELECT key FROM settings")
			if again := two.Engine().DataVersion(); again != version {
				t.Errorf("got the version %x after a read, want %x", again, version)
			}
		}
	})
}

// After the recovery of an empty log, the version is unknown until the first commit, because the
// index of every empty log is the same.
func TestDataVersionOfAnEmptyLogIsUnknown(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cardwall.db")
	if err := apptest.OpenStore(t, file).Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(file + suffix); err != nil {
			t.Fatal(err)
		}
	}
	db := apptest.OpenStore(t, file)
	if version := db.Engine().DataVersion(); version != (sqldb.DataVersion{}) {
		t.Errorf("got the version %x, want none", version)
	}
	apptest.Change(t, db, "DELETE FROM settings WHERE key = 'cursor_key'")
	if version := db.Engine().DataVersion(); (version != sqldb.DataVersion{}) != (runtime.GOOS == "linux") {
		t.Errorf("got the version %x after a commit", version)
	}
}
