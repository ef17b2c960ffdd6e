package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/perf/fleet"
)

const crashWriters = 8

// crashServer is a server that tests kill, with a record of its clients' requests.
type crashServer struct {
	t            *testing.T
	binary, data string
	flags        []string // flags for every command, in addition to --data
	base         string
	pid          int    // process id of the most recently started server
	list         string // id of the list in which the cards are created
	client       *fleet.Client

	mu           sync.Mutex
	sent         map[string]bool   // idempotency keys of all requests that create cards
	acknowledged map[string]string // card ids by idempotency key
}

func newCrashServer(t *testing.T, flags ...string) *crashServer {
	t.Helper()
	c := &crashServer{
		t: t, binary: program(t), data: t.TempDir(), flags: flags,
		sent: map[string]bool{}, acknowledged: map[string]string{},
	}
	c.command("user", "add", "--email", "ada@example.com", "--name", "Ada")
	workspace := c.command("workspace", "add", "--owner", "ada@example.com", "--name", "Crash")
	c.client = fleet.NewClient(c.command("token", "add", "--user", "ada@example.com", "--name", "crash", "--scopes", "read,write"),
		fleet.RequestTimeout)
	stop := c.start()
	board := c.mustSend("POST", "/boards", "", map[string]any{"workspaceId": workspace, "name": "Crash"})
	c.list = c.mustSend("POST", "/boards/"+board+"/lists", "", map[string]any{"name": "Cards"})
	stop()
	return c
}

// command runs a command on the server's data and returns its trimmed output. The command
// must succeed.
func (c *crashServer) command(args ...string) string {
	c.t.Helper()
	var out, stderr bytes.Buffer
	if status := run(append(append(args, "--data", c.data), c.flags...), strings.NewReader(""), &out,
		&stderr); status != 0 {
		c.t.Fatalf("cardwall %s: %s%s", strings.Join(args, " "), out.String(), stderr.String())
	}
	return strings.TrimSpace(out.String())
}

// start runs the server and waits until it is ready. The returned function kills it.
func (c *crashServer) start() (kill func()) {
	c.t.Helper()
	p := startProcess(c.t, c.binary, append([]string{"--data", c.data, "--rate-limits", "off", "--max-open-cards",
		"200000"}, c.flags...)...)
	c.base, c.pid = p.base, p.cmd.Process.Pid
	return p.kill
}

// load creates cards concurrently while fn runs.
func (c *crashServer) load(round int, fn func()) {
	var writers sync.WaitGroup
	done := make(chan struct{})
	for w := range crashWriters {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				key := fmt.Sprintf("key-%d-%d-%d", round, w, n)
				c.mu.Lock()
				c.sent[key] = true
				c.mu.Unlock()
				if id, err := c.create(key); err == nil {
					c.mu.Lock()
					c.acknowledged[key] = id
					c.mu.Unlock()
				} else {
					time.Sleep(time.Millisecond) // don't send many requests to a server that was killed or rejects writes
				}
			}
		})
	}
	fn()
	close(done)
	writers.Wait()
}

// awaitWrites waits until n more requests have been acknowledged.
func (c *crashServer) awaitWrites(n int) {
	c.t.Helper()
	before := len(c.acknowledgedCards())
	apptest.Eventually(c.t, fmt.Sprintf("%d requests are acknowledged", n), func() bool {
		return len(c.acknowledgedCards()) >= before+n
	})
}

func (c *crashServer) create(key string) (string, error) {
	return c.send("POST", "/cards", key, map[string]any{"listId": c.list, "title": key})
}

// board returns the id of the first board.
func (c *crashServer) board() string {
	var boards struct{ Data []struct{ ID string } }
	c.get("/boards", &boards)
	return boards.Data[0].ID
}

// get decodes the response to a GET request, which must succeed.
func (c *crashServer) get(path string, into any) {
	c.t.Helper()
	if err := c.do("GET", path, "", nil, into); err != nil {
		c.t.Fatalf("GET %s: %v", path, err)
	}
}

// mustSend is like send, but the request must succeed.
func (c *crashServer) mustSend(method, path, key string, in any) string {
	c.t.Helper()
	id, err := c.send(method, path, key, in)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return id
}

// send sends a request that creates an object, and returns the object's id.
func (c *crashServer) send(method, path, key string, in any) (string, error) {
	var r fleet.Response
	err := c.do(method, path, key, in, &r)
	return r.Data.ID, err
}

// do sends a request once and decodes the response into out, unless out is nil. It returns a
// fleet.StatusError if the request was refused.
func (c *crashServer) do(method, path, key string, in, out any) error {
	return c.client.Do(context.Background(), method, strings.TrimPrefix(c.base, "http://"), path, key, in, out)
}
