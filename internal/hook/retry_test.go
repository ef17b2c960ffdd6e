package hook_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/hook"
)

var pauses = []time.Duration{
	30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
	12 * time.Hour,
}

// slack allows for times that are rounded up to milliseconds.
const slack = 2 * time.Millisecond

// wantPauses checks the time from the end of each attempt to the beginning of the next.
func wantPauses(t *testing.T, posts []post, want ...time.Duration) {
	t.Helper()
	if len(posts) != len(want)+1 {
		t.Fatalf("got %d attempts, want %d", len(posts), len(want)+1)
	}
	for i, pause := range want {
		if got := posts[i+1].at.Sub(posts[i].ended); got < pause || got > pause+slack {
			t.Errorf("attempt %d: got a pause of %v before it, want %v", i+2, got, pause)
		}
	}
}

func TestDeliveryIsAttemptedNineTimesOnSchedule(t *testing.T) {
	for _, chance := range []float64{0, 1 - 1.0/(1<<53)} {
		for name, respond := range map[string]func(int, http.ResponseWriter, *http.Request){
			"503 after three seconds": func(_ int, w http.ResponseWriter, _ *http.Request) {
				time.Sleep(3 * time.Second)
				w.WriteHeader(503)
			},
			"no response in ten seconds": hang,
		} {
			t.Run(fmt.Sprintf("%s, chance %.1f", name, chance), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					to := w.receiver("receiver.test", respond)
					h := w.webhook("receiver.test")
					w.engine(func(o *hook.Options) { o.Chance = func() float64 { return chance } })
					w.card()
					advance(26 * time.Hour)
					want := make([]time.Duration, len(pauses))
					for i, pause := range pauses {
						want[i] = pause + time.Duration(chance*float64(pause)/10)
					}
					posts := to.received()
					wantPauses(t, posts, want...)
					for i, p := range posts {
						wantSignedNow(t, h.Secret, p)
						if p.id != posts[0].id || p.header.Get(hook.HeaderID) != p.id || !bytes.Equal(p.body, posts[0].body) {
							t.Errorf("attempt %d: got ID %s and body %s, want those of the first attempt", i+1,
								p.header.Get(hook.HeaderID), p.body)
						}
						if i > 0 && p.header.Get(hook.HeaderSignature) == posts[i-1].header.Get(hook.HeaderSignature) {
							t.Errorf("attempt %d: got the signature of the previous attempt, want a new one", i+1)
						}
					}
					d := w.onlyDelivery(h.ID)
					if d.Status != board.DeliveryGaveUp || d.Attempts != 9 || len(d.Log) != 9 || d.Body != string(posts[0].body) ||
						d.NextAttemptAt != nil {
						t.Errorf("got delivery %+v, want gave up after nine attempts", d.Delivery)
					}
				})
			})
		}
	}
}

// wantSignedNow checks that a delivery was signed with a secret at the time of its arrival.
func wantSignedNow(t *testing.T, secret string, p post) {
	t.Helper()
	stamp := p.header.Get(hook.HeaderTimestamp)
	if err := hook.Verify(secret, p.header.Get(hook.HeaderID), stamp, p.header.Get(hook.HeaderSignature), p.body,
		p.at); err != nil {
		t.Error(err)
	}
	if stamp != strconv.FormatInt(p.at.Unix(), 10) {
		t.Errorf("got timestamp %s, want %d", stamp, p.at.Unix())
	}
}

func TestRetryAfterDelaysARetryByAtMostOneHour(t *testing.T) {
	date := func(in time.Duration) func() string {
		return func() string { return time.Now().Add(in).UTC().Format(http.TimeFormat) }
	}
	text := func(s string) func() string { return func() string { return s } }
	for _, c := range []struct {
		name   string
		status int
		after  func() string
		want   time.Duration // pause before the second attempt, which is 30 s by default
	}{
		{"429, seconds", 429, text("75"), 75 * time.Second},
		{"503, seconds", 503, text("75"), 75 * time.Second},
		{"429, a date", 429, date(75 * time.Second), 75 * time.Second},
		{"503, a date", 503, date(75 * time.Second), 75 * time.Second},
		{"earlier than the pause", 503, text("3"), 30 * time.Second},
		{"a date in the past", 503, date(-time.Hour), 30 * time.Second},
		{"later than the next pause", 503, text("600"), 10 * time.Minute},
		{"later than an hour, a date", 429, date(24 * time.Hour), time.Hour},
		{"more seconds than an integer holds", 503, text("99999999999999999999"), time.Hour},
		{"negative", 503, text("-75"), 30 * time.Second},
		{"words", 503, text("later"), 30 * time.Second},
		{"another status", 500, text("75"), 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", func(nth int, w http.ResponseWriter, _ *http.Request) {
					if nth == 0 {
						w.Header().Set("Retry-After", c.after())
						w.WriteHeader(c.status)
					}
				})
				h := w.webhook("receiver.test")
				w.engine()
				w.card()
				advance(2 * time.Hour)
				wantPauses(t, to.received(), c.want)
				w.wantStatus(h.ID, board.DeliveryDelivered)
			})
		})
	}
}

func TestLogShowsTheTimeOfTheNextAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.receiver("receiver.test", always(500))
		h := w.webhook("receiver.test")
		w.engine()
		w.card()
		advance(time.Second)
		d := w.onlyDelivery(h.ID)
		want := "HTTP 500; next attempt " + d.NextAttemptAt.Time().Format("15:04:05") + " UTC"
		if d.Status != board.DeliveryRetry || d.Reason != want || d.HTTPStatus == nil || *d.HTTPStatus != 500 {
			t.Errorf("got %s with reason %q, want a retry with status 500 and reason %q", d.Status, d.Reason, want)
		}
	})
}
