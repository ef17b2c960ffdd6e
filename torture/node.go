package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// node is one server of the program under test, which may be started again and again.
type node struct {
	binary   string
	data     string   // the data folder
	database string   // postgres://…; empty for SQLite
	env      []string // besides what every node has
	wrap     []string // a command before it, such as ip netns exec
	addr     string   // host:port, the same at every start
	logPath  string
	proc     *process // nil when none runs
}

// newNode is a server with its data in a folder of the trial.
func (t *torment) newNode(name, database string) (*node, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	n := &node{binary: t.binary, data: filepath.Join(t.dir, name), database: database, addr: addr, logPath: filepath.Join(t.dir, name+".log")}
	t.atEnd(func() error {
		n.kill()
		return nil
	})
	return n, nil
}

// environment is what every node runs with: no limit that would measure itself, and webhooks that go to this machine at
// once.
func (n *node) environment() []string {
	env := append(os.Environ(), "CARDWALL_DATA="+n.data, "CARDWALL_RATE_LIMITS=off", "CARDWALL_MAX_OPEN_CARDS=200000",
		"CARDWALL_MAX_CARDS=1000000",
		"CARDWALL_WEBHOOK_ALLOW=127.0.0.0/8,10.77.0.0/16", "CARDWALL_WEBHOOK_PACE=0",
		"CARDWALL_WEBHOOK_RETRY_PAUSES=200ms,500ms,1s,2s,5s,10s,20s,30s")
	if n.database != "" {
		env = append(env, "CARDWALL_DATABASE="+n.database)
	}
	return append(env, n.env...)
}

// begin starts the server and does not wait for it.
func (n *node) begin() (err error) {
	args := append(append([]string{}, n.wrap...), n.binary, "serve", "--addr", n.addr)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = n.environment()
	n.proc, err = startProcess(cmd, n.logPath)
	return err
}

// start runs the server until it is ready.
func (n *node) start(ctx context.Context) error {
	if err := n.begin(); err != nil {
		return err
	}
	return n.await(ctx, time.Minute)
}

// await waits until the server is ready.
func (n *node) await(ctx context.Context, most time.Duration) error {
	for deadline := time.Now().Add(most); ; {
		switch {
		case n.ready():
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case n.proc.ended():
			return fmt.Errorf("the server ended before it was ready:\n%s", lastLines(n.logPath))
		case time.Now().After(deadline):
			return fmt.Errorf("the server is not ready in %v:\n%s", most, lastLines(n.logPath))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// ready asks the server once.
func (n *node) ready() bool {
	client := http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + n.addr + "/readyz")
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// freeze stops the server where it is: no thread of it comes back from the kernel any more.
func (n *node) freeze() error { return n.proc.freeze() }

// thaw has it go on.
func (n *node) thaw() error { return syscall.Kill(n.proc.pid(), syscall.SIGCONT) }

// faulted counts the servers that ended so far because of a page of the database that the disk did not give.
func (n *node) faulted() (int, error) {
	log, err := os.ReadFile(n.logPath)
	if err != nil {
		return 0, fmt.Errorf("read log: %w", err)
	}
	return strings.Count(string(log), "\n[signal SIGBUS"), nil
}

// kill ends the server with SIGKILL, if one runs.
func (n *node) kill() {
	if n.proc != nil {
		n.proc.kill()
		n.proc = nil
	}
}

// command runs the binary on the data and answers what it prints.
func (n *node) command(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	all := append(append([]string{}, n.wrap...), n.binary)
	all = append(all, args...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Env = n.environment()
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		said := problems.Bytes() // progress first, the reason last
		return "", fmt.Errorf("run %s: %w: %s%s", strings.Join(args, " "), err, out, said[max(len(said)-400, 0):])
	}
	return strings.TrimSpace(string(out)), nil
}

// doctor has the data checked.
func (n *node) doctor(ctx context.Context) error {
	said, err := n.command(ctx, "doctor")
	if err == nil && !strings.Contains(said, "No problems found.") {
		err = errors.New("the doctor says: " + said)
	}
	return err
}
