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

func TestStatesOfADelivery(t *testing.T) {
	runRows(t, []row{
		{"pending retry, timeout, 429 or 5xx response, retries remain: pending retry, next attempt after the next pause",
			func(t *testing.T, w *world) {
				for i, answer := range []func(int, http.ResponseWriter, *http.Request){hang, always(429), always(500), always(502),
					always(599)} {
					host := fmt.Sprintf("receiver-%d.test", i)
					to := w.receiver(host, answer)
					h := w.webhook(host)
					stop := w.engine()
					w.card()
					pass(11 * time.Second)
					first := w.only(h.ID)
					pass(40 * time.Second)
					second := w.only(h.ID)
					stop()
					if first.Status != board.DeliveryRetry || first.Attempts != 1 || second.Status != board.DeliveryRetry ||
						second.Attempts != 2 {
						t.Errorf("%s: the delivery is %s after %d and %s after %d", host, first.Status, first.Attempts, second.Status,
							second.Attempts)
					}
					wantPauses(t, to.seen(), pauses[0])
					do(w, w.ada, app.DeleteWebhook, named(h.ID))
				}
			}},
		{"pending retry, last retry fails, about one day after the first attempt: gave up", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", always(500))
			h := w.webhook("receiver.test")
			w.engine()
			w.card()
			begun := time.Now()
			pass(22 * time.Hour)
			w.wantStatus(h.ID, board.DeliveryRetry)
			pass(time.Hour)
			w.wantStatus(h.ID, board.DeliveryGaveUp)
			if posts := to.seen(); len(posts) != 9 || posts[8].at.Sub(begun) < 22*time.Hour {
				t.Errorf("the delivery gave up after %d attempts", len(posts))
			}
			pass(13 * time.Hour)
			if n := len(to.seen()); n != 9 {
				t.Errorf("there were %d attempts, nine before it gave up, want 9", n)
			}
		}},
		{"any, other 4xx response or a redirect: failed, no retry, and the redirect is not followed",
			func(t *testing.T, w *world) {
				elsewhere := w.receiver("elsewhere.test", nil)
				for _, status := range []int{300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 408, 409, 413, 425, 451} {
					host := fmt.Sprintf("answers-%d.test", status)
					to := w.receiver(host, always(status, "Location", "http://elsewhere.test/"))
					h := w.webhook(host)
					stop := w.engine()
					w.card()
					pass(time.Hour)
					stop()
					if d := w.only(h.ID); d.Status != board.DeliveryFailed || d.Attempts != 1 ||
						!strings.HasPrefix(d.Reason, fmt.Sprintf("HTTP %d", status)) || d.EndedAt == nil {
						t.Errorf("status %d: the delivery is %s after %d attempts, %q", status, d.Status, d.Attempts, d.Reason)
					}
					if n := len(to.seen()); n != 1 {
						t.Errorf("status %d: there were %d attempts, want 1", status, n)
					}
					do(w, w.ada, app.DeleteWebhook, named(h.ID))
				}
				if n := len(elsewhere.seen()); n > 0 {
					t.Errorf("a redirect was followed %d times", n)
				}
			}},
		{"any, refused by the address rule: failed, no retry", func(t *testing.T, w *world) {
			h := w.webhook("127.0.0.1") // allowed when it was saved
			guard := newGuard(t, nil)
			w.engine(func(o *hook.Options) { o.Guard, o.Dial = guard, nil })
			w.card()
			pass(time.Hour)
			if d := w.only(h.ID); d.Status != board.DeliveryFailed || d.Attempts != 1 ||
				!strings.HasPrefix(d.Reason, "refused: ") {
				t.Errorf("the delivery is %s after %d attempts, %q", d.Status, d.Attempts, d.Reason)
			}
			w.wantOn(h.ID, 1)
		}},
		{"any, the operator's exception for its address is gone: failed, no retry", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", nil)
			h := w.webhook("receiver.test")
			guard := newGuard(t, nil)
			w.engine(func(o *hook.Options) { o.Guard = guard })
			w.card()
			pass(time.Hour)
			if d := w.only(h.ID); d.Status != board.DeliveryFailed || d.Attempts != 1 ||
				d.Reason != "refused: the address is not allowed" || len(to.seen()) > 0 {
				t.Errorf("the delivery is %s after %d attempts, %q", d.Status, d.Attempts, d.Reason)
			}
		}},
		{"daily delivery limit of the organization reached: skipped, marked in the log", func(t *testing.T, w *world) {
			w.workspace = do(w, w.ada, app.AddWorkspace, app.NewWorkspace{Name: "Free", Plan: board.PlanFree}).ID
			w.board, w.list = w.newBoard(w.workspace)
			to := w.receiver("receiver.test", nil)
			h := w.webhook("receiver.test")
			w.engine()
			w.spendQuota(499)
			w.card()
			w.card()
			pass(time.Minute)
			last := w.deliveries(h.ID)
			if last[0].Status != board.DeliveryDelivered || last[1].Status != board.DeliverySkipped ||
				last[1].Reason != "the organization's limit of 500 deliveries a day is reached" || last[1].EndedAt == nil ||
				len(to.seen()) != 1 {
				t.Errorf("the last two are %s and %s (%q); %d were sent", last[0].Status, last[1].Status, last[1].Reason,
					len(to.seen()))
			}
			if _, err := try(w, w.ada, app.SendDeliveryAgain, app.DeliveryInput{DeliveryID: last[1].ID}); !board.IsCode(err,
				board.CodePlanLimit) {
				t.Errorf("redelivering on the same day: got error %v, want code %s", err, board.CodePlanLimit)
			}
			do(w, w.ada, app.TestWebhook, named(h.ID)) // always delivered
			pass(24 * time.Hour)
			do(w, w.ada, app.SendDeliveryAgain, app.DeliveryInput{DeliveryID: last[1].ID})
			w.card()
			pass(time.Minute)
			if n := len(to.seen()); n != 4 {
				t.Errorf("%d were sent, want the test, the redelivered one and the next day's", n)
			}
		}},
		{"failed, person chooses Send again: delivered again", sendAgain(board.DeliveryFailed, 400)},
		{"gave up, person chooses Send again: delivered again", sendAgain(board.DeliveryGaveUp, 500)},
		{"skipped, person chooses Send again: delivered again", sendAgain(board.DeliverySkipped, 0)},
		{"test event: sent once, even if it is not subscribed to and the webhook is off", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", each(200, 200, 500, 429))
			h := w.webhook("receiver.test")
			w.engine()
			for i := range 4 {
				if i == 1 {
					do(w, w.ada, app.PauseWebhook, named(h.ID))
				}
				do(w, w.ada, app.TestWebhook, named(h.ID))
				pass(time.Hour)
			}
			w.wantStatus(h.ID, board.DeliveryDelivered, board.DeliveryDelivered, board.DeliveryFailed, board.DeliveryFailed)
			w.wantOff(h.ID, board.OffPaused)
			if got := w.stored(h.ID); got.Failures != 0 || len(to.seen()) != 4 {
				t.Errorf("%d tests were sent, failures %d", len(to.seen()), got.Failures)
			}
			for _, p := range to.seen() {
				wantSignedNow(t, h.Secret, p)
				if want := fmt.Sprintf(`"data":{"webhookId":%q}`, h.ID); p.kind != board.KindWebhookTest ||
					!strings.Contains(string(p.body), want) {
					t.Errorf("the test is %s", p.body)
				}
			}
		}},
		{"test event: sent although the webhook's owner has left", func(t *testing.T, w *world) {
			h, to := w.ofLeaver()
			do(w, h.OwnerID, app.RemoveMember, app.RemoveMemberInput{WorkspaceInput: w.inWorkspace(), UserID: h.OwnerID})
			w.engine()
			do(w, w.ada, app.TestWebhook, named(h.ID))
			pass(time.Second)
			w.wantStatus(h.ID, board.DeliveryDelivered)
			if n := len(to.seen()); n != 1 {
				t.Errorf("%d tests were sent, want 1", n)
			}
			w.wantOff(h.ID, board.OffOwner)
		}},
	})
}

// sendAgain lets a delivery fail or be skipped, and then redelivers it to a receiver
// that works.
func sendAgain(ended board.DeliveryStatus, status int) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", always(status))
		h := w.webhook("receiver.test")
		w.card()
		if ended == board.DeliverySkipped {
			w.see(board.Confidential)
		}
		w.engine()
		pass(24 * time.Hour)
		before := w.only(h.ID)
		if before.Status != ended {
			t.Fatalf("the delivery is %s, want %s", before.Status, ended)
		}
		w.see(board.VisibleToWorkspace)
		sent := len(to.seen())
		to.then(func(nth int, w http.ResponseWriter, r *http.Request) { each(500, 200)(nth-sent, w, r) })
		if d := do(w, w.ada, app.SendDeliveryAgain,
			app.DeliveryInput{DeliveryID: before.ID}); d.Status != board.DeliveryPending || d.Attempts != 0 {
			t.Errorf("the delivery is %s after %d attempts, want pending after 0", d.Status, d.Attempts)
		}
		pass(time.Hour)
		after, posts := w.only(h.ID), to.seen()[sent:]
		if after.Status != board.DeliveryDelivered || after.Attempts != 2 || after.ID != before.ID ||
			after.Body != before.Body {
			t.Errorf("the delivery is %s after %d attempts", after.Status, after.Attempts)
		}
		wantPauses(t, posts, pauses[0])
		for _, p := range posts {
			wantSignedNow(t, h.Secret, p)
			if p.header.Get(hook.HeaderID) != before.ID || !bytes.Equal(p.body, []byte(before.Body)) {
				t.Errorf("it was redelivered as %s", p.body)
			}
		}
		if _, err := try(w, w.ada, app.SendDeliveryAgain, app.DeliveryInput{DeliveryID: before.ID}); err == nil {
			t.Error("a delivered delivery was sent again")
		}
	}
}
