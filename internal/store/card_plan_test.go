package store

import (
	"testing"

	"cardwall/internal/board"
)

func TestRoughly(t *testing.T) {
	t.Parallel()
	known := map[int]bool{}
	for n := range 200_000 {
		got := roughly(n)
		if got < n || got > n+n/8 {
			t.Fatalf("roughly %d is %d", n, got)
		}
		known[got] = true
	}
	if len(known) > 150 {
		t.Errorf("there are %d rough numbers up to 200,000", len(known))
	}
}

// A horizon is believed for a minute, by the clock of who asks.
func TestHorizons(t *testing.T) {
	t.Parallel()
	var h horizons
	const found, at = 700, 1_000_000
	h.put(400, found, at)
	h.put(800, 0, at)
	for _, ask := range []struct {
		newest       int
		after, since board.Instant
		known        bool
	}{
		{400, 0, found, true}, {400, countLifetime - 1, found, true}, {400, countLifetime, 0, false}, {400, -1, 0, false},
		{800, 1, 0, true}, {500, 0, 0, false},
	} {
		since, known := h.get(ask.newest, at+ask.after)
		if known != ask.known || known && since != ask.since {
			t.Errorf("%d cards, asked after %d ms: %d (known %v), want %d (%v)", ask.newest, ask.after, since, known, ask.since, ask.known)
		}
	}
}
