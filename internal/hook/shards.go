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
	raceEvery  = 100 * time.Millisecond // after another server took what this one wanted
)

// lease keeps this server's share of the shards, so that an endpoint's queue,
// pace and memory of failures are in one process. On a database that serves one
// process alone all are its.
func (e *Engine) lease(ctx context.Context) {
	if !e.o.DB.Shared() {
		return
	}
	var drop []int // what this server is about to give up
	renewed := time.Now()
	for {
		began, pause := time.Now(), leaseEvery
		keep, later, raced, err := e.share(ctx, drop)
		switch {
		case err == nil:
			drop, renewed = later, began
			if raced {
				pause = raceEvery
			}
			e.serve(ctx, keep)
		case ctx.Err() == nil:
			e.o.Log.Warn("the shards of webhooks are not leased", "error", err)
			if time.Since(renewed)+2*leaseEvery > leaseTime {
				e.serve(ctx, nil) // before others take them
			}
		}
		select {
		case <-time.After(pause):
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

// serve says what to look after from now on.
func (e *Engine) serve(ctx context.Context, shards []int) {
	select {
	case e.shards <- shardSet(shards):
	case <-ctx.Done():
	}
}

// share renews what this server holds, takes what is free up to its part, and
// gives up what it was about to, once what was under way there is recorded. It
// answers what to look after, what to give up the next time, and whether another
// server was quicker.
func (e *Engine) share(ctx context.Context, drop []int) (keep, later []int, raced bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, leaseEvery)
	defer cancel()
	var idle []int
	for _, shard := range drop {
		if e.busy[shard].Load() > 0 {
			later = append(later, shard)
		} else {
			idle = append(idle, shard)
		}
	}
	if err := e.o.DB.GiveUpShards(ctx, e.o.Holder, idle, false); err != nil {
		return nil, nil, false, err
	}
	leases, err := e.o.DB.ShardLeases(ctx, e.o.Holder)
	if err != nil {
		return nil, nil, false, err
	}
	part := (board.WebhookShards + leases.Servers - 1) / leases.Servers
	want := slices.Clone(leases.Mine)
	for _, shard := range leases.Free {
		if len(want) < part && !slices.Contains(drop, shard) {
			want = append(want, shard)
		}
	}
	held, err := e.o.DB.LeaseShards(ctx, e.o.Holder, want, leaseTime)
	if err != nil {
		return nil, nil, false, err
	}
	raced = len(held) < len(want)
	keep = slices.DeleteFunc(held, func(shard int) bool { return slices.Contains(later, shard) })
	if len(keep) > part {
		keep, later = keep[:part], append(later, keep[part:]...)
	}
	return keep, later, raced, nil
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
