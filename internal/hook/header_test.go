package hook_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/store"
)

// withHeaders returns the input of a webhook of the board with headers, given as pairs of
// names and values.
func (w *world) withHeaders(url string, pairs ...string) app.CreateWebhookInput {
	in := app.CreateWebhookInput{URL: url, BoardID: w.board, Events: created}
	for i := 0; i < len(pairs); i += 2 {
		in.Headers = append(in.Headers, app.HeaderInput{Name: pairs[i], Value: &pairs[i+1]})
	}
	return in
}

// A webhook's headers are sent with each attempt, with tests and with redeliveries.
func TestHeadersAreSentWithEachRequest(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", func(nth int, rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader([]int{503, 400, 200, 200}[nth])
		})
		h := w.webhookFor(w.ada, w.withHeaders("http://receiver.test/in", "Authorization", "Bearer 3f9c", "x-team", "engine 1"))
		w.engine()
		w.card()
		advance(time.Minute) // a retry
		do(w, w.ada, app.Redeliver, app.DeliveryInput{DeliveryID: w.onlyDelivery(h.ID).ID})
		advance(time.Second)
		do(w, w.ada, app.TestWebhook, webhookInput(h.ID))
		advance(time.Second)
		got := to.received()
		if len(got) != 4 {
			t.Fatalf("got %d requests, want 4", len(got))
		}
		for i, p := range got {
			if a, x := p.header.Get("Authorization"), p.header.Get("X-Team"); a != "Bearer 3f9c" || x != "engine 1" {
				t.Errorf("request %d: got Authorization %q and X-Team %q, want Bearer 3f9c and engine 1", i, a, x)
			}
			wantSignedNow(t, h.Secret, p)
		}
	})
}

// A redirect is not followed, so its target gets neither the delivery nor the headers.
func TestHeadersAreNotSentToARedirectTarget(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.receiver("receiver.test", func(_ int, rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://other.test/in", http.StatusTemporaryRedirect)
		})
		other := w.receiver("other.test", nil)
		w.webhookFor(w.ada, w.withHeaders("http://receiver.test/in", "Authorization", "Bearer 3f9c"))
		w.engine()
		w.card()
		advance(48 * time.Hour)
		if got := other.received(); len(got) != 0 {
			t.Errorf("the redirect's target got %d requests, want none", len(got))
		}
	})
}

// A server of the version before ignores headers when it changes the URL of a webhook. They
// are not sent to another scheme, host or port than the one for which they were given.
func TestHeadersAreBoundToTheOriginOfTheURL(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to, other := w.receiver("receiver.test", nil), w.receiver("other.test", nil)
		h := w.webhookFor(w.ada, w.withHeaders("http://receiver.test/in", "Authorization", "Bearer 3f9c"))
		path := w.webhookFor(w.ada, w.withHeaders("http://receiver.test/in", "Authorization", "Bearer 3f9c"))
		do(w, w.ada, app.UpdateWebhook, app.UpdateWebhookInput{WebhookInput: webhookInput(path.ID), URL: "http://receiver.test/other"})
		w.engine()
		w.card()
		advance(time.Second)
		if got := to.received(); len(got) != 2 || got[0].header.Get("Authorization") == "" || got[1].header.Get("Authorization") == "" {
			t.Errorf("got requests %+v, want two with the header", got)
		}
		w.system(func(ctx context.Context, tx *store.Tx) error {
			moved, err := tx.Webhook(ctx, h.ID, false)
			if err != nil {
				return err
			}
			return tx.UpdateWebhook(ctx, &moved, "http://other.test/in")
		})
		w.card()
		advance(time.Second)
		if got := other.received(); len(got) != 1 || got[0].header.Get("Authorization") != "" {
			t.Errorf("the other receiver got requests %+v, want one without the header", got)
		}
	})
}
