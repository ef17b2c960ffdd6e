package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"cardwall/internal/apptest"
)

const (
	hookKills    = 12 // kills of the single server on SQLite
	hookTakeover = 10 // kills of one of three servers on PostgreSQL
	hookWriters  = 8
	hotBoards    = 4

	// A dead server's webhooks are taken over within 15 s. The rest is slack for a busy machine,
	// and less than the 30 s of the fallback poll.
	hookLatest = 15*time.Second + 12*time.Second
)

// TestKillWhileDelivering repeatedly kills the server with SIGKILL while clients change cards.
// Every committed change, acknowledged or not, must reach every webhook under one ID. Changes
// that were not committed, or that send no events, must reach none.
func TestKillWhileDelivering(t *testing.T) {
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
	f.keepQuiet()
	stop()
	f.compare()
	kill()
	f.doctor()
	t.Logf("%d kills: %s", hookKills, f.receiver.summary())
}

// TestKillOneOfThreeWhileDelivering repeatedly kills one of three servers on PostgreSQL. The
// others then send its deliveries.
func TestKillOneOfThreeWhileDelivering(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--database", apptest.PostgresURL(t))
	kill := f.start(0)
	f.prepare()
	f.start(1)
	f.start(2)
	f.rest = 10 * time.Millisecond
	time.Sleep(4 * time.Second) // time for the servers to share the webhooks
	stop := f.load()
	for round := range hookTakeover {
		time.Sleep(time.Duration(500+rand.IntN(1500)) * time.Millisecond)
		kill()
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		if round < hookTakeover-1 {
			kill = f.start(0)
		}
	}
	f.keepQuiet()
	stop()
	f.compare()
	worst := f.receiver.worst(f.acknowledged)
	if worst > hookLatest {
		t.Errorf("a delivery arrived %v after its change was acknowledged, want at most 15 s", worst.Round(time.Millisecond))
	}
	t.Logf("%d kills: %s, the latest after %v", hookTakeover, f.receiver.summary(), worst.Round(time.Millisecond))
}
