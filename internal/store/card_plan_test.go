package store

import (
	"testing"

	"cardwall/internal/board"
)

func TestRoundUp(t *testing.T) {
	t.Parallel()
	distinct := map[int]bool{}
	for n := range 200_000 {
		got := roundUp(n)
		if got < n || got > n+n/8 {
			t.Fatalf("roundUp(%d) = %d, want %d to %d", n, got, n, n+n/8)
		}
		distinct[got] = true
	}
	if len(distinct) > 150 {
		t.Errorf("got %d distinct results up to 200,000, want at most 150", len(distinct))
	}
}

// A cached horizon is used for a minute, by the clock of the request.
func TestHorizonsExpire(t *testing.T) {
	t.Parallel()
	var h horizons
	const changed, at = 700, 1_000_000
	h.put(400, changed, at)
	h.put(800, 0, at)
	for _, ask := range []struct {
		newest       int
		after, since board.Instant
		known        bool
	}{
		{400, 0, changed, true}, {400, countLifetime - 1, changed, true}, {400, countLifetime, 0, false}, {400, -1, 0, false},
		{800, 1, 0, true}, {500, 0, 0, false},
	} {
		since, known := h.get(ask.newest, at+ask.after)
		if known != ask.known || known && since != ask.since {
			t.Errorf("horizon of %d cards after %d ms: got %d (known %v), want %d (known %v)",
				ask.newest, ask.after, since, known, ask.since, ask.known)
		}
	}
}
