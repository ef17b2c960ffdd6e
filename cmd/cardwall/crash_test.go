package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	crashRounds  = 20
	crashWriters = 8
)

// TestKillInLoad repeatedly kills the server with SIGKILL while clients create cards under
// idempotency keys. Acknowledged cards must exist, repeated requests must create one card each,
// and the data must be consistent.
func TestKillInLoad(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	for round := range crashRounds {
		stop := c.start()
		c.load(round, func() {
			time.Sleep(time.Duration(50+rand.IntN(250)) * time.Millisecond)
			stop()
		})
	}
	stop := c.start()
	c.resend()
	c.compare()
	stop()
	var out bytes.Buffer
	if status := run([]string{"doctor", "--data", c.data}, strings.NewReader(""), &out, &out); status != 0 {
		t.Errorf("the doctor reports:\n%s", out.String())
	}
	t.Logf("%d kills, %d acknowledged writes, %d repeated", crashRounds, len(c.acknowledged), c.repeated)
}

// crash is a server that is killed, with what its clients know.
type crash struct {
	t            *testing.T
	binary, data string
	flags        []string // for every command, in addition to --data
	base, token  string
	pid          int // process ID of the server that was started last
	list         string
	client       *http.Client
	mu           sync.Mutex
	sent         map[string]bool   // keys of all requests
	acknowledged map[string]string // key to card id
	repeated     int
}

func newCrash(t *testing.T, flags ...string) *crash {
	t.Helper()
	c := &crash{
		t: t, binary: filepath.Join(t.TempDir(), "cardwall"), data: t.TempDir(), flags: flags,
		client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: crashWriters}},
		sent:   map[string]bool{}, acknowledged: map[string]string{},
	}
	t.Cleanup(c.client.CloseIdleConnections)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", c.binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	c.command("user", "add", "--email", "ada@example.com", "--name", "Ada")
	workspace := c.command("workspace", "add", "--owner", "ada@example.com", "--name", "Crash")
	c.token = c.command("token", "add", "--user", "ada@example.com", "--name", "crash", "--scopes", "read,write")
	stop := c.start()
	board := c.record("POST", "/boards", "", map[string]any{"workspaceId": workspace, "name": "Crash"})
	c.list = c.record("POST", "/boards/"+board+"/lists", "", map[string]any{"name": "Cards"})
	stop()
	return c
}

func (c *crash) command(args ...string) string {
	c.t.Helper()
	var out, problems bytes.Buffer
	if status := run(append(append(args, "--data", c.data), c.flags...), strings.NewReader(""), &out,
		&problems); status != 0 {
		c.t.Fatalf("cardwall %v: %s%s", args, out.String(), problems.String())
	}
	return strings.TrimSpace(out.String())
}

// start runs the server and waits until it responds. The returned function kills it.
func (c *crash) start() (kill func()) {
	c.t.Helper()
	addr := freeAddress(c.t)
	c.base = "http://" + addr
	args := append([]string{"serve", "--addr", addr, "--data", c.data, "--rate-limits", "off", "--max-open-cards",
		"200000"}, c.flags...)
	cmd := exec.CommandContext(context.Background(), c.binary, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.pid = cmd.Process.Pid
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	c.t.Cleanup(kill)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		res, err := c.client.Get(c.base + "/readyz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return kill
			}
		}
		if time.Now().After(deadline) {
			kill()
			c.t.Fatalf("the server does not respond: %v\n%s", err, log.String())
		}
	}
}

// load runs writers that create cards until the server is gone.
func (c *crash) load(round int, end func()) {
	var writers sync.WaitGroup
	gone := make(chan struct{})
	for w := range crashWriters {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-gone:
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
					time.Sleep(time.Millisecond) // the server was killed, or rejects writes for now
				}
			}
		})
	}
	end()
	close(gone)
	writers.Wait()
}

func (c *crash) create(key string) (string, error) {
	return c.send("POST", "/cards", key, map[string]any{"listId": c.list, "title": key})
}

// resend repeats every request. An acknowledged one must return the same card.
func (c *crash) resend() {
	for key := range c.sent {
		id, err := c.create(key)
		if err != nil {
			c.t.Fatalf("send %s again: %v", key, err)
		}
		if known, ok := c.acknowledged[key]; ok && known != id {
			c.t.Errorf("%s was acknowledged as %s and is now %s", key, known, id)
		}
		if c.acknowledged[key] == "" {
			c.repeated++
		}
		c.acknowledged[key] = id
	}
}

// compare checks that the list has exactly one card for every key.
func (c *crash) compare() {
	seen := map[string]string{}
	cursor := ""
	for {
		var page struct {
			Data       []struct{ ID, Title, BoardID string }
			NextCursor string
		}
		c.fetch("/boards/"+c.board()+"/cards?view=compact&limit=200&cursor="+cursor, &page)
		for _, card := range page.Data {
			if other, twice := seen[card.Title]; twice {
				c.t.Errorf("%s has two cards, %s and %s", card.Title, other, card.ID)
			}
			seen[card.Title] = card.ID
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	for key, id := range c.acknowledged {
		if seen[key] != id {
			c.t.Errorf("%s was acknowledged as %s; the list has %q", key, id, seen[key])
		}
	}
	if len(seen) != len(c.sent) {
		c.t.Errorf("the list has %d cards, %d were sent", len(seen), len(c.sent))
	}
}

func (c *crash) board() string {
	var boards struct{ Data []struct{ ID string } }
	c.fetch("/boards", &boards)
	return boards.Data[0].ID
}

func (c *crash) fetch(path string, into any) {
	c.t.Helper()
	body, status, err := c.exchange("GET", path, "", nil)
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

// record is like send, but the request must succeed.
func (c *crash) record(method, path, key string, in any) string {
	c.t.Helper()
	id, err := c.send(method, path, key, in)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return id
}

// send returns the ID of the created object.
func (c *crash) send(method, path, key string, in any) (string, error) {
	body, status, err := c.exchange(method, path, key, in)
	if err != nil {
		return "", err
	}
	if status != http.StatusCreated {
		return "", fmt.Errorf("%d %s", status, body)
	}
	var out struct{ Data struct{ ID string } }
	return out.Data.ID, json.Unmarshal(body, &out)
}

func (c *crash) exchange(method, path, key string, in any) ([]byte, int, error) {
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
