package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ownerEmail is the address of the user who owns the workspace.
const ownerEmail = "ada@example.com"

// server is the program under test with a data folder of its own.
type server struct {
	binary  string
	data    string   // the data folder
	logPath string   // what the server prints
	args    []string // of serve, besides its address and its data folder
	// database is where the data is, when not in a file of the data folder.
	database string

	addr      string // host:port of the running one
	token     string
	owner     string // the user's id
	workspace string
	proc      *process // nil when none runs
}

// newServer makes the data folder with a user, a workspace and a token through the binary's own command line.
func newServer(ctx context.Context, binary, dir string) (*server, error) {
	return newServerOn(ctx, binary, dir, "")
}

// newServerOn is newServer with a database; "" for a file in the data folder.
func newServerOn(ctx context.Context, binary, dir, database string) (*server, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, fmt.Errorf("find binary: %w", err)
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("find binary (build it first, or name it with -binary): %w", err)
	}
	s := &server{binary: binary, data: filepath.Join(dir, "data"), logPath: filepath.Join(dir, "server.log"), database: database}
	if err := os.Mkdir(s.data, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	password := rand.Text()
	if s.owner, err = s.command(ctx, password+"\n", "user", "add", "--email", ownerEmail, "--name", "Ada", "--password-stdin"); err != nil {
		return nil, err
	}
	if s.workspace, err = s.command(ctx, "", "workspace", "add", "--owner", ownerEmail, "--name", "Bench"); err != nil {
		return nil, err
	}
	if s.token, err = s.command(ctx, "", "token", "add", "--user", ownerEmail, "--name", "bench", "--scopes", "read,write,admin"); err != nil {
		return nil, err
	}
	return s, nil
}

// command runs the binary on the data folder and answers the one word that it prints.
func (s *server) command(ctx context.Context, stdin string, args ...string) (string, error) {
	out, err := s.output(ctx, time.Minute, stdin, args...)
	if err != nil {
		return "", err
	}
	words := strings.Fields(out)
	if len(words) != 1 {
		return "", fmt.Errorf("run %s %s: printed %q instead of one word", args[0], args[1], clip([]byte(out)))
	}
	return words[0], nil
}

// output runs the binary on the data folder, for so long at most, and answers what it prints.
func (s *server) output(ctx context.Context, limit time.Duration, stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.binary, append(args, s.place()...)...)
	cmd.Env = s.env()
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		said := stderr.Bytes() // progress first, the reason last
		return "", fmt.Errorf("run %s %s: %w: %s", args[0], args[1], err, clip(said[max(len(said)-400, 0):]))
	}
	return string(out), nil
}

// place is where the data is, as flags.
func (s *server) place() []string {
	if s.database == "" {
		return []string{"--data", s.data}
	}
	return []string{"--data", s.data, "--database", s.database}
}

// another is a further node on the same database, which does not run yet.
func (s *server) another() *server {
	node := *s
	node.addr, node.proc = "", nil
	return &node
}

// env lifts what would measure a setting instead of the server: the rate limits and the cap on a board's open cards.
func (s *server) env() []string {
	return append(os.Environ(), "CARDWALL_RATE_LIMITS=off", "CARDWALL_MAX_OPEN_CARDS=20000")
}

// start runs the server on a free port and answers the time from starting the program to its first good answer.
func (s *server) start(ctx context.Context) (time.Duration, error) {
	addr, err := freeAddress()
	if err != nil {
		return 0, err
	}
	log, err := os.OpenFile(s.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("open log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(s.binary, append(append([]string{"serve", "--addr", addr}, s.place()...), s.args...)...)
	cmd.Env = s.env()
	cmd.Stdout, cmd.Stderr = log, log

	begun := time.Now()
	s.proc, err = startProcess(cmd)
	if err != nil {
		return 0, err
	}
	s.addr = addr
	if err := s.proc.waitFor(ctx, addr, "/healthz"); err != nil {
		return 0, errors.Join(fmt.Errorf("start server: %w", err), s.stop())
	}
	return time.Since(begun), nil
}

// stop ends the running server, if there is one.
func (s *server) stop() error {
	if s.proc == nil {
		return nil
	}
	err := s.proc.stop()
	s.proc = nil
	return err
}

// lastWords answers the end of the server's log.
func (s *server) lastWords() string {
	log, err := os.ReadFile(s.logPath)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return strings.Join(lines[max(len(lines)-15, 0):], "\n")
}

// freeAddress answers a port of the loopback interface that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
