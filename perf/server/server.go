// Package server runs the program under test: its command line, and one server that can be started again and again.
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

// OwnerEmail is the email address of the user who owns the workspaces.
const OwnerEmail = "ada@example.com"

// ReadyPath responds with 200 when the server can serve every request.
const ReadyPath = "/readyz"

const (
	startTimeout   = time.Minute
	stopTimeout    = 10 * time.Second
	commandTimeout = 10 * time.Minute // an import of 200,000 cards is the longest
)

// Server is the program under test with its data. Set the exported fields before the first use.
type Server struct {
	Binary   string
	Data     string   // the data folder
	Database string   // postgres://…; empty for SQLite in the data folder
	LogPath  string   // the file to which the server's output is appended
	Addr     string   // host:port, the same at every start; Start chooses a free one if it is empty
	Env      []string // settings, besides the location of the data and no rate limits

	Process *process.Process // nil if no server runs
}

// environment returns the settings of the program. Rate limits are off: they would limit the load and not the server.
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

// run runs a command of the program with an input.
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
		said := stderr.Bytes() // the reason is at the end, after the progress
		return "", fmt.Errorf("run %s: %w: %s%s", strings.Join(args, " "), err, out, client.Clip(said[max(len(said)-400, 0):]))
	}
	return strings.TrimSpace(string(out)), nil
}

// AddOwner creates the user with OwnerEmail and returns the user's id.
func (s *Server) AddOwner(ctx context.Context) (string, error) {
	return s.printedWord(ctx, "user", "add", "--email", OwnerEmail, "--name", "Ada")
}

// AddWorkspace creates a workspace of the owner and returns its id.
func (s *Server) AddWorkspace(ctx context.Context, name string) (string, error) {
	return s.printedWord(ctx, "workspace", "add", "--owner", OwnerEmail, "--name", name)
}

// AddToken creates an access token of the owner and returns it.
func (s *Server) AddToken(ctx context.Context, name, scopes string) (string, error) {
	return s.printedWord(ctx, "token", "add", "--user", OwnerEmail, "--name", name, "--scopes", scopes)
}

// Person is a user with a password, a workspace in an organization of its own, and a token.
type Person struct{ ID, Email, Password, Workspace, Token string }

// AddPerson creates a user with a workspace and a token. The name is also the local part of the email address.
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

// AddMember makes a person an admin of a workspace.
func (s *Server) AddMember(ctx context.Context, workspace string, p Person) error {
	_, err := s.Run(ctx, "workspace", "member", workspace, "--user", p.Email, "--role", "admin")
	return err
}

// printedWord runs a command that prints one word and returns the word.
func (s *Server) printedWord(ctx context.Context, args ...string) (string, error) {
	out, err := s.Run(ctx, args...)
	if err == nil && len(strings.Fields(out)) != 1 {
		err = fmt.Errorf("run %s: printed %q instead of one word", strings.Join(args, " "), client.Clip([]byte(out)))
	}
	return out, err
}

// Doctor checks the data.
func (s *Server) Doctor(ctx context.Context) error {
	out, err := s.Run(ctx, "doctor")
	if err == nil && !strings.Contains(out, "No problems found.") {
		err = errors.New("the doctor found problems: " + out)
	}
	return err
}

// Start starts a server and waits until it is ready. It returns the time that this took.
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

// Await requests the path every millisecond until the response is 200. It returns an error if the process ends or a
// minute passes first.
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
			return fmt.Errorf("the process ended before its first response: %w", p.Err())
		case time.Now().After(deadline):
			return fmt.Errorf("no successful response from %s within %v; the last status was %d, error %w", path, startTimeout, status, err)
		}
	}
}

// Ready reports whether the server says that it is ready.
func (s *Server) Ready() bool {
	c := client.New(s.Addr, "", "ready")
	c.Timeout = 3 * time.Second
	defer c.Close()
	status, _, err := c.Do(&client.Request{Method: http.MethodGet, Path: []byte(ReadyPath)})
	return err == nil && status == http.StatusOK
}

// Stop stops the server gracefully, if one runs.
func (s *Server) Stop() error {
	if s.Process == nil {
		return nil
	}
	err := s.Process.Stop(stopTimeout)
	s.Process = nil
	return err
}

// Kill ends the server with SIGKILL, if one runs.
func (s *Server) Kill() {
	if s.Process != nil {
		s.Process.Kill()
		s.Process = nil
	}
}

// WithLog adds the end of the server's log to an error. It returns nil for nil.
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
