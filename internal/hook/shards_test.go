package hook_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/hook"
	"cardwall/internal/store"
)

// cluster is several servers on one PostgreSQL database, each with an engine.
type cluster struct {
	*world
	webhooks  []board.WebhookSecret
	receivers []*receiver
	servers   []*server
}

type server struct {
	db   *store.DB
	stop func()
}

// onPostgres runs a test on PostgreSQL with many webhooks, inside a synctest bubble.
func onPostgres(t *testing.T, test func(t *testing.T, c *cluster)) {
	t.Helper()
	t.Parallel()
	// PostgreSQL measures lock timeouts in real time.
	database := apptest.WithLockTimeout(t, apptest.PostgresURL(t), 20*time.Second)
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{world: newWorldOn(t, database)}
		for i := range 40 { // spread over many of the 64 shards
			host := fmt.Sprintf("receiver-%d.test", i)
			c.receivers = append(c.receivers, c.receiver(host, nil))
			c.webhooks = append(c.webhooks,
				c.webhookFor(c.ada, app.CreateWebhookInput{URL: "http://" + host + "/in", WorkspaceID: c.workspace,
					Events: created}))
		}
		test(t, c)
	})
}

// start starts another server.
func (c *cluster) start() *server {
	c.t.Helper()
	s := &server{db: c.openDB()}
	name := fmt.Sprintf("server %d", len(c.servers))
	s.stop = c.engineOn(s.db, func(o *hook.Options) { o.Holder = name })
	c.servers = append(c.servers, s)
	return s
}

// kill makes a server stop writing and sending immediately, without releasing its shards.
func (c *cluster) kill(s *server) {
	c.t.Helper()
	if err := s.db.Close(); err != nil {
		c.t.Errorf("close the store: %v", err)
	}
	go s.stop()
}

// shards returns the number of shards that each server holds.
func (c *cluster) shards() (held []int) {
	c.t.Helper()
	for i := range c.servers {
		leases, err := c.db.ShardLeases(context.Background(), fmt.Sprintf("server %d", i))
		if err != nil {
			c.t.Fatal(err)
		}
		held = append(held, len(leases.Held))
	}
	return held
}

// wantShards checks the number of shards that each server holds.
func (c *cluster) wantShards(want ...int) {
	c.t.Helper()
	if got := c.shards(); !slices.Equal(got, want) {
		c.t.Errorf("got %v shards per server, want %v", got, want)
	}
}

// ids returns the IDs of the deliveries that arrived at all receivers.
func (c *cluster) ids() (ids []string) {
	for _, to := range c.receivers {
		ids = append(ids, to.ids()...)
	}
	return ids
}

// wantEach checks that each webhook has n deliveries, which all arrived.
func (c *cluster) wantEach(n int) {
	c.t.Helper()
	for i, h := range c.webhooks {
		c.wantAll(h.ID, c.receivers[i], n)
	}
}

func TestServersShareShardsAndSendOnce(t *testing.T) {
	for _, servers := range []int{2, 3} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			onPostgres(t, func(t *testing.T, c *cluster) {
				for range servers {
					c.start()
				}
				advance(20 * time.Second)
				held := c.shards()
				sum := 0
				for _, n := range held {
					sum += n
					if most := (64 + servers - 1) / servers; n > most {
						t.Errorf("got %d shards per server, want at most %d each", held, most)
					}
				}
				if sum != 64 {
					t.Errorf("got %d shards per server, want 64 in total", held)
				}
				for range 10 {
					c.card() // written over a connection that belongs to none of the servers
					advance(200 * time.Millisecond)
				}
				advance(5 * time.Second)
				c.wantEach(10)
				wantOnce(t, c.ids())
			})
		})
	}
}

// A server that has released shards leaves time for another server to take them.
func TestReleasedShardsAreLeftToOtherServers(t *testing.T) {
	onPostgres(t, func(t *testing.T, c *cluster) {
		ctx := context.Background()
		c.start()
		advance(5 * time.Second)
		if _, err := c.db.LeaseShards(ctx, "other", nil, 10*time.Second); err != nil { // registers the other server
			t.Fatal(err)
		}
		advance(3500 * time.Millisecond) // noticed at 6 s, half of the shards released at 7 s, not taken back at 8 s
		leases, err := c.db.ShardLeases(ctx, "other")
		if err != nil {
			t.Fatal(err)
		}
		held, err := c.db.LeaseShards(ctx, "other", leases.Free, 10*time.Second)
		if err != nil || len(held) != 32 {
			t.Errorf("another server: got %d shards, error %v; want 32", len(held), err)
		}
		advance(5 * time.Second)
		c.wantShards(32)
	})
}

func TestShardsOfKilledServerAreTakenOverWithinEightSeconds(t *testing.T) {
	for _, servers := range []int{2, 3} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			onPostgres(t, func(t *testing.T, c *cluster) {
				c.start()
				advance(900 * time.Millisecond)
				for range servers - 1 {
					c.start()
				}
				// The first server renews its leases at 21 s, so they end just after a poll of the others.
				advance(20200 * time.Millisecond)
				for _, to := range c.receivers {
					to.respondWith(delayed)
				}
				c.cards(5)
				advance(250 * time.Millisecond) // responses have been sent or are about to be, but are not recorded
				c.kill(c.servers[0])
				killedAt := time.Now()
				c.cards(5)
				advance(8*time.Second - time.Since(killedAt))
				if held := c.shards(); held[0] != 0 {
					t.Errorf("8 s after the kill: got %d shards of the killed server, want 0", held[0])
				} else if sum := held[1] + held[servers-1]*(servers-2); sum != 64 {
					t.Errorf("8 s after the kill: got %d shards of the other servers, want 64 in total", held[1:])
				}
				advance(5 * time.Second)
				c.wantEach(10)
			})
		})
	}
}

func TestStoppingServerReleasesItsShardsAtOnce(t *testing.T) {
	onPostgres(t, func(t *testing.T, c *cluster) {
		first := c.start()
		c.start()
		advance(20 * time.Second)
		c.wantShards(32, 32)
		for _, to := range c.receivers {
			to.respondWith(delayed)
		}
		c.cards(20)
		advance(200 * time.Millisecond)
		first.stop()
		advance(4 * time.Second)
		c.wantShards(0, 64)
		advance(10 * time.Second)
		c.wantEach(20)
		wantOnce(t, c.ids())
	})
}

// This takes more than ten seconds: three servers look for work during four minutes of virtual time, with a
// real PostgreSQL.
func TestJoiningServerTakesItsShareWithoutDuplicates(t *testing.T) {
	onPostgres(t, func(t *testing.T, c *cluster) {
		c.start()
		advance(5 * time.Second)
		c.wantShards(64)
		for _, to := range c.receivers {
			// Attempts take longer than the hand-over of a shard.
			to.respondWith(func(_ int, w http.ResponseWriter, _ *http.Request) { time.Sleep(9 * time.Second) })
		}
		c.cards(20)
		advance(500 * time.Millisecond) // before the first server notices the second one
		c.start()
		advance(time.Minute)
		c.wantShards(32, 32)
		c.start()
		advance(30 * time.Second)
		if held := c.shards(); slices.Max(held) > 22 || held[0]+held[1]+held[2] != 64 {
			t.Errorf("got %d shards per server, want at most 22 each and 64 in total", held)
		}
		advance(time.Minute)
		c.wantEach(20)
		wantOnce(t, c.ids())
	})
}
