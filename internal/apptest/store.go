package apptest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// OpenStore opens a store and closes it when the test ends.
func OpenStore(t testing.TB, database string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Database: database, Migrate: true, ReadLimit: patience, ReportLimit: patience})
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

func execFile(ctx context.Context, file string, texts ...string) (err error) {
	db, err := sql.Open("sqlite", sqldb.SQLiteAddress(file, false))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, text := range texts {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// CopyAsOf creates a SQLite file with an older schema and copies the rows of another
// file to it. Tables and columns that are newer than the schema are left out. If
// database is the URL of a PostgreSQL database, CopyAsOf then copies the rows there.
func CopyAsOf(t testing.TB, from, file, database string, version int64) {
	t.Helper()
	ctx := t.Context()
	if err := sqldb.MigrateFile(ctx, file, store.Migrations(), version); err != nil {
		t.Fatal(err)
	}
	tables := tablesOf(t, file)
	texts := []string{"PRAGMA foreign_keys = 0", "ATTACH '" + strings.ReplaceAll(from, "'", "''") + "' AS newer"}
	for name, columns := range tables {
		newName := name
		if name == "letters" { // the name before migration 037
			newName = "emails"
		}
		list := quote(columns...)
		texts = append(texts, "DELETE FROM main."+quote(name),
			"INSERT INTO main."+quote(name)+" ("+list+") SELECT "+list+" FROM newer."+quote(newName))
	}
	if err := execFile(ctx, file, texts...); err != nil {
		t.Fatal(err)
	}
	if sqldb.IsPostgres(database) {
		delete(tables, "leases")
		copyToPostgres(t, file, database, tables, version)
	}
}

func quote(names ...string) string { return `"` + strings.Join(names, `", "`) + `"` }

// tablesOf returns the application's tables in a SQLite file, with their columns.
func tablesOf(t testing.TB, file string) map[string][]string {
	t.Helper()
	db, err := sql.Open("sqlite", sqldb.SQLiteAddress(file, false))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT t.name, c.name FROM pragma_table_list t
		JOIN pragma_table_info(t.name) c JOIN sqlite_schema s ON s.name = t.name AND s.type = 'table'
		WHERE t.type = 'table' AND t.schema = 'main' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND t.name NOT IN ('goose_db_version', 'texts_indexed', 'texts_gone')
		AND NOT (c.pk = 1 AND s.sql LIKE '%AUTOINCREMENT%')`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	tables := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		tables[table] = append(tables[table], column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return tables
}

// copyToPostgres copies tables in an order that satisfies the foreign keys: it retries each
// table until the tables that it refers to are copied.
func copyToPostgres(t testing.TB, file, database string, tables map[string][]string, version int64) {
	t.Helper()
	if err := sqldb.MigratePostgres(t.Context(), database, store.Migrations(), version); err != nil {
		t.Fatal(err)
	}
	from, err := sql.Open("sqlite", sqldb.SQLiteAddress(file, false))
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	left := make([]string, 0, len(tables))
	for name := range tables {
		left = append(left, name)
	}
	slices.Sort(left)
	for len(left) > 0 {
		var failed error
		before := len(left)
		left = slices.DeleteFunc(left, func(name string) bool {
			err := copyTable(t.Context(), from, to, name, tables[name])
			failed = errors.Join(failed, err)
			return err == nil
		})
		if len(left) == before {
			t.Fatalf("copy to PostgreSQL: %v", failed)
		}
	}
}

func copyTable(ctx context.Context, from, to *sql.DB, name string, columns []string) (err error) {
	tx, err := to.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if _, err := tx.ExecContext(ctx, "DELETE FROM "+quote(name)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	rows, err := from.QueryContext(ctx, "SELECT "+quote(columns...)+" FROM "+quote(name))
	if err != nil {
		return err
	}
	defer rows.Close()
	placeholders := make([]string, len(columns))
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range columns {
		placeholders[i], into[i] = "$"+strconv.Itoa(i+1), &values[i]
	}
	insert := "INSERT INTO " + quote(name) + " (" + quote(columns...) + ") VALUES (" + strings.Join(placeholders,
		", ") + ")"
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, insert, values...); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return tx.Commit()
}
