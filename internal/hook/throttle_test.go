package hook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/hook"
)

// pauseUntil returns a function that responds with a status and Retry-After until a time, and then
// accepts all deliveries.
func pauseUntil(until time.Time, status int, retryAfter string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		if time.Now().Before(until) {
			if retryAfter != "" {
				w.Header().Set("Retry-After", retryAfter)
			}
			w.WriteHeader(status)
		}
	}
}

// A receiver that responds with Retry-After gets no more requests until the requested time, whether
// the header contains seconds or a date.
func TestRetryAfterHoldsTheWholeQueue(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		after  func(time.Time) string
	}{
		"429 with seconds": {429, func(time.Time) string { return "60" }},
		"429 with a date":  {429, func(at time.Time) string { return at.UTC().Format(http.TimeFormat) }},
		"503 with seconds": {503, func(time.Time) string { return "60" }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				until := time.Now().Add(time.Minute)
				to := w.receiver("receiver.test", pauseUntil(until, c.status, c.after(until)))
				h := w.webhook("receiver.test")
				w.engine()
				w.cards(60)
				advance(59 * time.Second)
				requests := len(to.received())
				if requests > 8 { // the number of attempts that can run at once
					t.Errorf("got %d requests during the requested pause, want at most 8", requests)
				}
				got := w.stored(h.ID)
				if got.HeldSince == nil || got.HeldUntil == nil {
					t.Fatalf("after %d requests: got heldSince %v and heldUntil %v, want both set", requests, got.HeldSince,
						got.HeldUntil)
				}
				if got.HeldUntil.Time().Sub(until).Abs() > 2*time.Second || got.Failures != 0 {
					t.Errorf("the webhook is held until %v with %d failures, want until %v with 0", got.HeldUntil.Time(),
						got.Failures, until)
				}
				last := w.deliveries(h.ID)[59]
				if want := "held until " + got.HeldUntil.Time().Format("15:04:05") +
					" UTC: the receiver asked for a pause"; last.Reason != want || last.Attempts != 0 {
					t.Errorf("got reason %q after %d attempts, want %q after 0", last.Reason, last.Attempts, want)
				}
				advance(10 * time.Minute)
				w.wantAllDelivered(h.ID, 60)
				if n := len(to.received()); n != 60+requests {
					t.Errorf("got %d requests, want %d", n, 60+requests)
				}
				if got := w.stored(h.ID); got.HeldSince != nil || got.HeldUntil != nil {
					t.Errorf("got heldSince %v and heldUntil %v, want both nil", got.HeldSince, got.HeldUntil)
				}
			})
		})
	}
}

// wantAllDelivered checks that a webhook has n deliveries, which are all delivered.
func (w *world) wantAllDelivered(id string, n int) {
	w.t.Helper()
	all := w.deliveries(id)
	if len(all) != n {
		w.t.Errorf("got %d deliveries, want %d", len(all), n)
	}
	for _, d := range all {
		if d.Status != board.DeliveryDelivered {
			w.t.Errorf("%s: got status %s with reason %q, want %s", d.ID, d.Status, d.Reason, board.DeliveryDelivered)
			return
		}
	}
}

func TestRequestedPauseIsAtMostOneHour(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", always(429, "Retry-After", "999999"))
		w.webhook("receiver.test")
		w.engine()
		w.cards(20)
		advance(time.Hour - time.Second)
		first := len(to.received())
		advance(2 * time.Second)
		if n := len(to.received()); first > 8 || n != first+1 {
			t.Errorf("got %d requests in the first hour and %d after it, want at most 8 and then 1", first, n-first)
		}
	})
}

func TestLogShowsTheEndOfARequestedPause(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.receiver("receiver.test", always(429, "Retry-After", "99999"))
		h := w.webhook("receiver.test")
		w.engine()
		w.card()
		begun := board.InstantOf(w.db.Now())
		advance(time.Second)
		d := w.onlyDelivery(h.ID)
		want := "HTTP 429; held until " + d.NextAttemptAt.Time().Format("15:04:05") + " UTC: the receiver asked for a pause"
		if wait := *d.NextAttemptAt - begun; d.Reason != want || wait < board.Instant(time.Hour.Milliseconds()) {
			t.Errorf("got reason %q, with the next attempt in %d ms; want %q in an hour", d.Reason, wait, want)
		}
	})
}

// After 429 without Retry-After, the engine sends single requests with pauses that grow to 30 seconds.
func Test429WithoutRetryAfterSlowsTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", pauseUntil(time.Now().Add(10*time.Minute), 429, ""))
		h := w.webhook("receiver.test")
		w.engine()
		w.cards(60)
		advance(10 * time.Minute)
		if n := len(to.received()); n < 15 || n > 35 {
			t.Errorf("got %d requests in ten minutes of 429, want 15 to 35", n)
		}
		advance(time.Hour)
		w.wantAllDelivered(h.ID, 60)
	})
}

// A 429 between failures does not reset the failure count.
func Test429DoesNotResetTheFailureCount(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", sequence(500, 500, 429, 500, 500))
		h := w.webhook("receiver.test")
		w.engine(func(o *hook.Options) { o.Pauses = []time.Duration{time.Hour} })
		for range 4 {
			w.card()
			advance(1500 * time.Millisecond)
		}
		w.cards(20)
		advance(1500 * time.Millisecond)
		// After the third failure, the engine sends only probes.
		if n := len(to.received()); n > 6 {
			t.Errorf("got %d requests, want at most 6; the 429 may have reset the number of failures", n)
		}
		if w.stored(h.ID).HeldSince == nil {
			t.Error("got heldSince nil, want a time")
		}
	})
}

// The requested pause is still in effect after a restart. It does not delay a test event that a person
// sends.
func TestPauseSurvivesARestart(t *testing.T) {
	test := func(t *testing.T, w *world) {
		until := time.Now().Add(10 * time.Minute)
		to := w.receiver("paused.test", pauseUntil(until, 429, "600"))
		h := w.webhookFor(w.ada, app.CreateWebhookInput{URL: "http://paused.test/in", BoardID: w.board, Events: created})
		stop := w.engine()
		advance(10 * time.Second)
		w.cards(20)
		advance(10 * time.Second)
		requests := len(to.received())
		stop()
		w.engine()
		advance(9 * time.Minute)
		if n := len(to.received()); requests == 0 || n != requests {
			t.Errorf("got %d requests before the restart and %d after it, want some and then 0", requests, n-requests)
		}
		do(w, w.ada, app.TestWebhook, webhookInput(h.ID))
		advance(10 * time.Second)
		if n := len(to.received()); n != requests+1 {
			t.Errorf("got %d requests after a test event, want one more than %d", n, requests)
		}
		advance(30 * time.Minute)
		for _, d := range w.deliveries(h.ID) {
			if d.Status != board.DeliveryDelivered && d.Type != board.KindWebhookTest {
				t.Errorf("%s: got status %s with reason %q, want delivered", d.ID, d.Status, d.Reason)
			}
		}
	}
	t.Run("sqlite", func(t *testing.T) { bubble(t, test) })
	t.Run("postgres", func(t *testing.T) {
		onPostgres(t, func(t *testing.T, c *cluster) { test(t, c.world) })
	})
}

// A successful response to a request that was in progress when the receiver asked for a pause does not
// end the pause.
func TestLateResponseDoesNotEndAPause(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", func(nth int, rw http.ResponseWriter, _ *http.Request) {
			if nth == 0 {
				rw.Header().Set("Retry-After", "60")
				rw.WriteHeader(429)
				return
			}
			time.Sleep(500 * time.Millisecond)
		})
		w.webhook("receiver.test")
		w.engine()
		w.cards(30)
		advance(55 * time.Second)
		if n := len(to.received()); n > 8 {
			t.Errorf("got %d requests during the pause, want at most 8", n)
		}
	})
}

func TestLogReportsOversizedResponseHeaders(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.receiver("receiver.test", always(200, "X-Much", strings.Repeat("x", 40<<10)))
		h := w.webhook("receiver.test")
		w.engine()
		w.card()
		advance(time.Second)
		const want = "the response headers are larger than 32 KiB; next attempt"
		if d := w.onlyDelivery(h.ID); !strings.HasPrefix(d.Reason, want) {
			t.Errorf("got reason %q, want the prefix %q", d.Reason, want)
		}
	})
}
