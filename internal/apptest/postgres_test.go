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
			t.Errorf("%s has the table: %v (%v), want %v", conn.Config().Database, found, err, want)
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
		t.Skip("no PostgreSQL server is installed")
	}
	if conn, err := pgx.Connect(t.Context(), address); err == nil {
		conn.Close(t.Context())
		t.Error("the database outlived its test")
	}
}

// In byte order "B" comes before "a". The clusters of the tests use a natural-language order,
// so that a query without COLLATE "C" fails its test.
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

func TestStoppedClusterLeavesNothing(t *testing.T) {
	// Otherwise the test would use the cluster that all packages share.
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
		t.Errorf("the running cluster's folder: %v", err)
	}
	connects(t, c.url)

	if err := c.stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the stopped cluster's folder %s is still there (%v)", folder, err)
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
