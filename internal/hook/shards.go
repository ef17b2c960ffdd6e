package hook

import (
	"context"
	"slices"
	"time"

	"cardwall/internal/board"
)

const (
	leaseTime  = 10 * time.Second // a dead server's shards are free after this
	leaseEvery = 3 * time.Second
)

// lease keeps this server's share of the shards, so that an endpoint's queue,
// pace and memory of failures are in one process. On a database that serves one
// process alone all are its.
func (e *Engine) lease(ctx context.Context) {
	if !e.o.DB.Shared() {
		e.shards <- shardSet(allShards())
		return
	}
	var drop []int // what this server is about to give up
	for {
		keep, later, err := e.share(ctx, drop)
		if err == nil {
			drop = later
			select {
			case e.shards <- shardSet(keep):
			case <-ctx.Done():
			}
		} else if ctx.Err() == nil {
			e.o.Log.Warn("the shards of webhooks are not leased", "error", err)
		}
		select {
		case <-time.After(leaseEvery):
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseEvery)
			defer cancel()
			if err := e.o.DB.GiveUpShards(ctx, e.o.Holder, allShards(), true); err != nil {
				e.o.Log.Warn("the shards of webhooks are given up by their time alone", "error", err)
			}
			return
		}
	}
}

// share renews what this server holds, takes what is free up to its part, and
// gives up what it was about to: by then what was under way there has ended. It
// answers what to look after, and what to give up the next time.
func (e *Engine) share(ctx context.Context, drop []int) (keep, later []int, err error) {
	if err := e.o.DB.GiveUpShards(ctx, e.o.Holder, drop, false); err != nil {
		return nil, nil, err
	}
	leases, err := e.o.DB.ShardLeases(ctx, e.o.Holder)
	if err != nil {
		return nil, nil, err
	}
	part := (board.WebhookShards + leases.Servers - 1) / leases.Servers
	want := slices.Clone(leases.Mine)
	for _, shard := range leases.Free {
		if len(want) < part && !slices.Contains(drop, shard) {
			want = append(want, shard)
		}
	}
	held, err := e.o.DB.LeaseShards(ctx, e.o.Holder, want, leaseTime)
	if err != nil || len(held) <= part {
		return held, nil, err
	}
	return held[:part], held[part:], nil
}

func allShards() []int {
	all := make([]int, board.WebhookShards)
	for i := range all {
		all[i] = i
	}
	return all
}

func shardSet(shards []int) map[int]bool {
	set := make(map[int]bool, len(shards))
	for _, s := range shards {
		set[s] = true
	}
	return set
}
