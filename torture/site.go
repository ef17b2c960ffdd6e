package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

const (
	hotBoards   = 8 // each in an organization of its own, whose day has 50,000 deliveries
	writers     = 12
	ownerEmail  = "ada@example.com"
	askPatience = 15 * time.Second
)

// site is an installation under load: its servers, its boards, and who remembers what they said.
type site struct {
	*torment
	nodes    []*node
	client   *client
	receiver *receiver
	ledger   *ledger
	boards   []*place
	secret   *place // confidential: it sends nothing
	ruled    *place // with a rule that comments on each new card; nil for none
}

// place is a board with a list.
type place struct {
	board, list string
	webhook     string
	from        int64 // its version when its webhook was made
}

// newSite fills an installation through its first node, whose server must be running when this returns.
func (t *torment) newSite(nodes ...*node) (*site, error) {
	s := &site{torment: t, nodes: nodes, ledger: newLedger()}
	s.counted = true
	var err error
	if s.receiver, err = newReceiver("127.0.0.1"); err != nil {
		return nil, err
	}
	t.atEnd(s.receiver.close)
	return s, s.fill()
}

// fill makes the boards and their webhooks.
func (s *site) fill() error {
	n := s.nodes[0]
	if _, err := n.command(s.ctx, "user", "add", "--email", ownerEmail, "--name", "Ada"); err != nil {
		return err
	}
	var workspaces []string
	for i := range hotBoards + 1 {
		id, err := n.command(s.ctx, "workspace", "add", "--owner", ownerEmail, "--name", fmt.Sprintf("Torture %d", i))
		if err != nil {
			return err
		}
		workspaces = append(workspaces, id)
	}
	token, err := n.command(s.ctx, "token", "add", "--user", ownerEmail, "--name", "torture", "--scopes", "read,write,admin")
	if err != nil {
		return err
	}
	s.client = newClient(token, askPatience)
	if n.proc == nil {
		if err := n.start(s.ctx); err != nil {
			return err
		}
	}
	for i, workspace := range workspaces[:hotBoards] {
		p, err := s.newPlace(workspace, "workspace")
		if err != nil {
			return err
		}
		p.webhook = fmt.Sprintf("board-%d", i)
		if _, err := s.must("POST", "/webhooks", map[string]any{"boardId": p.board, "url": s.receiver.url(p.webhook),
			"events": wantedKinds()}); err != nil {
			return err
		}
		s.boards = append(s.boards, p)
	}
	s.secret, err = s.newPlace(workspaces[hotBoards], "confidential")
	return err
}

func (s *site) newPlace(workspace, visibility string) (*place, error) {
	b, err := s.must("POST", "/boards", map[string]any{"workspaceId": workspace, "name": "Board", "visibility": visibility})
	if err != nil {
		return nil, err
	}
	l, err := s.must("POST", "/boards/"+b.Data.ID+"/lists", map[string]any{"name": "List"})
	return &place{board: b.Data.ID, list: l.Data.ID, from: l.BoardVersion}, err
}

// must sends what has to succeed, to any node and again for a minute.
func (s *site) must(method, path string, in any) (a answer, err error) {
	err = s.persist(time.Minute, func(addr, key string) error { return s.client.do(s.ctx, method, addr, path, key, in, &a) })
	if err != nil {
		err = fmt.Errorf("%s %s: %w", method, path, err)
	}
	return a, err
}

// read asks any node for what has to be there.
func (s *site) read(path string, out any) error {
	return s.persist(time.Minute, func(addr, _ string) error { return s.client.do(s.ctx, "GET", addr, path, "", nil, out) })
}

// persist asks one node after the other, under one key, until an answer comes that another try would not mend.
func (s *site) persist(most time.Duration, ask func(addr, key string) error) error {
	key, deadline := rand.Text(), time.Now().Add(most)
	for i := 0; ; i++ {
		err := ask(s.nodes[i%len(s.nodes)].addr, key)
		var status statusError
		switch {
		case err == nil, s.ctx.Err() != nil, time.Now().After(deadline):
			return err
		case errors.As(err, &status) && !status.passes():
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// passes tells whether an answer says nothing about the request itself.
func (e statusError) passes() bool { return e.code >= 500 || e.code == 429 || e.code == 409 }

// wantedKinds are the events that every webhook asks for.
func wantedKinds() []string { return []string{"card.created", "card.updated", "card.completed"} }

// rule gives the first board a rule that comments on each new card.
func (s *site) rule() error {
	p := s.boards[0]
	if _, err := s.must("PATCH", "/boards/"+p.board, map[string]any{"features": map[string]any{"automation": true}}); err != nil {
		return err
	}
	if _, err := s.must("POST", "/api/app/v1/boards/"+p.board+"/rules", map[string]any{
		"name": "Welcome", "when": map[string]any{"event": "card_created"},
		"then": []any{map[string]any{"operation": "add_comment", "input": map[string]any{"text": "Welcome."}}},
	}); err != nil {
		return err
	}
	s.ruled = p
	return nil
}
