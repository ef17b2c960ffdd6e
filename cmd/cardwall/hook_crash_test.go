package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
)

const (
	hookKills     = 12 // number of times to kill the single server on SQLite
	hookTakeovers = 10 // number of times to kill one of three servers on PostgreSQL
	hookWriters   = 8
	hotBoards     = 4
)

// TestSystemKillWhileDelivering repeatedly kills the server with SIGKILL while clients change
// cards. Every committed change, acknowledged or not, must reach each of its webhooks, with the
// same delivery id in all attempts. Uncommitted changes and changes that send no events must not be
// delivered.
func TestSystemKillWhileDelivering(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1)
	kill := f.start(0)
	f.prepare()
	stop := f.load()
	for range hookKills {
		f.awaitWrites(1 + rand.IntN(100))
		kill()
		kill = f.start(0)
	}
	f.importDuringLoad()
	stop()
	f.checkDeliveries()
	kill()
	f.checkData()
	t.Logf("%d kills: %s", hookKills, f.receiver.summary())
}

// TestSystemKillOneOfThreeWhileDelivering repeatedly kills one of three servers on PostgreSQL. The
// other servers must take over its deliveries. In some rounds, the server is killed soon after it
// has started, when it has no webhooks yet. In the others, it gets them after four seconds or more,
// so the test takes half a minute.
func TestSystemKillOneOfThreeWhileDelivering(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--database", apptest.PostgresURL(t))
	kill := f.start(0)
	f.prepare()
	f.start(1)
	f.start(2)
	f.pause = 10 * time.Millisecond
	apptest.Await(t, "all servers have webhooks", func() (holders []string, done bool) {
		holders = f.webhookHolders()
		return holders, len(holders) == len(f.bases)
	})
	stop := f.load()
	known := f.webhookHolders()
	for round := range hookTakeovers {
		f.awaitWrites(1 + rand.IntN(200))
		if round%3 == 0 && round > 0 { // also in the last round
			apptest.Eventually(t, "the new server has webhooks", func() bool {
				return slices.ContainsFunc(f.webhookHolders(), func(holder string) bool { return !slices.Contains(known, holder) })
			})
		}
		known = append(known, f.webhookHolders()...)
		kill()
		f.awaitWrites(1 + rand.IntN(100))
		if round < hookTakeovers-1 {
			kill = f.start(0)
		}
	}
	f.importDuringLoad()
	stop()
	f.checkDeliveries()
	t.Logf("%d kills: %s", hookTakeovers, f.receiver.summary())
}

// webhookHolders returns the names of the servers that have leased webhooks.
func (f *fleet) webhookHolders() []string {
	f.t.Helper()
	return strings.Fields(f.psql("SELECT string_agg(DISTINCT holder, ' ') FROM leases WHERE name LIKE 'webhooks:shard:%'"))
}
