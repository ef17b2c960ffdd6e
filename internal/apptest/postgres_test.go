package apptest

import (
	"context"
	"errors"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestPostgresDatabasesAreSeparate(t *testing.T) {
	one, other := connects(t, EmptyPostgresURL(t)), connects(t, EmptyPostgresURL(t))
	if _, err := one.Exec(t.Context(), "CREATE TABLE only_here (id TEXT)"); err != nil {
		t.Fatal(err)
	}
	for conn, want := range map[*pgx.Conn]bool{one: true, other: false} {
		var found bool
		err := conn.QueryRow(t.Context(), "SELECT to_regclass('only_here') IS NOT NULL").Scan(&found)
		if err != nil || found != want {
			t.Errorf("the table exists in %s: got %v, error %v; want %v", conn.Config().Database, found, err, want)
		}
	}
}

func TestPostgresDatabaseIsDroppedUnderOpenConnections(t *testing.T) {
	var address string
	t.Run("leaves a connection open", func(t *testing.T) {
		address = EmptyPostgresURL(t)
		conn, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) })
	})
	if address == "" {
		t.Skip("the test with PostgreSQL was skipped")
	}
	if conn, err := pgx.Connect(t.Context(), address); err == nil {
		conn.Close(t.Context())
		t.Error("the database still exists after its test")
	}
}

// The clusters of the tests use a natural-language collation, in which "a" comes before "B". So a
// query that lacks COLLATE "C" fails its test.
func TestPostgresDefaultOrderIsNotByteOrder(t *testing.T) {
	conn := connects(t, EmptyPostgresURL(t))
	var byteOrder bool
	if err := conn.QueryRow(t.Context(), "SELECT 'B' < 'a'").Scan(&byteOrder); err != nil {
		t.Fatal(err)
	}
	if byteOrder {
		t.Error(`the default collation sorts by bytes, so the tests cannot detect a missing COLLATE "C"; install ICU or the locale en_US.UTF-8`)
	}
}

func TestStoppedClusterIsRemoved(t *testing.T) {
	// If the variable were set, the test would use the cluster that all packages share.
	t.Setenv(postgresVariable, "")
	c, err := startCluster()
	if errors.Is(err, errNoPostgres) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(c.url)
	if err != nil {
		t.Fatal(err)
	}
	folder := address.Query().Get("host")
	if _, err := os.Stat(folder); err != nil {
		t.Errorf("the folder of the running cluster does not exist: %v", err)
	}
	connects(t, c.url)

	if err := c.stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s of the stopped cluster: got error %v, want os.ErrNotExist", folder, err)
	}
	if conn, err := pgx.Connect(t.Context(), c.url); err == nil {
		conn.Close(t.Context())
		t.Error("the stopped cluster still accepts connections")
	}
}

func connects(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}
