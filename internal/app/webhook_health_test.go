package app_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// attempt is an attempt of a delivery in a test.
type attempt struct {
	age      time.Duration
	status   int   // 0 for no response
	duration int64 // in milliseconds
}

// sendTest writes a test delivery with attempts and returns its id.
func (w *world) sendTest(attempts ...attempt) string {
	w.T.Helper()
	id := w.make("test_webhook", fields{"webhookId": w.webhook()})
	o := store.Outcome{Dispatch: store.Dispatch{ID: id, WebhookID: w.hook, Attempts: len(attempts)}, Status: board.DeliveryFailed}
	for _, a := range attempts {
		entry := board.DeliveryAttempt{At: board.InstantOf(w.Clock.Now().Add(-a.age)), Duration: a.duration, Outcome: "connection refused"}
		if a.status != 0 {
			entry.HTTPStatus, entry.Outcome = &a.status, fmt.Sprint("HTTP ", a.status)
		}
		o.Log = append(o.Log, entry)
	}
	if err := w.DB.Record(context.Background(), []store.Outcome{o}, nil); err != nil {
		w.T.Fatalf("record: %v", err)
	}
	return id
}

func TestWebhookHealth(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		s.Clock.Advance(time.Hour - s.Clock.Now().Sub(s.Clock.Now().Truncate(time.Hour))) // to a full hour
		w := newWorld(s)
		day := 24 * time.Hour
		check := func(name, want string) {
			t.Helper()
			h := w.owner.Must("get_webhook_health", fields{"webhookId": w.webhook()})
			got := fmt.Sprintf("%v/%v %v %v %v", h.Get("succeeded"), h.Get("attempts"), h.Get("successRate"), h.Get("p50Ms"), h.Get("p95Ms"))
			for i := range h.Get("errors").([]any) {
				at := h.Text(fmt.Sprintf("errors.%d.at", i))
				when, err := time.Parse(time.RFC3339, at)
				if err != nil {
					t.Fatal(err)
				}
				got += fmt.Sprintf(" [%v %v]", s.Clock.Now().Sub(when).Round(time.Second), h.Text(fmt.Sprintf("errors.%d.outcome", i)))
			}
			if got != want {
				t.Errorf("%s: got %s, want %s", name, got, want)
			}
		}
		check("no deliveries", "0/0 <nil> <nil> <nil>")
		w.make("test_webhook", fields{"webhookId": w.webhook()})
		check("a pending delivery", "0/0 <nil> <nil> <nil>")
		// Another webhook's deliveries don't count.
		w.make("test_webhook", fields{"webhookId": w.make("create_webhook", w.newWebhook())})
		first := w.sendTest(attempt{day + time.Second, 500, 9000}, attempt{day, 503, 40}, attempt{time.Hour, 204, 20})
		second := w.sendTest(attempt{2 * time.Hour, 0, 10000}, attempt{time.Minute, 404, 300})
		for range 16 {
			w.sendTest(attempt{time.Second, 200, 10})
		}
		// Durations of the 19 responses: 16 of 10 ms, 20, 40 and 300 ms. The 10th is 10 ms, the 19th 300 ms.
		check("deliveries", "17/20 0.85 10 300 [1m0s HTTP 404] [2h0m0s connection refused] [24h0m0s HTTP 503]")
		h := w.owner.Must("get_webhook_health", fields{"webhookId": w.webhook()})
		if h.Text("errors.0.deliveryId") != second || h.Text("errors.2.deliveryId") != first || h.Get("errors.1.httpStatus") != nil ||
			h.Get("errors.0.httpStatus") != 404.0 {
			t.Errorf("the errors are %s, want those of %s and %s", h.Raw, second, first)
		}
		if got, want := h.Text("since"), s.Clock.Now().Add(-day).UTC().Format("2006-01-02T15:04:05.000Z"); got != want {
			t.Errorf("since is %s, want %s", got, want)
		}
		since := h.Text("since")
		s.Clock.Advance(time.Hour - time.Second)
		if h := w.owner.Must("get_webhook_health", fields{"webhookId": w.webhook()}); h.Text("since") != since || h.Get("attempts") != 20.0 {
			t.Errorf("an hour later: got %s, want the same period", h.Raw)
		}
		// Only the last 100 deliveries count. The period begins with the first of them.
		s.Clock.Advance(time.Minute)
		oldest := s.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z")
		for range 100 {
			w.sendTest(attempt{0, 200, 30})
			s.Clock.Advance(time.Second)
		}
		check("a full log", "100/100 1 30 30")
		if h := w.owner.Must("get_webhook_health", fields{"webhookId": w.webhook()}); h.Text("since") != oldest {
			t.Errorf("since is %s, want the time of the oldest delivery, %s", h.Text("since"), oldest)
		}
	})
}
