package apptest

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Replicated is a PostgreSQL server for one test, with a streaming replica.
type Replicated struct {
	Primary, Replica string // URLs for a superuser
	t                testing.TB
}

// NewReplicated starts both servers and stops them when the test ends. If PostgreSQL is not
// installed, the test is skipped, or fails if CI is "true".
func NewReplicated(t testing.TB) *Replicated {
	t.Helper()
	c, err := startCluster("--replica")
	switch {
	case errors.Is(err, errNoPostgres) && os.Getenv("CI") != "true":
		t.Skip(err)
	case err != nil:
		t.Fatalf("start a PostgreSQL cluster with a replica: %v", err)
	}
	t.Cleanup(func() {
		if err := c.stop(); err != nil {
			t.Errorf("stop the cluster: %v", err)
		}
	})
	return &Replicated{Primary: c.url, Replica: c.replica, t: t}
}

// Exec runs a statement on one of the two servers.
func (r *Replicated) Exec(address, statement string) {
	r.t.Helper()
	if err := execPostgres(address, statement); err != nil {
		r.t.Fatalf("%s: %v", statement, err)
	}
}

// KillReplica stops the replica abruptly, like a crash of PostgreSQL, and waits until it has
// stopped.
func (r *Replicated) KillReplica() {
	r.t.Helper()
	address, err := url.Parse(r.Replica)
	if err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(address.Query().Get("host"), "data", "postmaster.pid")
	text, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGQUIT)
	}
	if err != nil {
		r.t.Fatalf("kill the replica: %v", err)
	}
	Eventually(r.t, "the replica has stopped", func() bool {
		_, err := os.Stat(file) // the server removes it last
		return errors.Is(err, fs.ErrNotExist)
	})
}
