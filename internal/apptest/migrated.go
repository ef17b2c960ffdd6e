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

// The tests of the store migrate; every other test begins with a copy of what
// that leaves, for to migrate takes longer than most tests. These two are
// variables of the package because the copies of one process are all alike.
var (
	migratedFile     = sync.OnceValues(migrateFile)
	migratedPostgres = sync.OnceValues(migratePostgres)
)

// migrateTo makes the schema. What the first server to start would write down,
// such as the key of the cursors, is taken out again: each copy has its own.
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

// migrateFile is the content of a SQLite file as the migrations leave it.
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

// beginMigrated puts the schema where a SQLite file is to be and is not.
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

// migratePostgres is the name of a PostgreSQL database as the migrations leave
// it, for CREATE DATABASE to copy. The processes that test one schema on one
// server share it; it goes with the server.
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
	// One process at a time; the others find what the first has made.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", name); err != nil {
		return "", err
	}
	var there bool
	if err := conn.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_database WHERE datname = $1",
		name).Scan(&there); err != nil || there {
		return name, err
	}
	// It gets its name when it is whole, and whoever connected to it would be in the way of the copies.
	making := name + "_making"
	for _, step := range []func() error{
		func() error { return execPostgres(server, "DROP DATABASE IF EXISTS "+making) },
		func() error { return execPostgres(server, "CREATE DATABASE "+making+" TEMPLATE template0") },
		func() error { return migrateTo("pgx", addressOn(server, making)) },
		func() error { return execPostgres(server, "ALTER DATABASE "+making+" WITH ALLOW_CONNECTIONS false") },
		func() error { return execPostgres(server, "ALTER DATABASE "+making+" RENAME TO "+name) },
	} {
		if err := step(); err != nil {
			return "", err
		}
	}
	return name, nil
}

// schemaName is another one for other migrations.
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

// LockWait is a PostgreSQL database whose statements wait so long for a lock.
func LockWait(t testing.TB, database string, wait time.Duration) string {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatalf("%s is no URL: %v", database, err)
	}
	query := address.Query()
	query.Set("lock_timeout", strconv.FormatInt(wait.Milliseconds(), 10))
	address.RawQuery = query.Encode()
	return address.String()
}

// addressOn is the address of a database of a server. To connect to it takes as
// long as it takes on a busy machine.
func addressOn(server, name string) string {
	address, err := url.Parse(server)
	if err != nil {
		return name // the driver says why
	}
	address.Path = "/" + name
	query := address.Query()
	query.Set("connect_timeout", "30")
	address.RawQuery = query.Encode()
	return address.String()
}
