package apptest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"cardwall/internal/store"
)

// Only tests of migrations run the migrations. Every other test begins with a copy of a migrated
// database, because migrating takes longer than most tests. These two functions create the
// migrated database on first use. All tests of a process share it.
var (
	migratedFile     = sync.OnceValues(migrateFile)
	migratedPostgres = sync.OnceValues(migratePostgres)
)

// migrateTo creates the schema. It deletes the settings that a server writes when it first
// starts, such as the cursor key, so that each copy gets its own.
func migrateTo(driver, database string) (err error) {
	ctx := context.Background()
	made, err := store.Open(ctx, store.Options{Database: database, Log: slog.New(slog.DiscardHandler), Migrate: true})
	if err != nil {
		return err
	}
	if err := made.Close(); err != nil {
		return err
	}
	db, err := sql.Open(driver, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "DELETE FROM settings")
	return err
}

// migrateFile returns the content of a SQLite file after the migrations.
func migrateFile() (content []byte, err error) {
	folder, err := os.MkdirTemp("", "apptest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	file := filepath.Join(folder, "migrated.db")
	if err := migrateTo("sqlite", file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// beginMigrated creates a migrated SQLite file unless the file exists.
func beginMigrated(t testing.TB, file string) {
	t.Helper()
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	content, err := migratedFile()
	if err == nil {
		err = os.WriteFile(file, content, 0o600)
	}
	if err != nil {
		t.Fatalf("copy the migrated database: %v", err)
	}
}

// migratePostgres returns the name of a migrated PostgreSQL database, which serves as a template
// for CREATE DATABASE. Processes that test the same schema on one server share the database. It
// is removed with the server.
func migratePostgres() (name string, err error) {
	server, err := postgresServer()
	if err != nil {
		return "", err
	}
	name, err = schemaName()
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	// Only one process creates the database; the others wait and then use it.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", name); err != nil {
		return "", err
	}
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_database WHERE datname = $1",
		name).Scan(&exists); err != nil || exists {
		return name, err
	}
	// The database gets its final name when it is complete. It then refuses connections, because
	// an open connection would prevent copies.
	unfinished := name + "_unfinished"
	for _, step := range []func() error{
		func() error { return execPostgres(server, "DROP DATABASE IF EXISTS "+unfinished) },
		func() error { return execPostgres(server, "CREATE DATABASE "+unfinished+" TEMPLATE template0") },
		func() error { return migrateTo("pgx", addressOn(server, unfinished)) },
		func() error {
			return execPostgres(server, "ALTER DATABASE "+unfinished+" WITH ALLOW_CONNECTIONS false")
		},
		func() error { return execPostgres(server, "ALTER DATABASE "+unfinished+" RENAME TO "+name) },
	} {
		if err := step(); err != nil {
			return "", err
		}
	}
	return name, nil
}

// schemaName returns a name that contains a hash of the migrations.
func schemaName() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(root, "internal", "store", "migrations", "*.postgres.sql"))
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(file), len(text), text)
	}
	return "cardwall_schema_" + hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// WithLockTimeout returns the URL of a PostgreSQL database with the given lock timeout.
func WithLockTimeout(t testing.TB, database string, wait time.Duration) string {
	t.Helper()
	return withTimeout(t, database, "lock_timeout", wait)
}

// WithIdleTimeout returns the URL of a PostgreSQL database with the given timeout for transactions
// that are idle.
func WithIdleTimeout(t testing.TB, database string, wait time.Duration) string {
	t.Helper()
	return withTimeout(t, database, "idle_in_transaction_session_timeout", wait)
}

// withTimeout returns the URL of a PostgreSQL database with one of the database's timeouts.
func withTimeout(t testing.TB, database, name string, wait time.Duration) string {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatalf("%s is not a URL: %v", database, err)
	}
	query := address.Query()
	query.Set(name, strconv.FormatInt(wait.Milliseconds(), 10))
	address.RawQuery = query.Encode()
	return address.String()
}

// addressOn returns the URL of a database on a server, with a long connection timeout for busy
// machines.
func addressOn(server, name string) string {
	address, err := url.Parse(server)
	if err != nil {
		return name // the driver returns the error
	}
	address.Path = "/" + name
	query := address.Query()
	query.Set("connect_timeout", "30")
	address.RawQuery = query.Encode()
	return address.String()
}
