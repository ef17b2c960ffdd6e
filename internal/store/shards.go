package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cardwall/internal/board"
)

// Webhooks are divided into shards. The server that holds the lease of a shard sends
// the shard's deliveries. Each such server also holds a server lease, which shows that
// the server is running.
const (
	shardLease = "webhooks:shard:"
	// ServerLease is the prefix of the name of a server's lease.
	ServerLease = "webhooks:server:"
)

// Shards contains the numbers of the shards that a server has leased, and of the shards
// that it could lease.
type Shards struct {
	Held    []int // leased by the server
	Free    []int // not leased, or with an expired lease
	Servers int   // number of running servers, including this one
}

// ShardLeases returns the shards that the holder has leased and the free shards.
func (db *DB) ShardLeases(ctx context.Context, holder string) (Shards, error) {
	s := Shards{Servers: 1}
	err := db.Read(ctx, board.System(), func(v *View) error {
		leased := map[int]bool{}
		if err := v.each(ctx, "SELECT name, holder FROM leases WHERE name LIKE 'webhooks:%' AND until >= $1 AND until <= $2",
			[]any{int64(v.now), int64(v.now) + maxLease.Milliseconds()}, func(rows *sql.Rows) error {
				var name, by string
				if err := rows.Scan(&name, &by); err != nil {
					return err
				}
				if strings.HasPrefix(name, ServerLease) && by != holder {
					s.Servers++
				}
				if number, ok := strings.CutPrefix(name, shardLease); ok {
					shard, err := strconv.Atoi(number)
					if err != nil {
						return fmt.Errorf("lease %s: %w", name, err)
					}
					leased[shard] = true
					if by == holder {
						s.Held = append(s.Held, shard)
					}
				}
				return nil
			}); err != nil {
			return err
		}
		for shard := range board.WebhookShards {
			if !leased[shard] {
				s.Free = append(s.Free, shard)
			}
		}
		return nil
	})
	slices.Sort(s.Held)
	return s, err
}

// LeaseShards acquires or renews the leases of shards, except leases that another server
// holds. It returns the shards that the holder now leases. It also renews the holder's
// server lease.
func (db *DB) LeaseShards(ctx context.Context, holder string, shards []int, length time.Duration) (held []int, err error) {
	names := []string{ServerLease + holder}
	for _, s := range shards {
		names = append(names, shardLease+strconv.Itoa(s))
	}
	err = db.Write(ctx, board.System(), func(tx *Tx) error {
		got, err := tx.lease(ctx, holder, length, names...)
		held = slices.DeleteFunc(slices.Clone(shards), func(shard int) bool { return !slices.Contains(got, shardLease+strconv.Itoa(shard)) })
		return err
	})
	slices.Sort(held)
	return held, err
}

// ReleaseShards releases shards of the holder. If leaving is set, it also releases the
// holder's server lease.
func (db *DB) ReleaseShards(ctx context.Context, holder string, shards []int, leaving bool) error {
	names := make([]string, 0, len(shards)+1)
	for _, s := range shards {
		names = append(names, shardLease+strconv.Itoa(s))
	}
	if leaving {
		names = append(names, ServerLease+holder)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, name := range names {
			if err := tx.exec(ctx, "DELETE FROM leases WHERE name = $1 AND holder = $2", name, holder); err != nil {
				return err
			}
		}
		return nil
	})
}

// PurgeLeases deletes leases that expired more than a day ago.
func (tx *Tx) PurgeLeases(ctx context.Context) error {
	return tx.exec(ctx, "DELETE FROM leases WHERE until < $1", int64(tx.now)-(24*time.Hour).Milliseconds())
}
