package main

import (
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// postgresUser is the account that PostgreSQL runs as: it refuses to be root's.
func postgresUser() (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("find the account of PostgreSQL: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

// postgresPrograms is the folder of PostgreSQL's programs: Debian keeps each version in one of its own, off the PATH.
func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("find PostgreSQL below /usr/lib/postgresql: %w", os.ErrNotExist)
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// asPostgres runs a command as PostgreSQL's account and answers what it prints.
func asPostgres(name string, args ...string) error {
	who, err := postgresUser()
	if err != nil {
		return err
	}
	cmd := command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	cmd.Dir = "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// newPostgres starts a cluster of its own, durable as it comes, and answers its address.
func (t *torment) newPostgres() (addr string, err error) {
	programs, err := postgresPrograms()
	if err != nil {
		return "", err
	}
	who, err := postgresUser()
	if err != nil {
		return "", err
	}
	home := filepath.Join(t.dir, "postgres")
	if err := os.Mkdir(home, 0o700); err != nil {
		return "", err
	}
	if err := os.Chown(home, int(who.Uid), int(who.Gid)); err != nil {
		return "", err
	}
	data := filepath.Join(home, "data")
	if err := asPostgres(filepath.Join(programs, "initdb"), "-D", data, "--username=postgres", "--auth=trust", "--encoding=UTF8",
		"--locale=C.UTF-8"); err != nil {
		return "", err
	}
	if addr, err = freeAddress(); err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	cmd := command(filepath.Join(programs, "postgres"), "-D", data, "-c", "listen_addresses="+host, "-c", "port="+port, "-c",
		"unix_socket_directories="+home, "-c", "max_connections=200")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	cmd.Dir = "/"
	p, err := startProcess(cmd, filepath.Join(t.dir, "postgres.log"))
	if err != nil {
		return "", err
	}
	t.atEnd(func() error {
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // at once: nothing here is kept
		<-p.done
		return nil
	})
	return addr, t.until("PostgreSQL does not answer", time.Minute, func() bool {
		_, err := run(filepath.Join(programs, "pg_isready"), "-q", "-h", host, "-p", port)
		return err == nil
	})
}

// postgresAddress is how a node finds the database at an address.
func postgresAddress(addr string) string {
	return "postgres://postgres@" + addr + "/postgres?sslmode=disable"
}

// query asks the database for one value.
func (t *torment) query(addr, text string) (string, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return "", err
	}
	return run(filepath.Join(programs, "psql"), "-X", "-A", "-t", "-d", postgresAddress(addr), "-c", text)
}
