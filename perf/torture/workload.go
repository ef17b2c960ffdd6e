package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"cardwall/perf/server"
)

const (
	boardCount       = 8 // each in its own organization, because an organization may have only 50,000 deliveries per day
	writers          = 12
	requestTimeout   = 15 * time.Second
	requestRetryTime = time.Minute // how long a request is retried
)

// workload is an installation under load: its servers, its boards, and records of acknowledged writes and deliveries.
type workload struct {
	*trialRun
	nodes        []*server.Server
	client       *apiClient
	receiver     *receiver
	ledger       *ledger
	boards       []*target
	confidential *target // sends no events
	automated    *target // board with a rule that comments on each new card; nil if there is no rule
}

// target is a board to write to, with one of its lists.
type target struct {
	board, list string
	webhook     string // name of the webhook in its URL; empty if there is none
	since       int64  // board version when the webhook was created
}

// newWorkload populates an installation through its first server, which it starts if necessary, and returns the workload.
func (t *trialRun) newWorkload(nodes ...*server.Server) (*workload, error) {
	w := &workload{trialRun: t, nodes: nodes, ledger: newLedger()}
	w.counted = true
	var err error
	if w.receiver, err = newReceiver("127.0.0.1"); err != nil {
		return nil, err
	}
	t.cleanup(w.receiver.close)
	return w, w.fill()
}

// fill creates the owner, the workspaces, the boards and their webhooks.
func (w *workload) fill() error {
	n := w.nodes[0]
	if _, err := n.AddOwner(w.ctx); err != nil {
		return err
	}
	var workspaces []string
	for i := range boardCount + 1 {
		id, err := n.AddWorkspace(w.ctx, fmt.Sprintf("Torture %d", i))
		if err != nil {
			return err
		}
		workspaces = append(workspaces, id)
	}
	token, err := n.AddToken(w.ctx, "torture", "read,write,admin")
	if err != nil {
		return err
	}
	w.client = newAPIClient(token, requestTimeout)
	if n.Process == nil {
		if err := start(w.ctx, n); err != nil {
			return err
		}
	}
	for i, workspace := range workspaces[:boardCount] {
		b, err := w.newTarget(workspace, "workspace")
		if err != nil {
			return err
		}
		b.webhook = fmt.Sprintf("board-%d", i)
		if _, err := w.request("POST", "/webhooks", map[string]any{"boardId": b.board, "url": w.receiver.url(b.webhook),
			"events": subscribedKinds()}); err != nil {
			return err
		}
		w.boards = append(w.boards, b)
	}
	w.confidential, err = w.newTarget(workspaces[boardCount], "confidential")
	return err
}

// newTarget creates a board with a list.
func (w *workload) newTarget(workspace, visibility string) (*target, error) {
	b, err := w.request("POST", "/boards", map[string]any{"workspaceId": workspace, "name": "Board", "visibility": visibility})
	if err != nil {
		return nil, err
	}
	l, err := w.request("POST", "/boards/"+b.Data.ID+"/lists", map[string]any{"name": "List"})
	return &target{board: b.Data.ID, list: l.Data.ID, since: l.BoardVersion}, err
}

// request sends a write that must succeed.
func (w *workload) request(method, path string, in any) (r response, err error) {
	err = w.retry(func(addr, key string) error { return w.client.do(w.ctx, method, addr, path, key, in, &r) })
	if err != nil {
		err = fmt.Errorf("%s %s: %w", method, path, err)
	}
	return r, err
}

// read sends a GET request that must succeed and decodes the response.
func (w *workload) read(path string, out any) error {
	return w.retry(func(addr, _ string) error { return w.client.do(w.ctx, "GET", addr, path, "", nil, out) })
}

// retry sends a request to one server after another with the same idempotency key. It stops when the request succeeds,
// when the error is not temporary, when the trial is interrupted, or after requestRetryTime.
func (w *workload) retry(send func(addr, key string) error) error {
	key, deadline := rand.Text(), time.Now().Add(requestRetryTime)
	for i := 0; ; i++ {
		err := send(w.nodes[i%len(w.nodes)].Addr, key)
		var status statusError
		switch {
		case err == nil, w.ctx.Err() != nil, time.Now().After(deadline):
			return err
		case errors.As(err, &status) && !status.temporary():
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// temporary reports whether a retry may succeed.
func (e statusError) temporary() bool { return e.code >= 500 || e.code == 429 || e.code == 409 }

// subscribedKinds returns the event kinds to which every webhook is subscribed.
func subscribedKinds() []string { return []string{"card.created", "card.updated", "card.completed"} }

// addRule gives the first board a rule that comments on each new card.
func (w *workload) addRule() error {
	b := w.boards[0]
	if _, err := w.request("PATCH", "/boards/"+b.board, map[string]any{"features": map[string]any{"automation": true}}); err != nil {
		return err
	}
	if _, err := w.request("POST", "/api/app/v1/boards/"+b.board+"/rules", map[string]any{
		"name": "Welcome", "when": map[string]any{"event": "card_created"},
		"then": []any{map[string]any{"operation": "add_comment", "input": map[string]any{"text": "Welcome."}}},
	}); err != nil {
		return err
	}
	w.automated = b
	return nil
}
