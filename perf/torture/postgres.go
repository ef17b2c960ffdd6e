package main

import (
	"fmt"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"cardwall/perf/postgres"
)

// postgresUser returns the user account for PostgreSQL, which refuses to run as root.
func postgresUser() (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("find the postgres user: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

// postgresPrograms returns the folder of the PostgreSQL programs.
func postgresPrograms() (string, error) {
	out, err := exec.Command(filepath.Join("tools", "with-postgres"), "--bindir").Output()
	if err != nil {
		return "", fmt.Errorf("find PostgreSQL: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// newPostgres starts a cluster that is stopped when the trial ends.
func (t *trialRun) newPostgres() (*postgres.Cluster, error) {
	c, err := postgres.Start(t.ctx)
	if err != nil {
		return nil, err
	}
	t.cleanup(c.Stop)
	return c, nil
}
