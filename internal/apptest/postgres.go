package apptest

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresVariable names the server that `make test` starts once for all packages.
const postgresVariable = "CARDWALL_TEST_POSTGRES"

// noPostgres is the exit code of tools/with-postgres if no server is installed.
const noPostgres = 69

var errNoPostgres = errors.New("no PostgreSQL server is installed; on Debian: apt-get install postgresql")

// ownCluster is the cluster that a test process starts if CARDWALL_TEST_POSTGRES is not set. All
// tests of the process share it, because starting a cluster takes most of a second.
var ownCluster = sync.OnceValues(func() (*cluster, error) { return startCluster() })

// PostgresURL returns the connection URL of a new, migrated PostgreSQL database. The database
// belongs to the test and is dropped when the test ends, even if connections are still open.
//
// The server is the one that CARDWALL_TEST_POSTGRES names, or else one that this test process
// starts on first use and stops when it exits. If no server is installed, the test is skipped with
// the reason, or fails if CI is "true".
func PostgresURL(t testing.TB) string {
	t.Helper()
	postgresOrSkip(t)
	migrated, err := migratedPostgres()
	if err != nil {
		t.Fatalf("create the migrated database: %v", err)
	}
	return postgresCopy(t, migrated)
}

// EmptyPostgresURL is like PostgresURL, but the database has no schema.
func EmptyPostgresURL(t testing.TB) string {
	t.Helper()
	// A connection to the template would make CREATE DATABASE fail. Unlike template1, template0
	// allows no connections.
	return postgresCopy(t, "template0")
}

// postgresCopy returns the URL of a copy of a database. The copy is dropped when the test ends.
func postgresCopy(t testing.TB, of string) string {
	t.Helper()
	server := postgresOrSkip(t)
	name := "cardwall_" + strings.ToLower(rand.Text())
	if err := execPostgres(server, "CREATE DATABASE "+name+" TEMPLATE "+of); err != nil {
		t.Fatalf("create the test's database: %v", err)
	}
	t.Cleanup(func() {
		if err := execPostgres(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return addressOn(server, name)
}

// postgresServer returns the URL of this test process's server.
func postgresServer() (string, error) {
	if server := os.Getenv(postgresVariable); server != "" {
		return server, nil
	}
	own, err := ownCluster()
	if err != nil {
		return "", err
	}
	return own.url, nil
}

func postgresOrSkip(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("with -short, tests run only on SQLite")
	}
	server, err := postgresServer()
	switch {
	case errors.Is(err, errNoPostgres) && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatalf("start a PostgreSQL cluster: %v", err)
	}
	return server
}

// ExecPostgres runs one statement on a database, on a new connection.
func ExecPostgres(database, statement string) error { return execPostgres(database, statement) }

// execPostgres does not use the test's context, because that is canceled before the cleanup.
func execPostgres(server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// QueryPostgres returns the first column of a query's first row as text, or "" if the value is
// NULL. It returns pgx.ErrNoRows if there is no row. Other processes may be using the database.
func QueryPostgres(ctx context.Context, database, query string) (text string, err error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	var found *string
	if err := conn.QueryRow(ctx, query).Scan(&found); err != nil && !errors.Is(err, pgx.ErrNoRows) || found == nil {
		return "", err
	}
	return *found, nil
}

// cluster is a temporary PostgreSQL server. tools/with-postgres runs it as long as hold stays
// open, so it cannot outlive this process, however the process ends.
type cluster struct {
	url     string
	replica string // "" without the --replica flag
	hold    io.Closer
	cmd     *exec.Cmd
}

// startCluster starts a cluster with the given flags of tools/with-postgres.
func startCluster(flags ...string) (*cluster, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(root, "tools", "with-postgres"),
		append(flags, "sh", "-c",
			`printf '%s %s\n' "$CARDWALL_TEST_POSTGRES" "$CARDWALL_TEST_POSTGRES_REPLICA"; exec cat`)...)
	// With a buffer instead of a file, os/exec would start a goroutine, which would look like a leak.
	cmd.Stderr = os.Stderr
	hold, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		c := &cluster{hold: hold, cmd: cmd}
		c.url, c.replica, _ = strings.Cut(strings.TrimSpace(line), " ")
		return c, nil
	}
	hold.Close()
	exit := cmd.Wait()
	if cmd.ProcessState.ExitCode() == noPostgres {
		return nil, errNoPostgres
	}
	return nil, fmt.Errorf("%s printed no address (%w); see its output", cmd.Path, exit)
}

// stop stops the server and waits until its folder is removed.
func (c *cluster) stop() error {
	if err := c.hold.Close(); err != nil {
		return err
	}
	return c.cmd.Wait()
}

// moduleRoot returns the folder of go.mod at or above the working directory, which in a test is
// the folder of its package.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("no go.mod at or above %s: start the cluster before leaving the package's folder", start)
		}
	}
}
