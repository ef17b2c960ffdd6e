package apptest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// PoolerURL starts pgbouncer and returns a URL that connects to a database through it.
// database is a URL from PostgresURL or EmptyPostgresURL. The pooler may run each
// transaction on a different connection. If pgbouncer is not installed, the test is
// skipped with the reason, or fails if CI is "true".
func PoolerURL(t testing.TB, database string) string {
	t.Helper()
	program, err := findPooler()
	switch {
	case err != nil && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	direct, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	// The path from t.TempDir could be too long: the path of a socket may have at most 107 bytes.
	folder, err := os.MkdirTemp("/tmp", "cardwall-pooler-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	config := fmt.Sprintf(`[databases]
* = host=%s user=%s
[pgbouncer]
pool_mode = transaction
default_pool_size = 8
max_client_conn = 500
auth_type = any
listen_addr =
listen_port = 6432
unix_socket_dir = %s
logfile = %s
`, direct.Query().Get("host"), direct.User.Username(), folder, filepath.Join(folder, "log"))
	file := filepath.Join(folder, "pgbouncer.ini")
	if err := errors.Join(os.WriteFile(file, []byte(config), 0o644), os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	run := []string{program, "-q", file}
	if os.Getuid() == 0 { // pgbouncer refuses to run as root
		run = append([]string{"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"}, run...)
	}
	cmd := exec.Command(run[0], run[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	Start(t, cmd)
	query := direct.Query()
	query.Set("host", folder)
	query.Set("port", "6432")
	direct.RawQuery = query.Encode()
	address := direct.String()
	Await(t, "pgbouncer responds", func() (log string, done bool) {
		conn, err := pgx.Connect(context.Background(), address)
		if err == nil {
			return "", conn.Close(context.Background()) == nil
		}
		text, _ := os.ReadFile(filepath.Join(folder, "log"))
		return fmt.Sprintf("%v\n%s", err, text), false
	})
	return address
}

func findPooler() (string, error) {
	for _, folder := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin") {
		program := filepath.Join(folder, "pgbouncer")
		if info, err := os.Stat(program); err == nil && !info.IsDir() {
			return program, nil
		}
	}
	return "", errors.New("no pgbouncer is installed; on Debian: apt-get install pgbouncer")
}
