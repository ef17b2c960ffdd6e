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
	"syscall"
	"testing"
	"time"
)

// TestRecoveryToAPointInTime follows the chapter of docs/operating.md about PostgreSQL word for
// word: archive the log, take a base backup, lose the cluster, and recover to a moment between
// a write and a mistake.
func TestRecoveryToAPointInTime(t *testing.T) {
	t.Parallel()
	p := newArchived(t)
	p.initialize()
	stop := p.start("live")
	database := p.address("live")
	c := &crash{t: t, data: t.TempDir(), flags: []string{"--database", database}}
	c.command("user", "add", "--email", "ada@example.com", "--name", "Ada")
	p.run("pg_basebackup", "-h", p.socket("live"), "-U", "postgres", "-D", p.folder("base"), "--checkpoint=fast",
		"-X", "stream")
	workspace := c.command("workspace", "add", "--owner", "ada@example.com", "--name", "Before the mistake")

	moment := p.sql("live", "SELECT clock_timestamp()")
	time.Sleep(50 * time.Millisecond)
	c.command("workspace", "add", "--owner", "ada@example.com", "--name", "The mistake")
	p.sql("live", "SELECT pg_switch_wal()")
	p.archived("live")
	stop()
	if err := os.RemoveAll(p.folder("live")); err != nil { // the machine is lost
		t.Fatal(err)
	}

	p.append("base", fmt.Sprintf("restore_command = 'cp %s/%%f %%p'\nrecovery_target_time = '%s'\nrecovery_target_action = "+
		"'promote'\narchive_mode = off\nunix_socket_directories = '%s'\n",
		p.folder("archive"), moment, p.socket("base")))
	p.write(filepath.Join(p.folder("base"), "recovery.signal"), "")
	stop = p.start("base")
	defer stop()
	p.promoted("base")
	c.flags = []string{"--database", p.address("base")}
	if said := c.command("doctor"); said != "No problems found." {
		t.Errorf("the doctor printed %q, want %q", said, "No problems found.")
	}
	if got := p.sql("base", "SELECT string_agg(id, ' ') FROM workspaces WHERE name = 'Before the mistake'"); got != workspace {
		t.Errorf("the data from before the mistake is %q, want %s", got, workspace)
	}
	if got := p.sql("base", "SELECT count(*) FROM workspaces WHERE name = 'The mistake'"); got != "0" {
		t.Errorf("the mistake was recovered %s times, want 0", got)
	}
	c.command("workspace", "add", "--owner", "ada@example.com", "--name", "After")
}

// archived is a PostgreSQL server in temporary folders, with an archive of its log.
type archived struct {
	t         *testing.T
	home, bin string
	as        *syscall.SysProcAttr // PostgreSQL does not run as root
}

func newArchived(t *testing.T) *archived {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "../../tools/with-postgres", "--bindir").Output()
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() == 69 && os.Getenv("CI") != "true" {
		t.Skip("no PostgreSQL server is installed; on Debian: apt-get install postgresql")
	}
	if err != nil {
		t.Fatalf("find PostgreSQL: %v", err)
	}
	// Not below TMPDIR: the path of a socket may have at most 107 bytes.
	home, err := os.MkdirTemp("/tmp", "cardwall-recovery-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	p := &archived{t: t, home: home, bin: strings.TrimSpace(string(out)), as: &syscall.SysProcAttr{}}
	if os.Getuid() == 0 {
		who, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, uidErr := strconv.ParseUint(who.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(who.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr, os.Chown(home, int(uid), int(gid))); err != nil {
			t.Fatal(err)
		}
		p.as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return p
}

func (p *archived) folder(name string) string { return filepath.Join(p.home, name) }

// socket returns the folder of a server's socket.
func (p *archived) socket(name string) string { return p.folder(name + "-socket") }

func (p *archived) address(name string) string {
	return "postgres://postgres@/postgres?host=" + p.socket(name) + "&sslmode=disable"
}

// command returns one of PostgreSQL's programs, run as its user.
func (p *archived) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(p.bin, name), args...)
	cmd.SysProcAttr, cmd.Dir = p.as, p.home
	return cmd
}

func (p *archived) run(name string, args ...string) string {
	p.t.Helper()
	out, err := p.command(name, args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *archived) sql(name, text string) string {
	p.t.Helper()
	return p.run("psql", "-h", p.socket(name), "-U", "postgres", "-d", "postgres", "-XAtc", text)
}

// write writes a file that belongs to PostgreSQL's user.
func (p *archived) write(path, text string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "sh", "-c", `cat >>"$0"`, path)
	cmd.SysProcAttr, cmd.Stdin = p.as, strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("write %s: %v\n%s", path, err, out)
	}
}

func (p *archived) append(name, settings string) {
	p.t.Helper()
	p.write(filepath.Join(p.folder(name), "postgresql.conf"), settings)
}

func (p *archived) initialize() {
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
	p.append("live", fmt.Sprintf("listen_addresses = ''\nunix_socket_directories = '%s'\nwal_level = replica\narchive_mode = "+
		"on\narchive_command = 'test ! -f %s/%%f && cp %%p %[2]s/%%f'\n",
		p.socket("live"), p.folder("archive")))
}

// start runs a server until stop is called.
func (p *archived) start(name string) (stop func()) {
	p.t.Helper()
	cmd := p.command("postgres", "-D", p.folder(name))
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := false
	stop = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Signal(syscall.SIGINT) // a fast shutdown
			_ = cmd.Wait()
		}
	}
	p.t.Cleanup(stop)
	p.until("the server is ready", func() bool {
		return p.command("pg_isready", "-q", "-h", p.socket(name)).Run() == nil
	}, &log)
	return stop
}

func (p *archived) until(what string, true func() bool, log fmt.Stringer) {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); !true(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: not within a minute\n%v", what, log)
		}
	}
}

// archived waits until the log up to the last switch is in the archive.
func (p *archived) archived(name string) {
	p.t.Helper()
	p.until("the log is archived", func() bool {
		return p.sql(name, "SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) FROM pg_stat_archiver") == "t"
	}, nil)
}

// promoted waits until a server has recovered.
func (p *archived) promoted(name string) {
	p.t.Helper()
	p.until("recovered", func() bool { return p.sql(name, "SELECT pg_is_in_recovery()") == "f" }, nil)
}
