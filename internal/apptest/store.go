package apptest

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// OpenStore opens a store and closes it when the test ends.
func OpenStore(t testing.TB, database string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Database: database, Migrate: true, ReadLimit: wideLimit, ReportLimit: wideLimit})
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

// Select returns the rows of a query with one column of text.
func Select(t testing.TB, db *store.DB, text string, args ...any) (out []string) {
	t.Helper()
	if err := db.Read(t.Context(), board.System(), func(v *store.View) (err error) {
		out, err = v.Raw().Strings(t.Context(), text, args...)
		return err
	}); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// Change runs a statement in a transaction.
func Change(t testing.TB, db *store.DB, text string, args ...any) {
	t.Helper()
	if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		_, err := tx.Raw().Affected(t.Context(), text, args...)
		return err
	}); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// MigrateBeforeLast creates a SQLite file with the second-newest schema version and one
// organization. It returns that version.
func MigrateBeforeLast(t testing.TB, file string) (version int64) {
	t.Helper()
	versions, err := sqldb.Versions(store.Migrations())
	if err != nil || len(versions) < 2 {
		t.Fatalf("got migration versions %v, error %v; want at least two versions", versions, err)
	}
	version = versions[len(versions)-2]
	if err := sqldb.MigrateFile(t.Context(), file, store.Migrations(), version); err != nil {
		t.Fatal(err)
	}
	if err := execFile(t.Context(), file,
		"INSERT INTO organizations (id, name, plan, created_at) VALUES ('org_x', 'Engines', 'team', 1)"); err != nil {
		t.Fatal(err)
	}
	return version
}

func execFile(ctx context.Context, file, text string) (err error) {
	db, err := sql.Open("sqlite", sqldb.SQLiteAddress(file, false))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, text)
	return err
}
