package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
)

const crashWriters = 8

// crashServer is a server that tests kill, with a record of its clients' requests.
type crashServer struct {
	t            *testing.T
	binary, data string
	flags        []string // flags for every command, in addition to --data
	base, token  string
	pid          int    // process id of the most recently started server
	list         string // id of the list in which the cards are created
	client       *http.Client

	mu           sync.Mutex
	sent         map[string]bool   // idempotency keys of all requests that create cards
	acknowledged map[string]string // card ids by idempotency key
}

func newCrashServer(t *testing.T, flags ...string) *crashServer {
	t.Helper()
	c := &crashServer{
		t: t, binary: program(t), data: t.TempDir(), flags: flags,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crashWriters}},
		sent:   map[string]bool{}, acknowledged: map[string]string{},
	}
	t.Cleanup(c.client.CloseIdleConnections)
	c.command("user", "add", "--email", "ada@example.com", "--name", "Ada")
	workspace := c.command("workspace", "add", "--owner", "ada@example.com", "--name", "Crash")
	c.token = c.command("token", "add", "--user", "ada@example.com", "--name", "crash", "--scopes", "read,write")
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
	body, status, err := c.do("GET", path, "", nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%d %s", status, body)
	}
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
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

// send sends a request that creates an object, and returns the object's id. It returns an error
// unless the status is 201.
func (c *crashServer) send(method, path, key string, in any) (string, error) {
	body, status, err := c.do(method, path, key, in)
	if err != nil {
		return "", err
	}
	if status != http.StatusCreated {
		return "", fmt.Errorf("%d %s", status, body)
	}
	var out struct{ Data struct{ ID string } }
	return out.Data.ID, json.Unmarshal(body, &out)
}

// do sends a request once and returns the body and the status of the response.
func (c *crashServer) do(method, path, key string, in any) ([]byte, int, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, 0, err
	}
	if in == nil {
		text = nil
	}
	if !strings.HasPrefix(path, "/api/") {
		path = "/api/public/v1" + path
	}
	r, err := http.NewRequestWithContext(context.Background(), method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := c.client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	body, err := io.ReadAll(res.Body)
	return body, res.StatusCode, errors.Join(err, res.Body.Close())
}
