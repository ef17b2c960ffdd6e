package board_test

import (
	"fmt"
	"testing"

	"cardwall/internal/board"
)

// attempt returns an attempt with a duration in milliseconds. A status of 0 means that there was
// no response.
func attempt(at board.Instant, delivery string, status int, duration int64) board.LoggedAttempt {
	a := board.LoggedAttempt{DeliveryID: delivery}
	a.At, a.Duration, a.Outcome = at, duration, "timeout"
	if status != 0 {
		a.HTTPStatus, a.Outcome = &status, fmt.Sprint("HTTP ", status)
	}
	return a
}

func TestHealthOf(t *testing.T) {
	t.Parallel()
	text := func(h board.WebhookHealth) (out string) {
		rate, p50, p95 := "null", "null", "null"
		if h.SuccessRate != nil {
			rate = fmt.Sprint(*h.SuccessRate)
		}
		if h.P50 != nil {
			p50, p95 = fmt.Sprint(*h.P50), fmt.Sprint(*h.P95)
		}
		out = fmt.Sprintf("%d/%d %s p50=%s p95=%s", h.Succeeded, h.Attempts, rate, p50, p95)
		for _, e := range h.Errors {
			out += fmt.Sprintf(" [%d %s %s]", e.At, e.DeliveryID, e.Outcome)
		}
		return out
	}
	var hundred, failing []board.LoggedAttempt
	for i := range 100 {
		hundred = append(hundred, attempt(2000, "d", 204, int64(100-i)))
	}
	for i := range 7 {
		failing = append(failing, attempt(board.Instant(2000+i), fmt.Sprint("d", i), 500, 10))
	}
	for name, c := range map[string]struct {
		attempts []board.LoggedAttempt
		want     string
	}{
		"none":         {nil, "0/0 null p50=null p95=null"},
		"too old":      {[]board.LoggedAttempt{attempt(999, "d", 500, 9)}, "0/0 null p50=null p95=null"},
		"at the start": {[]board.LoggedAttempt{attempt(1000, "d", 299, 9)}, "1/1 1 p50=9 p95=9"},
		"two":          {[]board.LoggedAttempt{attempt(1000, "d", 200, 30), attempt(1001, "d", 200, 10)}, "2/2 1 p50=10 p95=30"},
		"a hundred":    {hundred, "100/100 1 p50=50 p95=95"},
		"no response":  {[]board.LoggedAttempt{attempt(1000, "d", 0, 10000)}, "0/1 0 p50=null p95=null [1000 d timeout]"},
		"a third": {[]board.LoggedAttempt{attempt(1000, "a", 200, 10), attempt(1000, "b", 302, 20), attempt(1000, "c", 0, 9)},
			"1/3 0.3333 p50=10 p95=20 [1000 c timeout] [1000 b HTTP 302]"},
		"the last errors": {failing, "0/7 0 p50=10 p95=10 [2006 d6 HTTP 500] [2005 d5 HTTP 500] [2004 d4 HTTP 500] " +
			"[2003 d3 HTTP 500] [2002 d2 HTTP 500]"},
	} {
		if got := text(board.HealthOf(1000, c.attempts)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
