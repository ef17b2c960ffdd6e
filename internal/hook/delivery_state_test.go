package hook_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/hook"
)

func TestStatesOfAFailingDelivery(t *testing.T) {
	runRows(t, []row{
		{"pending retry, timeout, 429 or 5xx response, retries remain: pending retry, next attempt after the next pause",
			func(t *testing.T, w *world) {
				for i, respond := range []func(int, http.ResponseWriter, *http.Request){hang, always(429), always(500), always(502),
					always(599)} {
					host := fmt.Sprintf("receiver-%d.test", i)
					to := w.receiver(host, respond)
					h := w.webhook(host)
					stop := w.engine()
					w.card()
					advance(11 * time.Second)
					first := w.onlyDelivery(h.ID)
					advance(40 * time.Second)
					second := w.onlyDelivery(h.ID)
					stop()
					if first.Status != board.DeliveryRetry || first.Attempts != 1 || second.Status != board.DeliveryRetry ||
						second.Attempts != 2 {
						t.Errorf("%s: got %s after %d attempts, then %s after %d; want pending retry after 1 and 2", host,
							first.Status, first.Attempts, second.Status, second.Attempts)
					}
					wantPauses(t, to.received(), pauses[0])
					do(w, w.ada, app.DeleteWebhook, webhookInput(h.ID))
				}
			}},
		{"pending retry, last retry fails, about one day after the first attempt: gave up", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", always(500))
			h := w.webhook("receiver.test")
			w.engine()
			w.card()
			begun := time.Now()
			advance(22 * time.Hour)
			w.wantStatus(h.ID, board.DeliveryRetry)
			advance(time.Hour)
			w.wantStatus(h.ID, board.DeliveryGaveUp)
			if posts := to.received(); len(posts) != 9 || posts[8].at.Sub(begun) < 22*time.Hour {
				t.Errorf("got %d attempts, want 9, the last of them after at least 22 hours", len(posts))
			}
			advance(13 * time.Hour)
			if n := len(to.received()); n != 9 {
				t.Errorf("got %d attempts in total after the delivery was given up, want 9", n)
			}
		}},
		{"any, other 4xx response or a redirect: failed, no retry, and the redirect is not followed",
			func(t *testing.T, w *world) {
				target := w.receiver("elsewhere.test", nil)
				for _, status := range []int{300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 408, 409, 413, 425, 451} {
					host := fmt.Sprintf("status-%d.test", status)
					to := w.receiver(host, always(status, "Location", "http://elsewhere.test/"))
					h := w.webhook(host)
					stop := w.engine()
					w.card()
					advance(time.Hour)
					stop()
					if d := w.onlyDelivery(h.ID); d.Status != board.DeliveryFailed || d.Attempts != 1 ||
						!strings.HasPrefix(d.Reason, fmt.Sprintf("HTTP %d", status)) || d.EndedAt == nil {
						t.Errorf("status %d: got %s after %d attempts, reason %q; want failed after 1, with the status in the reason",
							status, d.Status, d.Attempts, d.Reason)
					}
					if n := len(to.received()); n != 1 {
						t.Errorf("status %d: got %d attempts, want 1", status, n)
					}
					do(w, w.ada, app.DeleteWebhook, webhookInput(h.ID))
				}
				if n := len(target.received()); n > 0 {
					t.Errorf("got %d requests at the target of a redirect, want 0", n)
				}
			}},
		{"any, refused by the address rule: failed, no retry", func(t *testing.T, w *world) {
			h := w.webhook("127.0.0.1") // allowed when it was saved
			guard := newGuard(t, nil)
			w.engine(func(o *hook.Options) { o.Guard, o.Dial = guard, nil })
			w.card()
			advance(time.Hour)
			if d := w.onlyDelivery(h.ID); d.Status != board.DeliveryFailed || d.Attempts != 1 ||
				!strings.HasPrefix(d.Reason, "refused: ") {
				t.Errorf("got %s after %d attempts, reason %q; want refused and failed after 1", d.Status, d.Attempts, d.Reason)
			}
			w.wantOn(h.ID, 1)
		}},
		{"any, the operator has removed the exception for its address: failed, no retry", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", nil)
			h := w.webhook("receiver.test")
			guard := newGuard(t, nil)
			w.engine(func(o *hook.Options) { o.Guard = guard })
			w.card()
			advance(time.Hour)
			if d := w.onlyDelivery(h.ID); d.Status != board.DeliveryFailed || d.Attempts != 1 ||
				d.Reason != "refused: the address is not allowed" || len(to.received()) > 0 {
				t.Errorf("got %s after %d attempts, reason %q; want failed after 1 and nothing sent", d.Status, d.Attempts,
					d.Reason)
			}
		}},
	})
}

func TestStatesOfASkippedOrRedeliveredDelivery(t *testing.T) {
	runRows(t, []row{
		{"daily delivery limit of the organization reached: skipped, marked in the log", func(t *testing.T, w *world) {
			w.workspace = do(w, w.ada, app.AddWorkspace, app.NewWorkspace{Name: "Free", Plan: board.PlanFree}).ID
			w.board, w.list = w.newBoard(w.workspace)
			to := w.receiver("receiver.test", nil)
			h := w.webhook("receiver.test")
			w.engine()
			w.spendQuota(499)
			w.card()
			w.card()
			advance(time.Minute)
			log := w.deliveries(h.ID)
			if log[0].Status != board.DeliveryDelivered || log[1].Status != board.DeliverySkipped ||
				log[1].Reason != "the organization's limit of 500 deliveries a day is reached" || log[1].EndedAt == nil ||
				len(to.received()) != 1 {
				t.Errorf("got %s and %s (%q) with %d sent; want delivered and skipped with 1 sent", log[0].Status,
					log[1].Status, log[1].Reason, len(to.received()))
			}
			if _, err := try(w, w.ada, app.Redeliver, app.DeliveryInput{DeliveryID: log[1].ID}); !board.IsCode(err,
				board.CodePlanLimit) {
				t.Errorf("redelivering on the same day: got error %v, want code %s", err, board.CodePlanLimit)
			}
			do(w, w.ada, app.TestWebhook, webhookInput(h.ID)) // test events are always delivered
			advance(24 * time.Hour)
			do(w, w.ada, app.Redeliver, app.DeliveryInput{DeliveryID: log[1].ID})
			w.card()
			advance(time.Minute)
			if n := len(to.received()); n != 4 {
				t.Errorf("got %d deliveries, want 4: the first, the test, the redelivered one and the next day's", n)
			}
		}},
		{"failed, person chooses Send again: delivered again", redeliver(board.DeliveryFailed, 400)},
		{"gave up, person chooses Send again: delivered again", redeliver(board.DeliveryGaveUp, 500)},
		{"skipped, person chooses Send again: delivered again", redeliver(board.DeliverySkipped, 0)},
	})
}

func TestStatesOfATestEvent(t *testing.T) {
	runRows(t, []row{
		{"test event: sent once, even if it is not subscribed to and the webhook is off", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", sequence(200, 200, 500, 429))
			h := w.webhook("receiver.test")
			w.engine()
			for i := range 4 {
				if i == 1 {
					do(w, w.ada, app.PauseWebhook, webhookInput(h.ID))
				}
				do(w, w.ada, app.TestWebhook, webhookInput(h.ID))
				advance(time.Hour)
			}
			w.wantStatus(h.ID, board.DeliveryDelivered, board.DeliveryDelivered, board.DeliveryFailed, board.DeliveryFailed)
			w.wantOff(h.ID, board.OffPaused)
			if got := w.stored(h.ID); got.Failures != 0 || len(to.received()) != 4 {
				t.Errorf("got %d tests and %d failures, want 4 and 0", len(to.received()), got.Failures)
			}
			for _, p := range to.received() {
				wantSignedNow(t, h.Secret, p)
				if want := fmt.Sprintf(`"data":{"webhookId":%q}`, h.ID); p.kind != board.KindWebhookTest ||
					!strings.Contains(string(p.body), want) {
					t.Errorf("got kind %s and body %s, want %s and a body with %s", p.kind, p.body, board.KindWebhookTest, want)
				}
			}
		}},
		{"test event: sent although the webhook's owner has left", func(t *testing.T, w *world) {
			h, to := w.webhookOfAdmin()
			do(w, h.OwnerID, app.RemoveMember, app.RemoveMemberInput{WorkspaceInput: w.workspaceInput(), UserID: h.OwnerID})
			w.engine()
			do(w, w.ada, app.TestWebhook, webhookInput(h.ID))
			advance(time.Second)
			w.wantStatus(h.ID, board.DeliveryDelivered)
			if n := len(to.received()); n != 1 {
				t.Errorf("got %d tests, want 1", n)
			}
			w.wantOff(h.ID, board.OffOwner)
		}},
	})
}

// redeliver returns a test in which a delivery ends with a status. A person then redelivers it, and
// the retry of the redelivery succeeds.
func redeliver(ended board.DeliveryStatus, status int) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", always(status))
		h := w.webhook("receiver.test")
		w.card()
		if ended == board.DeliverySkipped {
			w.setVisibility(board.Confidential)
		}
		w.engine()
		advance(24 * time.Hour)
		before := w.onlyDelivery(h.ID)
		if before.Status != ended {
			t.Fatalf("got status %s, want %s", before.Status, ended)
		}
		w.setVisibility(board.VisibleToWorkspace)
		sent := len(to.received())
		to.respondWith(func(nth int, w http.ResponseWriter, r *http.Request) { sequence(500, 200)(nth-sent, w, r) })
		if d := do(w, w.ada, app.Redeliver,
			app.DeliveryInput{DeliveryID: before.ID}); d.Status != board.DeliveryPending || d.Attempts != 0 {
			t.Errorf("got %s after %d attempts, want pending after 0", d.Status, d.Attempts)
		}
		advance(time.Hour)
		after, posts := w.onlyDelivery(h.ID), to.received()[sent:]
		if after.Status != board.DeliveryDelivered || after.Attempts != 2 || after.ID != before.ID ||
			after.Body != before.Body {
			t.Errorf("got %s after %d attempts, want the same delivery delivered after 2", after.Status, after.Attempts)
		}
		wantPauses(t, posts, pauses[0])
		for _, p := range posts {
			wantSignedNow(t, h.Secret, p)
			if p.header.Get(hook.HeaderID) != before.ID || !bytes.Equal(p.body, []byte(before.Body)) {
				t.Errorf("got redelivery %s, want the same ID and body", p.body)
			}
		}
		if _, err := try(w, w.ada, app.Redeliver, app.DeliveryInput{DeliveryID: before.ID}); err == nil {
			t.Error("redelivering a successful delivery: got no error, want one")
		}
	}
}
