package hook

import (
	"context"
	"slices"
	"time"

	"cardwall/internal/board"
)

const (
	leaseTime  = 5 * time.Second // a dead server's shards are free after this
	leaseEvery = time.Second
	settleTime = 4 * time.Second        // that a server has to live before it takes shards, where others do
	raceEvery  = 100 * time.Millisecond // after another server took what this one wanted
)

// lease keeps this server's share of the shards, so that an endpoint's queue,
// pace and memory of failures are in one process. On a database that serves one
// process alone all are its.
func (e *Engine) lease(ctx context.Context) {
	if !e.o.DB.Shared() {
		return
	}
	var (
		drop   []int        // what this server is about to give up
		passed map[int]bool // shards that were free the last time, and that nobody was short of
	)
	started, renewed := time.Now(), time.Now()
	for {
		began, pause := time.Now(), leaseEvery
		keep, later, free, raced, err := e.share(ctx, drop, passed, time.Since(started) >= settleTime)
		switch {
		case err == nil:
			e.failures.Succeeded(cannotLease)
			given := slices.DeleteFunc(drop, func(shard int) bool { return slices.Contains(later, shard) })
			passed = shardSet(slices.DeleteFunc(free, func(shard int) bool { return slices.Contains(given, shard) }))
			drop, renewed = later, began
			if raced {
				pause = raceEvery
			}
			e.serve(ctx, keep)
		case ctx.Err() == nil:
			e.failures.Failed(cannotLease, err)
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
// answers what to look after, what to give up the next time, what was free, and
// whether another server was quicker.
//
// A server that starts and dies every few seconds must not keep shards from those
// that live. So one that is not settled takes none while there are others; and as
// one that died is counted until its lease ends, which makes the parts of the
// others too small, a shard that is free for the second time is taken by whoever
// sees it, and none is given up while there are free ones. Who gave it up leaves it
// alone for once more: servers that look at the same instant would take back what
// the other one has not yet seen, for as long as they do.
func (e *Engine) share(ctx context.Context, drop []int, passed map[int]bool, settled bool) (keep, later, free []int, raced bool, err error) {
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
		return nil, nil, nil, false, err
	}
	leases, err := e.o.DB.ShardLeases(ctx, e.o.Holder)
	if err != nil {
		return nil, nil, nil, false, err
	}
	if leases.Servers > 1 && !settled {
		return nil, nil, nil, false, nil
	}
	part := (board.WebhookShards + leases.Servers - 1) / leases.Servers
	want := slices.Clone(leases.Mine)
	for _, shard := range leases.Free {
		if (len(want) < part || passed[shard]) && !slices.Contains(drop, shard) {
			want = append(want, shard)
		}
	}
	held, err := e.o.DB.LeaseShards(ctx, e.o.Holder, want, leaseTime)
	if err != nil {
		return nil, nil, nil, false, err
	}
	raced = len(held) < len(want)
	keep = slices.DeleteFunc(held, func(shard int) bool { return slices.Contains(later, shard) })
	if len(keep) > part && len(leases.Free) == 0 {
		keep, later = keep[:part], append(later, keep[part:]...)
	}
	return keep, later, leases.Free, raced, nil
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
