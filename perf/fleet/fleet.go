// Package fleet puts servers under load while something breaks them. It records what they acknowledge and deliver, and
// afterwards compares it with what they have stored.
package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"cardwall/perf/server"
)

const (
	boardCount       = 8           // each in its own organization, because an organization may have only 50,000 deliveries per day
	requestRetryTime = time.Minute // how long a request is retried
)

// Writers is the number of concurrent writers.
const Writers = 12

// RequestTimeout is how long a client waits for a response, unless it has another timeout.
const RequestTimeout = 15 * time.Second

// Fleet is an installation under load: its servers, its boards, and records of acknowledged writes and deliveries.
type Fleet struct {
	Servers      []*server.Server
	Client       *Client
	Receiver     *Receiver
	Ledger       *Ledger
	Boards       []*Board
	Confidential *Board // sends no events

	ctx context.Context
}

// Board is a board to write to, with one of its lists.
type Board struct {
	ID, List string
	webhook  string // name of the webhook in its URL; empty if there is none
	since    int64  // board version when the webhook was created
	rules    int    // number of rules that comment on each new card
}

// New populates an installation through its first server, which it starts if necessary. Requests and pauses end when
// ctx ends. The caller must call Close.
func New(ctx context.Context, servers ...*server.Server) (*Fleet, error) {
	f := &Fleet{Servers: servers, Ledger: newLedger(), ctx: ctx}
	var err error
	if f.Receiver, err = newReceiver("127.0.0.1"); err != nil {
		return nil, err
	}
	if err := f.fill(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close stops accepting deliveries. It does not stop the servers.
func (f *Fleet) Close() { f.Receiver.close() }

// fill creates the owner, the workspaces, the boards and their webhooks.
func (f *Fleet) fill() error {
	n := f.Servers[0]
	if _, err := n.AddOwner(f.ctx); err != nil {
		return err
	}
	var workspaces []string
	for i := range boardCount + 1 {
		id, err := n.AddWorkspace(f.ctx, fmt.Sprintf("Fleet %d", i))
		if err != nil {
			return err
		}
		workspaces = append(workspaces, id)
	}
	token, err := n.AddToken(f.ctx, "fleet", "read,write,admin")
	if err != nil {
		return err
	}
	f.Client = NewClient(token, RequestTimeout)
	if n.Process == nil {
		if _, err := n.Start(f.ctx); err != nil {
			return err
		}
	}
	for i, workspace := range workspaces[:boardCount] {
		b, err := f.NewBoard(workspace, "workspace")
		if err != nil {
			return err
		}
		b.webhook = fmt.Sprintf("board-%d", i)
		if _, err := f.Request("POST", "/webhooks", map[string]any{"boardId": b.ID, "url": f.Receiver.url(b.webhook),
			"events": subscribedKinds()}); err != nil {
			return err
		}
		f.Boards = append(f.Boards, b)
	}
	f.Confidential, err = f.NewBoard(workspaces[boardCount], "confidential")
	return err
}

// NewBoard creates a board with a list.
func (f *Fleet) NewBoard(workspace, visibility string) (*Board, error) {
	b, err := f.Request("POST", "/boards", map[string]any{"workspaceId": workspace, "name": "Board", "visibility": visibility})
	if err != nil {
		return nil, err
	}
	l, err := f.Request("POST", "/boards/"+b.Data.ID+"/lists", map[string]any{"name": "List"})
	return &Board{ID: b.Data.ID, List: l.Data.ID, since: l.BoardVersion}, err
}

// Request sends a write that must succeed.
func (f *Fleet) Request(method, path string, in any) (r Response, err error) {
	err = f.retry(func(addr, key string) error { return f.Client.Do(f.ctx, method, addr, path, key, in, &r) })
	if err != nil {
		err = fmt.Errorf("%s %s: %w", method, path, err)
	}
	return r, err
}

// Read sends a GET request that must succeed and decodes the response.
func (f *Fleet) Read(path string, out any) error {
	return f.retry(func(addr, _ string) error { return f.Client.Do(f.ctx, "GET", addr, path, "", nil, out) })
}

// retry sends a request to one server after another with the same idempotency key. It stops when the request succeeds,
// when the error is not temporary, when ctx ends, or after requestRetryTime.
func (f *Fleet) retry(send func(addr, key string) error) error {
	key, deadline := rand.Text(), time.Now().Add(requestRetryTime)
	for i := 0; ; i++ {
		err := send(f.Servers[i%len(f.Servers)].Addr, key)
		var status StatusError
		switch {
		case err == nil, f.ctx.Err() != nil, time.Now().After(deadline):
			return err
		case errors.As(err, &status) && !status.Temporary():
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Temporary reports whether a retry may succeed.
func (e StatusError) Temporary() bool { return e.Code >= 500 || e.Code == 429 || e.Code == 409 }

// subscribedKinds returns the event kinds to which every webhook is subscribed.
func subscribedKinds() []string { return []string{"card.created", "card.updated", "card.completed"} }

// AddRule gives a board a rule that comments on each new card. It must be called before the writers start.
func (f *Fleet) AddRule(b *Board) error {
	if _, err := f.Request("PATCH", "/boards/"+b.ID, map[string]any{"features": map[string]any{"automation": true}}); err != nil {
		return err
	}
	b.rules++
	_, err := f.Request("POST", "/api/app/v1/boards/"+b.ID+"/rules", map[string]any{
		"name": fmt.Sprintf("Rule %d", b.rules), "when": map[string]any{"event": "card_created"},
		"then": []any{map[string]any{"operation": "add_comment", "input": map[string]any{"text": "Welcome."}}},
	})
	return err
}

// Sleep waits for the duration d. It returns an error if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
