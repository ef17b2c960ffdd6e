package board_test

import (
	"testing"
	"time"

	"cardwall/internal/board"
)

func TestRetrySeconds(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		0: "0", time.Millisecond: "1", time.Second: "1", 1001 * time.Millisecond: "2", time.Minute: "60", 59*time.Second + 1: "60",
	} {
		if got := board.RetrySeconds(wait); got != want {
			t.Errorf("RetrySeconds(%v) = %q, want %q", wait, got, want)
		}
	}
}
