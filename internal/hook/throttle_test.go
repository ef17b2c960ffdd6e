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

// askThenTake asks for a pause until a time, and accepts everything after it.
func askThenTake(until time.Time, status int, retryAfter string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		if time.Now().Before(until) {
			if retryAfter != "" {
				w.Header().Set("Retry-After", retryAfter)
			}
			w.WriteHeader(status)
		}
	}
}

// A receiver that sends Retry-After gets no requests before that time, whether it is given in
// seconds or as a date.
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
				to := w.receiver("receiver.test", askThenTake(until, c.status, c.after(until)))
				h := w.webhook("receiver.test")
				w.engine()
				w.cards(60)
				pass(59 * time.Second)
				asked := len(to.seen())
				if asked > 8 { // as many as may run at once
					t.Errorf("%d requests within the minute of the requested pause, want at most 8", asked)
				}
				got := w.stored(h.ID)
				if got.HeldSince == nil || got.HeldUntil == nil {
					t.Fatalf("%d requests within the minute, and the webhook is held since %v until %v", asked, got.HeldSince,
						got.HeldUntil)
				}
				if got.HeldUntil.Time().Sub(until).Abs() > 2*time.Second || got.Failures != 0 {
					t.Errorf("the webhook is held until %v after %d failures, want until %v", got.HeldUntil.Time(),
						got.Failures, until)
				}
				last := w.deliveries(h.ID)[59]
				if want := "held until " + got.HeldUntil.Time().Format("15:04:05") +
					" UTC: the receiver asked for a pause"; last.Reason != want || last.Attempts != 0 {
					t.Errorf("the log has the reason %q after %d attempts, want %q", last.Reason, last.Attempts, want)
				}
				pass(10 * time.Minute)
				w.wantAllDelivered(h.ID, 60)
				if n := len(to.seen()); n != 60+asked {
					t.Errorf("%d requests, want %d", n, 60+asked)
				}
				if got := w.stored(h.ID); got.HeldSince != nil || got.HeldUntil != nil {
					t.Errorf("it is still held: %+v", got)
				}
			})
		})
	}
}

func (w *world) wantAllDelivered(id string, n int) {
	w.t.Helper()
	all := w.deliveries(id)
	if len(all) != n {
		w.t.Errorf("%d deliveries, want %d", len(all), n)
	}
	for _, d := range all {
		if d.Status != board.DeliveryDelivered {
			w.t.Errorf("%s is %s: %s, want %s", d.ID, d.Status, d.Reason, board.DeliveryDelivered)
			return
		}
	}
}

func TestRequestedPauseIsAtMostAnHour(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", always(429, "Retry-After", "999999"))
		w.webhook("receiver.test")
		w.engine()
		w.cards(20)
		pass(time.Hour - time.Second)
		first := len(to.seen())
		pass(2 * time.Second)
		if n := len(to.seen()); first > 8 || n != first+1 {
			t.Errorf("%d requests in the first hour and %d after it, want at most 8 and then one", first, n-first)
		}
	})
}

// Without Retry-After, the pauses between single requests grow to half a minute.
func Test429WithoutRetryAfterSlowsTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", askThenTake(time.Now().Add(10*time.Minute), 429, ""))
		h := w.webhook("receiver.test")
		w.engine()
		w.cards(60)
		pass(10 * time.Minute)
		if n := len(to.seen()); n < 15 || n > 35 {
			t.Errorf("%d requests in ten minutes of 429, want one every half minute", n)
		}
		pass(time.Hour)
		w.wantAllDelivered(h.ID, 60)
	})
}

// A 429 between failures does not reset the failure count.
func Test429DoesNotResetTheFailureCount(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", each(500, 500, 429, 500, 500))
		h := w.webhook("receiver.test")
		w.engine(func(o *hook.Options) { o.Pauses = []time.Duration{time.Hour} })
		for range 4 {
			w.card()
			pass(1500 * time.Millisecond)
		}
		w.cards(20)
		pass(1500 * time.Millisecond)
		if n := len(to.seen()); n > 6 { // the third failure is the second after the 429; from then on only probes are sent
			t.Errorf("%d requests; the number of consecutive failures was reset", n)
		}
		if w.stored(h.ID).HeldSince == nil {
			t.Error("the receiver does not count as failing")
		}
	})
}

// The next server, and this one after a restart, respects the pause. A test event sent by a
// person does not wait for it.
func TestPauseSurvivesARestart(t *testing.T) {
	outlives := func(t *testing.T, w *world) {
		until := time.Now().Add(10 * time.Minute)
		to := w.receiver("paused.test", askThenTake(until, 429, "600"))
		h := w.webhookFor(w.ada, app.CreateWebhookInput{URL: "http://paused.test/in", BoardID: w.board, Events: created})
		stop := w.engine()
		pass(10 * time.Second)
		w.cards(20)
		pass(10 * time.Second)
		asked := len(to.seen())
		stop()
		w.engine()
		pass(9 * time.Minute)
		if n := len(to.seen()); asked == 0 || n != asked {
			t.Errorf("%d requests before the restart and %d after it", asked, n-asked)
		}
		do(w, w.ada, app.TestWebhook, named(h.ID))
		pass(10 * time.Second)
		if n := len(to.seen()); n != asked+1 {
			t.Errorf("%d requests after a test event, want one more than %d", n, asked)
		}
		pass(30 * time.Minute)
		for _, d := range w.deliveries(h.ID) {
			if d.Status != board.DeliveryDelivered && d.Type != board.KindWebhookTest {
				t.Errorf("%s is %s: %s", d.ID, d.Status, d.Reason)
			}
		}
	}
	t.Run("sqlite", func(t *testing.T) { bubble(t, outlives) })
	t.Run("postgres", func(t *testing.T) {
		onPostgres(t, func(t *testing.T, c *cluster) { outlives(t, c.world) })
	})
}

// Responses to requests that were in progress when the receiver asked for a pause do not end
// it.
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
		pass(55 * time.Second)
		if n := len(to.seen()); n > 8 {
			t.Errorf("%d requests within the minute", n)
		}
	})
}

func TestLogReportsOversizedResponseHeaders(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.receiver("receiver.test", always(200, "X-Much", strings.Repeat("x", 40<<10)))
		h := w.webhook("receiver.test")
		w.engine()
		w.card()
		pass(time.Second)
		if d := w.only(h.ID); !strings.HasPrefix(d.Reason, "the response headers are larger than 32 KiB; next attempt") {
			t.Errorf("the log has the reason %q; want the prefix %q", d.Reason,
				"the response headers are larger than 32 KiB; next attempt")
		}
	})
}
