package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"cardwall/internal/apptest"
)

// TestSystemRecoveryToAPointInTime follows the steps in docs/operating.md for PostgreSQL: archive
// the write-ahead log, take a base backup, lose the cluster, and recover to a time between a write
// and a mistake.
func TestSystemRecoveryToAPointInTime(t *testing.T) {
	t.Parallel()
	p := newArchivedPostgres(t)
	p.initialize()
	stop := p.start("live")
	database := p.address("live")
	c := &crashServer{t: t, data: t.TempDir(), flags: []string{"--database", database}}
	c.command("user", "add", "--email", "ada@example.com", "--name", "Ada")
	p.run("pg_basebackup", "-h", p.socket("live"), "-U", "postgres", "-D", p.folder("base"), "--checkpoint=fast",
		"-X", "stream")
	workspace := c.command("workspace", "add", "--owner", "ada@example.com", "--name", "Before the mistake")

	target := p.sql("live", "SELECT clock_timestamp()")
	c.command("workspace", "add", "--owner", "ada@example.com", "--name", "The mistake")
	p.sql("live", "SELECT pg_switch_wal()")
	p.waitUntilArchived("live")
	stop()
	if err := os.RemoveAll(p.folder("live")); err != nil { // the machine is lost
		t.Fatal(err)
	}

	p.configure("base", fmt.Sprintf("restore_command = 'cp %s/%%f %%p'\nrecovery_target_time = '%s'\nrecovery_target_action = "+
		"'promote'\narchive_mode = off\nunix_socket_directories = '%s'\n",
		p.folder("archive"), target, p.socket("base")))
	p.appendTo(filepath.Join(p.folder("base"), "recovery.signal"), "")
	stop = p.start("base")
	defer stop()
	p.waitUntilPromoted("base")
	c.flags = []string{"--database", p.address("base")}
	if out := c.command("doctor"); out != "No problems found." {
		t.Errorf("doctor printed %q, want %q", out, "No problems found.")
	}
	if got := p.sql("base", "SELECT string_agg(id, ' ') FROM workspaces WHERE name = 'Before the mistake'"); got != workspace {
		t.Errorf("got workspace %q from before the mistake, want %s", got, workspace)
	}
	if got := p.sql("base", "SELECT count(*) FROM workspaces WHERE name = 'The mistake'"); got != "0" {
		t.Errorf("got %s workspaces from after the recovery target, want 0", got)
	}
	c.command("workspace", "add", "--owner", "ada@example.com", "--name", "After")
}

// archivedPostgres runs PostgreSQL servers in temporary folders: live, which archives its
// write-ahead log, and base, which recovers from a base backup and the archive.
type archivedPostgres struct {
	t         *testing.T
	home, bin string               // the parent of all folders, and the folder of the PostgreSQL programs
	as        *syscall.SysProcAttr // sets the user to run as; PostgreSQL refuses to run as root
}

func newArchivedPostgres(t *testing.T) *archivedPostgres {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "../../tools/with-postgres", "--bindir").Output()
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() == 69 && os.Getenv("CI") != "true" {
		t.Skip("no PostgreSQL server is installed; on Debian: apt-get install postgresql")
	}
	if err != nil {
		t.Fatalf("find PostgreSQL: %v", err)
	}
	// Don't use TMPDIR, because the path of a socket must not exceed 107 bytes.
	home, err := os.MkdirTemp("/tmp", "cardwall-recovery-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	p := &archivedPostgres{t: t, home: home, bin: strings.TrimSpace(string(out)), as: &syscall.SysProcAttr{}}
	if os.Getuid() == 0 {
		account, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr, os.Chown(home, int(uid), int(gid))); err != nil {
			t.Fatal(err)
		}
		p.as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return p
}

// folder returns the data folder of a server, or another folder.
func (p *archivedPostgres) folder(name string) string { return filepath.Join(p.home, name) }

// socket returns the folder with the socket of a server.
func (p *archivedPostgres) socket(name string) string { return p.folder(name + "-socket") }

// address returns the URL of a server's database.
func (p *archivedPostgres) address(name string) string {
	return "postgres://postgres@/postgres?host=" + p.socket(name) + "&sslmode=disable"
}

// command returns a command that runs a PostgreSQL program as the user in p.as.
func (p *archivedPostgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(p.bin, name), args...)
	cmd.SysProcAttr, cmd.Dir = p.as, p.home
	return cmd
}

// run runs a PostgreSQL program and returns its trimmed output.
func (p *archivedPostgres) run(name string, args ...string) string {
	p.t.Helper()
	out, err := p.command(name, args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return strings.TrimSpace(string(out))
}

// sql runs a query on a server and returns the result.
func (p *archivedPostgres) sql(name, text string) string {
	p.t.Helper()
	return p.run("psql", "-h", p.socket(name), "-U", "postgres", "-d", "postgres", "-XAtc", text)
}

// appendTo appends text to a file as the user in p.as.
func (p *archivedPostgres) appendTo(path, text string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "sh", "-c", `cat >>"$0"`, path)
	cmd.SysProcAttr, cmd.Stdin = p.as, strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("append to %s: %v\n%s", path, err, out)
	}
}

// configure appends settings to the configuration of a server.
func (p *archivedPostgres) configure(name, settings string) {
	p.t.Helper()
	p.appendTo(filepath.Join(p.folder(name), "postgresql.conf"), settings)
}

// initialize creates the server named live, and folders for the archive and the sockets.
func (p *archivedPostgres) initialize() {
	p.t.Helper()
	p.run("initdb", "-D", p.folder("live"), "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C",
		"--no-sync")
	for _, name := range []string{"archive", "live-socket", "base-socket"} {
		cmd := exec.CommandContext(p.t.Context(), "mkdir", p.folder(name))
		cmd.SysProcAttr = p.as
		if out, err := cmd.CombinedOutput(); err != nil {
			p.t.Fatalf("mkdir: %v\n%s", err, out)
		}
	}
	p.configure("live", fmt.Sprintf("listen_addresses = ''\nunix_socket_directories = '%s'\nwal_level = replica\narchive_mode = "+
		"on\narchive_command = 'test ! -f %s/%%f && cp %%p %[2]s/%%f'\n",
		p.socket("live"), p.folder("archive")))
}

// start starts a server and waits until it is ready. The returned function stops it.
func (p *archivedPostgres) start(name string) (stop func()) {
	p.t.Helper()
	cmd := p.command("postgres", "-D", p.folder(name))
	log := &apptest.Buffer{}
	cmd.Stderr = log
	wait := apptest.Start(p.t, cmd)
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // a fast shutdown
		_ = wait()
	})
	p.t.Cleanup(stop)
	apptest.Await(p.t, "the server is ready", func() (*apptest.Buffer, bool) {
		return log, p.command("pg_isready", "-q", "-h", p.socket(name)).Run() == nil
	})
	return stop
}

// waitUntilArchived waits until the write-ahead log up to the last switch is in the archive.
func (p *archivedPostgres) waitUntilArchived(name string) {
	p.t.Helper()
	apptest.Eventually(p.t, "the log is archived", func() bool {
		return p.sql(name, "SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) FROM pg_stat_archiver") == "t"
	})
}

// waitUntilPromoted waits until a server has finished its recovery.
func (p *archivedPostgres) waitUntilPromoted(name string) {
	p.t.Helper()
	apptest.Eventually(p.t, "the server has recovered", func() bool {
		return p.sql(name, "SELECT pg_is_in_recovery()") == "f"
	})
}
