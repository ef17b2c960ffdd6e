package board_test

import (
	"testing"
	"time"

	"cardwall/internal/board"
)

func TestAge(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{"forever": 0, "30d": 30 * day,
		"90d": 90 * day, "3y": 3 * 365 * day, " 2y ": 2 * 365 * day} {
		got := board.Age(1)
		if err := got.UnmarshalText([]byte(text)); err != nil || got != board.Age(want) {
			t.Errorf("%q: got %v (%v), want %v", text, time.Duration(got), err, want)
		}
	}
	for _, text := range []string{"", "d", "90", "0d", "29d", "-1y", "1h", "101y", "36501d", "1.5y"} {
		if err := new(board.Age).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got no error, want one", text)
		}
	}
}
