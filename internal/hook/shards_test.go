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
	hooks   []board.WebhookSecret
	to      []*receiver
	servers []*server
}

type server struct {
	db   *store.DB
	stop func()
}

// onPostgres runs a test with many webhooks inside a synctest bubble.
func onPostgres(t *testing.T, test func(t *testing.T, c *cluster)) {
	t.Helper()
	t.Parallel()
	// PostgreSQL measures lock timeouts by real time
	database := apptest.WithLockTimeout(t, apptest.PostgresURL(t), 20*time.Second)
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{world: newWorldOn(t, database)}
		for i := range 40 { // in many of the 64 shards
			host := fmt.Sprintf("receiver-%d.test", i)
			c.to = append(c.to, c.receiver(host, nil))
			c.hooks = append(c.hooks,
				c.webhookFor(c.ada, app.CreateWebhookInput{URL: "http://" + host + "/in", WorkspaceID: c.workspace,
					Events: created}))
		}
		test(t, c)
	})
}

// start adds a server.
func (c *cluster) start() *server {
	c.t.Helper()
	s := &server{db: c.openAgain()}
	name := fmt.Sprintf("server %d", len(c.servers))
	s.stop = c.engineOn(s.db, func(o *hook.Options) { o.Holder = name })
	c.servers = append(c.servers, s)
	return s
}

// kill makes a server stop writing and sending at once, without notice to the others.
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
		held = append(held, len(leases.Mine))
	}
	return held
}

func (c *cluster) wantShards(want ...int) {
	c.t.Helper()
	if got := c.shards(); !slices.Equal(got, want) {
		c.t.Errorf("the servers hold %v shards, want %v", got, want)
	}
}

// ids returns the ids of all deliveries that arrived at any receiver.
func (c *cluster) ids() (ids []string) {
	for _, to := range c.to {
		ids = append(ids, to.ids()...)
	}
	return ids
}

func (c *cluster) wantEach(n int) {
	c.t.Helper()
	for i, h := range c.hooks {
		c.wantAll(h.ID, c.to[i], n)
	}
}

func TestServersShareShardsAndSendOnce(t *testing.T) {
	for _, servers := range []int{2, 3} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			onPostgres(t, func(t *testing.T, c *cluster) {
				for range servers {
					c.start()
				}
				pass(20 * time.Second)
				held := c.shards()
				sum := 0
				for _, n := range held {
					sum += n
					if most := (64 + servers - 1) / servers; n > most {
						t.Errorf("the servers hold %d shards, want at most %d of 64 for each", held, most)
					}
				}
				if sum != 64 {
					t.Errorf("the servers hold %d shards, want 64 in total", held)
				}
				for range 10 {
					c.card() // written by a connection that belongs to no sender
					pass(200 * time.Millisecond)
				}
				pass(5 * time.Second)
				c.wantEach(10)
				wantOnce(t, c.ids())
			})
		})
	}
}

// A server does not take back released shards before another server could have taken them.
func TestReleasedShardsAreLeftToOthers(t *testing.T) {
	onPostgres(t, func(t *testing.T, c *cluster) {
		ctx := context.Background()
		c.start()
		pass(5 * time.Second)
		if _, err := c.db.LeaseShards(ctx, "other", nil, 10*time.Second); err != nil { // registers the other server
			t.Fatal(err)
		}
		pass(3500 * time.Millisecond) // seen at 6 s, half of the shards released at 7 s, not retaken at 8 s
		leases, err := c.db.ShardLeases(ctx, "other")
		if err != nil {
			t.Fatal(err)
		}
		held, err := c.db.LeaseShards(ctx, "other", leases.Free, 10*time.Second)
		if err != nil || len(held) != 32 {
			t.Errorf("another server got %d shards, want 32: %v", len(held), err)
		}
		pass(5 * time.Second)
		c.wantShards(32)
	})
}

func TestDeadServersShardsAreTakenOverWithinEightSeconds(t *testing.T) {
	for _, servers := range []int{2, 3} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			onPostgres(t, func(t *testing.T, c *cluster) {
				c.start()
				pass(900 * time.Millisecond)
				for range servers - 1 {
					c.start()
				}
				// The first server renews its leases at 21 s, so they end just after a poll of the others.
				pass(20200 * time.Millisecond)
				for _, to := range c.to {
					to.then(brief)
				}
				c.cards(5)
				pass(250 * time.Millisecond) // responses sent or about to be, but not recorded
				c.kill(c.servers[0])
				died := time.Now()
				c.cards(5)
				pass(8*time.Second - time.Since(died))
				if held := c.shards(); held[0] != 0 {
					t.Errorf("8 s after it was killed a server still has %d of 64 shards, want 0", held[0])
				} else if sum := held[1] + held[servers-1]*(servers-2); sum != 64 {
					t.Errorf("8 s after a server was killed the others hold %d shards", held[1:])
				}
				pass(5 * time.Second)
				c.wantEach(10)
			})
		})
	}
}

func TestStoppingServerReleasesItsShardsAtOnce(t *testing.T) {
	onPostgres(t, func(t *testing.T, c *cluster) {
		first := c.start()
		c.start()
		pass(20 * time.Second)
		c.wantShards(32, 32)
		for _, to := range c.to {
			to.then(brief)
		}
		c.cards(20)
		pass(200 * time.Millisecond)
		first.stop()
		pass(4 * time.Second)
		c.wantShards(0, 64)
		pass(10 * time.Second)
		c.wantEach(20)
		wantOnce(t, c.ids())
	})
}

func TestJoiningServerTakesItsShareWithoutDuplicates(t *testing.T) {
	onPostgres(t, func(t *testing.T, c *cluster) {
		c.start()
		pass(5 * time.Second)
		c.wantShards(64)
		for _, to := range c.to { // longer than handing over a shard takes
			to.then(func(_ int, w http.ResponseWriter, _ *http.Request) { time.Sleep(9 * time.Second) })
		}
		c.cards(20)
		pass(500 * time.Millisecond) // before the first server notices
		c.start()
		pass(time.Minute)
		c.wantShards(32, 32)
		c.start()
		pass(30 * time.Second)
		if held := c.shards(); slices.Max(held) > 22 || held[0]+held[1]+held[2] != 64 {
			t.Errorf("the servers hold %d shards", held)
		}
		pass(time.Minute)
		c.wantEach(20)
		wantOnce(t, c.ids())
	})
}
