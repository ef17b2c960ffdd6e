package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cardwall/perf/postgres"
	"cardwall/perf/receiver"
)

const (
	takeoverBoards = 32               // so that each server has some of their webhooks
	takeoverBefore = 2 * time.Second  // how long changes are made before the kill
	takeoverAfter  = 10 * time.Second // how long changes are made after the kill
	takeoverSettle = 10 * time.Second // after this time, both servers have webhooks

	// takeoverLimit is the goal for the longest delay of a delivery. The leases of a killed server last for another five
	// seconds, and the others look for free webhooks every second. The delivery itself takes half a second at most.
	takeoverLimit = 6500 * time.Millisecond
)

// measureTakeover kills one of two servers and measures the longest time from the acknowledgment of a change to its
// delivery. The other server makes all changes, and takes over the webhooks of the killed one.
func (s *suite) measureTakeover(ctx context.Context, cluster *postgres.Cluster) (err error) {
	s.progress("measuring %s", nameHookTakeover)
	database, err := cluster.CreateDatabase(ctx, "takeover", "template0")
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "takeover")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	lost, err := newInstallation(ctx, s.Binary, dir, database)
	if err != nil {
		return err
	}
	lost.Env = append(lost.Env, "CARDWALL_WEBHOOK_ALLOW=127.0.0.1", "CARDWALL_WEBHOOK_PACE=0")
	w := &hookSetup{suite: s, srv: lost.another(), receivers: receiver.New(), ledger: receiver.NewLedger()}
	defer func() {
		lost.Kill()
		err = errors.Join(w.explain(err), w.close())
	}()
	for _, srv := range []*installation{lost, w.srv} {
		if _, err := srv.Start(ctx); err != nil {
			return err
		}
	}
	if err := w.addBoards(takeoverBoards); err != nil {
		return err
	}
	c := changer{client: w.client()}
	defer c.client.Close()
	sleepUntil(ctx, time.Now().Add(takeoverSettle))
	killed := time.Now().Add(takeoverBefore)
	for now := time.Now(); now.Before(killed.Add(takeoverAfter)) && ctx.Err() == nil; now = time.Now() {
		if now.After(killed) {
			lost.Kill() // has an effect once
		}
		c.change(ctx, w.boards[c.serial%len(w.boards)])
	}
	w.expect(c.done)
	w.collect(ctx, hookTimeout)
	var longest time.Duration
	for e, d := range w.ledger.Due {
		longest = max(longest, w.ledger.Receipts[e].At.Sub(d.Acknowledged))
	}
	if n := w.ledger.Missing(); n > 0 || c.errors > 0 || longest < time.Second { // without webhooks, a kill delays nothing
		return fmt.Errorf("%d deliveries are missing, %d changes failed, longest delay %v: %q", n, c.errors, longest, c.samples)
	}
	s.rows = append(s.rows, row{
		name: nameHookTakeover, value: fmt.Sprintf("%.1f s", longest.Seconds()),
		ratios: []string{fmt.Sprintf("%d deliveries", len(c.done))},
		goals:  []goal{{fmt.Sprintf("≤ %v", takeoverLimit), longest <= takeoverLimit}},
	})
	return nil
}

// addBoards creates boards with one webhook each in the first workspace.
func (w *hookSetup) addBoards(n int) error {
	endpoints, err := w.receivers.Open(n, receiver.Accepts, false)
	c := w.client()
	defer c.Close()
	for i := 0; i < len(endpoints) && err == nil; i++ {
		w.boards = append(w.boards, &hookBoard{endpoints: endpoints[i : i+1]})
		err = w.boards[i].fill(c, w.srv.workspace)
	}
	return err
}
