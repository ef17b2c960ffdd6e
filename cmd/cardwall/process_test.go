package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"cardwall/internal/apptest"
)

func TestMain(m *testing.M) {
	status := m.Run()
	builds.Range(func(_, build any) bool {
		if binary, err := build.(func() (string, error))(); err == nil {
			_ = os.RemoveAll(filepath.Dir(binary))
		}
		return true
	})
	os.Exit(status)
}

// builds holds a function for each set of flags, which builds the program when it is first called
// and returns its path. Linking the program takes seconds, so all tests share it.
var builds sync.Map

// program builds the program with additional flags and returns its path.
func program(t *testing.T, flags ...string) (binary string) {
	t.Helper()
	once, _ := builds.LoadOrStore(strings.Join(flags, " "), sync.OnceValues(func() (string, error) {
		folder, err := os.MkdirTemp("", "cardwall-build-")
		if err != nil {
			return "", err
		}
		path := filepath.Join(folder, "cardwall")
		cmd := exec.CommandContext(context.Background(), "go", append(append([]string{"build"}, flags...), "-o", path, ".")...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // like make build
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build: %w\n%s", err, out)
		}
		return path, nil
	}))
	binary, err := once.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// process is a server in a process of its own.
type process struct {
	t     *testing.T
	base  string
	cmd   *exec.Cmd
	log   apptest.Buffer
	ended chan struct{} // closed when the process has ended
	err   error         // how it ended; set before ended is closed
}

// startProcess starts a server and waits until it is ready. At the end of the test, it is killed.
func startProcess(t *testing.T, binary string, flags ...string) *process {
	t.Helper()
	p := &process{t: t, ended: make(chan struct{})}
	p.cmd = exec.CommandContext(context.Background(), binary, append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	p.cmd.Stderr, p.cmd.Env = &p.log, envWithoutSettings()
	wait := apptest.Start(t, p.cmd)
	go func() {
		p.err = wait()
		close(p.ended)
	}()
	listening := regexp.MustCompile(`"msg":"listening","address":"([^"]+)"`)
	p.await("the server listens", func() bool {
		found := listening.FindStringSubmatch(p.log.String())
		if found != nil {
			p.base = found[1]
		}
		return found != nil
	})
	// The server listens before it opens its database.
	p.await("the server is ready", func() bool { return readyz(p.base) == http.StatusOK })
	return p
}

// await waits for a condition. It fails the test if the server ends before.
func (p *process) await(what string, condition func() bool) {
	p.t.Helper()
	apptest.Await(p.t, what, func() (log *apptest.Buffer, done bool) {
		select {
		case <-p.ended:
			p.t.Fatalf("the server exited before %s: %v\n%s", what, p.err, &p.log)
		default:
		}
		return &p.log, condition()
	})
}

// readyz returns the status of /readyz, or 0 if the request fails.
func readyz(base string) (status int) {
	res, err := http.Get(base + "/readyz") //nolint:noctx // the server responds at once
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// kill kills the server with SIGKILL and waits until it has ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}
