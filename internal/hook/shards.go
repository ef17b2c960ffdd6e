package hook

import (
	"context"
	"slices"
	"time"

	"cardwall/internal/board"
)

const (
	leaseTime     = 5 * time.Second // the shards of a failed server are free after this time
	leaseInterval = time.Second
	settleTime    = 4 * time.Second        // how long a server must run before it takes shards, if there are other servers
	raceInterval  = 100 * time.Millisecond // pause after another server took a shard first
)

// lease leases this server's share of the shards until ctx ends, and then releases them.
// Leases keep an endpoint's queue, rate limit and failure state in one process. If no
// other server can share the database, lease does nothing: the server has all shards.
func (e *Engine) lease(ctx context.Context) {
	if !e.o.DB.Shared() {
		return
	}
	var (
		drop   []int        // shards to release next
		passed map[int]bool // shards that were free at the last check, except those that this server had just released
	)
	started, renewed := time.Now(), time.Now()
	for {
		began, pause := time.Now(), leaseInterval
		now, err := e.share(ctx, drop, passed, time.Since(started) >= settleTime)
		switch {
		case err == nil:
			e.failures.Succeeded(cannotLease)
			released := slices.DeleteFunc(drop, func(shard int) bool { return slices.Contains(now.later, shard) })
			passed = shardSet(slices.DeleteFunc(now.free, func(shard int) bool { return slices.Contains(released, shard) }))
			drop, renewed = now.later, began
			if now.raced {
				pause = raceInterval
			}
			e.serve(ctx, now.keep)
		case ctx.Err() == nil:
			e.failures.Failed(cannotLease, err)
			if time.Since(renewed)+2*leaseInterval > leaseTime {
				e.serve(ctx, nil) // before others take them
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseInterval)
			defer cancel()
			if err := e.o.DB.ReleaseShards(ctx, e.o.Holder, allShards(), true); err != nil {
				e.o.Log.Warn("webhook shards not released; they expire", "error", err)
			}
			return
		}
	}
}

// serve tells the loop which shards to handle from now on.
func (e *Engine) serve(ctx context.Context, shards []int) {
	select {
	case e.shards <- shardSet(shards):
	case <-ctx.Done():
	}
}

// shares is the state of the shards after share.
type shares struct {
	keep  []int // to handle
	later []int // to release next
	free  []int // free before share took some of them
	raced bool  // whether another server took a shard first
}

// share renews this server's leases, takes free shards up to its share, and
// releases the shards in drop once their attempts are recorded.
//
// A server that crashes every few seconds must not take shards from healthy ones. So a
// server that has just started takes none while there are others. A crashed server
// counts until its lease ends, which makes the shares of the others too small. So any
// server may take a shard that is free for the second time, and no server releases
// shards while some are free. A server that released a shard skips it once. Otherwise
// two servers that check at the same moment could repeatedly take back the shards that
// they release to each other.
func (e *Engine) share(ctx context.Context, drop []int, passed map[int]bool, settled bool) (shares, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseInterval)
	defer cancel()
	var idle, later []int
	for _, shard := range drop {
		if e.busy[shard].Load() > 0 {
			later = append(later, shard)
		} else {
			idle = append(idle, shard)
		}
	}
	if err := e.o.DB.ReleaseShards(ctx, e.o.Holder, idle, false); err != nil {
		return shares{}, err
	}
	leases, err := e.o.DB.ShardLeases(ctx, e.o.Holder)
	if err != nil {
		return shares{}, err
	}
	if leases.Servers > 1 && !settled {
		return shares{}, nil
	}
	part := (board.WebhookShards + leases.Servers - 1) / leases.Servers
	want := slices.Clone(leases.Held)
	for _, shard := range leases.Free {
		if (len(want) < part || passed[shard]) && !slices.Contains(drop, shard) {
			want = append(want, shard)
		}
	}
	held, err := e.o.DB.LeaseShards(ctx, e.o.Holder, want, leaseTime)
	if err != nil {
		return shares{}, err
	}
	keep := slices.DeleteFunc(held, func(shard int) bool { return slices.Contains(later, shard) })
	if len(keep) > part && len(leases.Free) == 0 {
		keep, later = keep[:part], append(later, keep[part:]...)
	}
	return shares{keep: keep, later: later, free: leases.Free, raced: len(held) < len(want)}, nil
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
