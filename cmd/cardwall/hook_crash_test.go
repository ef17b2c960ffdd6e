package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"cardwall/internal/apptest"
)

const (
	hookKills     = 12 // number of times to kill the single server on SQLite
	hookTakeovers = 10 // number of times to kill one of three servers on PostgreSQL
	hookWriters   = 8
	hotBoards     = 4

	// Other servers take over the webhooks of a dead server when its leases expire, within 15 s.
	// Another 12 s allow for a busy machine. The sum is less than the 30 s after which the fallback
	// poll would find the deliveries.
	maxHookDelay = 15*time.Second + 12*time.Second
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
		time.Sleep(time.Duration(50+rand.IntN(250)) * time.Millisecond)
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
// other servers must take over its deliveries.
func TestSystemKillOneOfThreeWhileDelivering(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--database", apptest.PostgresURL(t))
	kill := f.start(0)
	f.prepare()
	f.start(1)
	f.start(2)
	f.pause = 10 * time.Millisecond
	time.Sleep(4 * time.Second) // let the servers distribute the webhooks
	stop := f.load()
	for round := range hookTakeovers {
		time.Sleep(time.Duration(500+rand.IntN(1500)) * time.Millisecond)
		kill()
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		if round < hookTakeovers-1 {
			kill = f.start(0)
		}
	}
	f.importDuringLoad()
	stop()
	f.checkDeliveries()
	longest := f.receiver.longestDelay(f.acknowledged)
	if longest > maxHookDelay {
		t.Errorf("a delivery arrived %v after its change was acknowledged, want at most %v", longest.Round(time.Millisecond), maxHookDelay)
	}
	t.Logf("%d kills: %s, longest delay %v", hookTakeovers, f.receiver.summary(), longest.Round(time.Millisecond))
}
