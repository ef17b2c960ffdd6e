// Package server runs the commands of the program under test, and its server, which can be stopped and started again.
package server

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
	"time"

	"cardwall/perf/client"
	"cardwall/perf/process"
)

// OwnerEmail is the email address of the workspace owner.
const OwnerEmail = "ada@example.com"

// ReadyPath is the path of the readiness check, which returns status 200 when the server can serve requests.
const ReadyPath = "/readyz"

const (
	startTimeout   = time.Minute
	stopTimeout    = 10 * time.Second
	commandTimeout = 10 * time.Minute // the slowest command imports 200,000 cards
)

// Server is the program under test with its data. Set the exported fields except Process before the first use.
type Server struct {
	Binary   string
	Data     string   // the data folder
	Database string   // postgres://…; empty for SQLite in the data folder
	LogPath  string   // file to which the output of the server is appended
	Addr     string   // host:port; if empty, the first Start chooses a free address, which later starts reuse
	Env      []string // additional environment variables, as NAME=VALUE

	Process *process.Process // set by Start; nil before Start, and after Stop or Kill
}

// environment returns the environment of the program. It disables rate limits, because they would limit the load.
func (s *Server) environment() []string {
	env := append(os.Environ(), "CARDWALL_DATA="+s.Data, "CARDWALL_RATE_LIMITS=off")
	if s.Database != "" {
		env = append(env, "CARDWALL_DATABASE="+s.Database)
	}
	return append(env, s.Env...)
}

// Run runs a command of the program and returns its trimmed output.
func (s *Server) Run(ctx context.Context, args ...string) (string, error) {
	return s.run(ctx, "", args...)
}

// run runs a command of the program with the given standard input.
func (s *Server) run(ctx context.Context, input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Binary, args...)
	cmd.Env = s.environment()
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		output := stderr.Bytes() // the error message is at the end, after the progress messages
		return "", fmt.Errorf("run %s: %w: %s%s", strings.Join(args, " "), err, out, client.Clip(output[max(len(output)-400, 0):]))
	}
	return strings.TrimSpace(string(out)), nil
}

// AddOwner creates the owner and returns the id of the user.
func (s *Server) AddOwner(ctx context.Context) (string, error) {
	return s.printedWord(ctx, "user", "add", "--email", OwnerEmail, "--name", "Ada")
}

// AddWorkspace creates a workspace for the owner and returns its id.
func (s *Server) AddWorkspace(ctx context.Context, name string) (string, error) {
	return s.printedWord(ctx, "workspace", "add", "--owner", OwnerEmail, "--name", name)
}

// AddToken creates an API token for the owner and returns it.
func (s *Server) AddToken(ctx context.Context, name, scopes string) (string, error) {
	return s.printedWord(ctx, "token", "add", "--user", OwnerEmail, "--name", name, "--scopes", scopes)
}

// Person is a user with a password, a token, and a workspace in a separate organization.
type Person struct{ ID, Email, Password, Workspace, Token string }

// AddPerson creates a user with a workspace and a token. The name in lowercase is also the local part of the
// email address.
func (s *Server) AddPerson(ctx context.Context, name string) (p Person, err error) {
	p.Email, p.Password = strings.ToLower(name)+"@example.com", "a long password of "+name
	if p.ID, err = s.run(ctx, p.Password+"\n", "user", "add", "--email", p.Email, "--name", name, "--password-stdin"); err != nil {
		return p, err
	}
	if p.Workspace, err = s.printedWord(ctx, "workspace", "add", "--owner", p.Email, "--name", name); err != nil {
		return p, err
	}
	p.Token, err = s.printedWord(ctx, "token", "add", "--user", p.Email, "--name", "perf", "--scopes", "read,write,admin")
	return p, err
}

// AddMember adds a person to a workspace as an admin.
func (s *Server) AddMember(ctx context.Context, workspace string, p Person) error {
	_, err := s.Run(ctx, "workspace", "member", workspace, "--user", p.Email, "--role", "admin")
	return err
}

// printedWord runs a command that prints one word and returns the word.
func (s *Server) printedWord(ctx context.Context, args ...string) (string, error) {
	out, err := s.Run(ctx, args...)
	if err == nil && len(strings.Fields(out)) != 1 {
		err = fmt.Errorf("run %s: got output %q, want one word", strings.Join(args, " "), client.Clip([]byte(out)))
	}
	return out, err
}

// Doctor runs cardwall doctor and returns an error if it finds problems.
func (s *Server) Doctor(ctx context.Context) error {
	out, err := s.Run(ctx, "doctor")
	if err == nil && !strings.Contains(out, "No problems found.") {
		err = errors.New("cardwall doctor found problems: " + out)
	}
	return err
}

// Start starts the server and waits until it is ready. It returns how long this took. The server must not be running.
// If it does not become ready, Start kills it.
func (s *Server) Start(ctx context.Context) (took time.Duration, err error) {
	if s.Addr == "" {
		if s.Addr, err = process.FreeAddress(); err != nil {
			return 0, err
		}
	}
	cmd := exec.Command(s.Binary, "serve", "--addr", s.Addr)
	cmd.Env = s.environment()
	begin := time.Now()
	if s.Process, err = process.Start(cmd, s.LogPath); err != nil {
		return 0, err
	}
	if err := Await(ctx, s.Process, s.Addr, ReadyPath); err != nil {
		s.Kill()
		return 0, fmt.Errorf("start server: %w", s.WithLog(err))
	}
	return time.Since(begin), nil
}

// Await requests the path until the status is 200, with a pause of a millisecond between requests. It returns an error
// if the process or ctx ends first, or if startTimeout expires.
func Await(ctx context.Context, p *process.Process, addr, path string) error {
	r := client.Request{Method: http.MethodGet, Path: []byte(path), Want: http.StatusOK}
	c := client.New(addr, "", "await")
	c.Timeout = 3 * time.Second
	defer c.Close()
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(time.Millisecond) {
		status, _, err := c.Do(&r)
		switch {
		case err == nil && status == r.Want:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case p.Ended():
			return fmt.Errorf("the process ended before it was ready: %w", p.Err())
		case time.Now().After(deadline):
			if err == nil {
				err = fmt.Errorf("status %d", status)
			}
			return fmt.Errorf("no successful response from %s within %v; the last problem was: %w", path, startTimeout, err)
		}
	}
}

// Ready reports whether ReadyPath returns 200.
func (s *Server) Ready() bool {
	c := client.New(s.Addr, "", "ready")
	c.Timeout = 3 * time.Second
	defer c.Close()
	status, _, err := c.Do(&client.Request{Method: http.MethodGet, Path: []byte(ReadyPath)})
	return err == nil && status == http.StatusOK
}

// Stop stops the server gracefully, if it is running.
func (s *Server) Stop() error {
	if s.Process == nil {
		return nil
	}
	err := s.Process.Stop(stopTimeout)
	s.Process = nil
	return err
}

// Kill kills the server with SIGKILL, if it is running.
func (s *Server) Kill() {
	if s.Process != nil {
		s.Process.Kill()
		s.Process = nil
	}
}

// WithLog adds the last lines of the server's log to err. If err is nil, it returns nil.
func (s *Server) WithLog(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w\nThe server's log ends with:\n%s", err, process.LogTail(s.LogPath))
}

// FindBinary returns the absolute path of a program, which must exist.
func FindBinary(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", fmt.Errorf("find program (build it first): %w", err)
	}
	return path, nil
}
