package hook_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/hook"
	"cardwall/internal/store"
)

// row is a row of the specification's table of states and transitions, in its wording.
type row struct {
	name string
	test func(t *testing.T, w *world)
}

func runRows(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { bubble(t, r.test) })
	}
}

// wantOff checks that a webhook is off for a reason.
func (w *world) wantOff(id string, why board.Off) {
	w.t.Helper()
	if h := w.look(id); h.On || h.OffReason == nil || *h.OffReason != why || h.OffAt == nil {
		w.t.Errorf("the webhook is on=%t, off since %v because of %v; want off because of %s", h.On, h.OffAt,
			h.OffReason, why)
	}
}

func (w *world) wantOn(id string, failures int) {
	w.t.Helper()
	if h := w.look(id); !h.On || h.OffReason != nil || h.Failures != failures {
		w.t.Errorf("the webhook is on=%t with %d consecutive failures, want on with %d", h.On, h.Failures, failures)
	}
}

// emails takes the emails that are due.
func (w *world) emails() (out []board.Email) {
	w.t.Helper()
	for {
		l := do(w, "", app.NextEmail, time.Hour)
		if l == nil {
			return out
		}
		out = append(out, *l)
	}
}

// wantDisabledEmail checks that one email is due, which tells a person why a webhook was
// disabled.
func (w *world) wantDisabledEmail(to string, why board.Off, path string) {
	w.t.Helper()
	l := w.emails()
	if len(l) != 1 || l[0].Kind != board.EmailWebhookDisabled || l[0].To != to || l[0].Webhook == nil ||
		l[0].Webhook.Reason != why || l[0].Link != baseURL+path {
		w.t.Errorf("the emails are %+v, want one to %s with the reason %s and a link to %s", l, to, why, path)
	}
}

// fail makes n deliveries of the webhook fail, one after the other.
func (w *world) fail(n int) {
	w.t.Helper()
	for range n {
		w.card()
		pass(time.Second)
	}
}

func TestStatesOfAWebhook(t *testing.T) {
	runRows(t, []row{
		{"on, 10 consecutive failed deliveries: off, and its owner is emailed a link to the last failed delivery",
			func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", always(400))
				h := w.webhook("receiver.test")
				w.engine()
				w.fail(9)
				w.wantOn(h.ID, 9)
				if l := w.emails(); len(l) > 0 {
					t.Errorf("an email was written after nine: %+v", l)
				}
				w.fail(1)
				w.wantOff(h.ID, board.OffFailures)
				l := w.emails()
				last := baseURL + "/webhooks/" + h.ID + "/deliveries?delivery=" + url.QueryEscape(to.ids()[9])
				if len(l) != 1 || l[0].Kind != board.EmailWebhookDisabled || l[0].To != "ada@example.com" || l[0].Link != last {
					t.Errorf("the emails are %+v", l)
				}
				w.fail(2)
				if n := len(to.seen()); n != 10 {
					t.Errorf("%d deliveries were sent, 10 before it was off, want 10", n)
				}
			}},
		{"on, a delivery that gives up counts as one failure, whatever its attempts", func(t *testing.T, w *world) {
			w.receiver("receiver.test", always(500))
			h := w.webhook("receiver.test")
			w.engine()
			w.cards(2)
			pass(time.Hour)
			w.wantOn(h.ID, 0)
			pass(24 * time.Hour)
			w.wantStatus(h.ID, board.DeliveryGaveUp, board.DeliveryGaveUp)
			w.wantOn(h.ID, 2)
		}},
		{"on, a delivered one resets the failure count", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", always(400))
			h := w.webhook("receiver.test")
			w.engine()
			w.fail(9)
			to.then(always(204))
			w.fail(1)
			w.wantOn(h.ID, 0)
			to.then(always(400))
			w.fail(9)
			w.wantOn(h.ID, 9)
			if l := w.emails(); len(l) > 0 {
				t.Errorf("emails were written: %+v", l)
			}
		}},
		{"on, 429 responses and skipped deliveries never count", func(t *testing.T, w *world) {
			w.receiver("receiver.test", always(429))
			h := w.webhook("receiver.test")
			w.engine()
			w.cards(12)
			pass(24 * time.Hour)
			for _, d := range w.deliveries(h.ID) {
				if d.Status != board.DeliveryGaveUp || d.Attempts != 9 {
					t.Fatalf("a delivery is %s after %d attempts", d.Status, d.Attempts)
				}
			}
			w.wantOn(h.ID, 0)
			w.spendQuota(board.PlanBusiness.Limits().DeliveriesPerDay)
			w.cards(12)
			pass(time.Minute)
			w.wantOn(h.ID, 0)
		}},
		{"on, receiver responds 410 to any delivery: off, immediate", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", each(200, 410))
			h := w.webhook("receiver.test")
			w.engine()
			w.card()
			pass(time.Second)
			w.wantOn(h.ID, 0)
			w.card()
			pass(time.Second)
			w.wantOff(h.ID, board.OffGone)
			w.wantStatus(h.ID, board.DeliveryDelivered, board.DeliveryFailed)
			w.card()
			pass(time.Hour)
			if n := len(to.seen()); n != 2 {
				t.Errorf("%d were sent, want 2", n)
			}
			w.wantDisabledEmail("ada@example.com", board.OffGone,
				"/webhooks/"+h.ID+"/deliveries?delivery="+url.QueryEscape(to.ids()[1]))
		}},
		{"on, receiver responds 410 to a test event: off", func(t *testing.T, w *world) {
			w.receiver("receiver.test", always(410))
			h := w.webhook("receiver.test")
			w.engine()
			do(w, w.ada, app.TestWebhook, named(h.ID))
			pass(time.Second)
			w.wantOff(h.ID, board.OffGone)
		}},
		{"on, owner can no longer manage the webhook's boards: off when a role in the workspace changes",
			func(_ *testing.T, w *world) {
				h, _ := w.ofLeaver()
				do(w, w.ada, app.ChangeMember,
					app.ChangeMemberInput{WorkspaceInput: w.inWorkspace(), UserID: h.OwnerID, Role: board.WorkspaceMember})
				w.wantOff(h.ID, board.OffOwner)
				w.wantDisabledEmail("bob@example.com", board.OffOwner, "/workspaces/"+w.workspace+"/members")
			}},
		{"on, owner can no longer manage the webhook's boards: off when the owner leaves", func(_ *testing.T, w *world) {
			h, _ := w.ofLeaver()
			do(w, h.OwnerID, app.RemoveMember, app.RemoveMemberInput{WorkspaceInput: w.inWorkspace(), UserID: h.OwnerID})
			w.wantOff(h.ID, board.OffOwner)
			w.wantDisabledEmail("bob@example.com", board.OffOwner, "/")
		}},
		{"on, owner can no longer manage the webhook's boards: off when a role on the board changes",
			func(_ *testing.T, w *world) {
				h, _ := w.ofBoardAdmin()
				w.wantOn(h.ID, 0)
				do(w, w.ada, app.RemoveBoardMember, app.RemoveBoardMemberInput{BoardInput: w.onBoard(), UserID: h.OwnerID})
				w.wantOff(h.ID, board.OffOwner)
			}},
		{"on, owner can no longer manage the webhook's boards: off when the board becomes private",
			func(_ *testing.T, w *world) {
				bob := w.person("bob")
				w.joins(bob, board.WorkspaceAdmin)
				h := w.webhookFor(bob, app.CreateWebhookInput{URL: "http://receiver.test/in", BoardID: w.board, Events: created})
				w.see(board.Private)
				w.wantOff(h.ID, board.OffOwner)
			}},
		{"on, owner can no longer manage the webhook's boards: off at the attempt", func(t *testing.T, w *world) {
			h, to := w.ofLeaver()
			w.card()
			w.sql("UPDATE workspace_members SET role = 'member' WHERE user_id = $1", h.OwnerID)
			w.wantOn(h.ID, 0)
			w.engine()
			pass(time.Second)
			w.wantOff(h.ID, board.OffOwner)
			w.wantDisabledEmail("bob@example.com", board.OffOwner, "/workspaces/"+w.workspace+"/members")
			w.wantStatus(h.ID, board.DeliverySkipped)
			if n := len(to.seen()); n > 0 {
				t.Errorf("%d were sent", n)
			}
		}},
		{"on, owner leaves between two attempts: off, and the retry is not sent", func(t *testing.T, w *world) {
			h, to := w.ofLeaver()
			to.then(always(500))
			w.engine()
			w.card()
			pass(time.Second)
			w.sql("DELETE FROM workspace_members WHERE user_id = $1", h.OwnerID)
			pass(time.Hour)
			w.wantOff(h.ID, board.OffOwner)
			w.wantStatus(h.ID, board.DeliverySkipped)
			if n := len(to.seen()); n != 1 {
				t.Errorf("%d were sent, want 1", n)
			}
		}},
		{"on, its owner is an admin of its board alone: stays on", func(t *testing.T, w *world) {
			h, to := w.ofBoardAdmin()
			w.engine()
			w.card()
			pass(time.Second)
			w.wantOn(h.ID, 0)
			if n := len(to.seen()); n != 1 {
				t.Errorf("%d were sent, want 1", n)
			}
		}},
		{"off, enabled by a person, receiver works: on, the failure count resets and the person becomes its owner",
			func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", always(400))
				h := w.webhook("receiver.test")
				w.engine()
				w.fail(10)
				w.wantOff(h.ID, board.OffFailures)
				to.then(nil)
				bob := w.person("bob")
				w.joins(bob, board.WorkspaceAdmin)
				test := do(w, bob, app.SwitchOnWebhook, named(h.ID))
				pass(time.Second)
				w.wantOn(h.ID, 0)
				if owner := w.look(h.ID).OwnerID; owner != bob {
					t.Errorf("its owner is %s, want the person who enabled it, %s", owner, bob)
				}
				last := to.seen()[10]
				if last.id != test.ID || last.kind != board.KindWebhookTest {
					t.Errorf("it was enabled by %s %s, want the test %s", last.kind, last.id, test.ID)
				}
				if l := w.emails(); len(l) > 0 {
					t.Errorf("an email says that the webhook is off: %+v", l)
				}
				w.card()
				pass(time.Second)
				if n := len(to.seen()); n != 12 {
					t.Errorf("%d were sent, want another one", n)
				}
			}},
		{"off, enabled by a person, receiver fails: stays off", func(t *testing.T, w *world) {
			for _, status := range []int{400, 429, 500, 302} {
				host := fmt.Sprintf("answers-%d.test", status)
				to := w.receiver(host, always(status, "Location", "http://elsewhere.test/"))
				h := w.webhook(host)
				do(w, w.ada, app.PauseWebhook, named(h.ID))
				stop := w.engine()
				bob := w.person(fmt.Sprint("bob", status))
				w.joins(bob, board.WorkspaceAdmin)
				do(w, bob, app.SwitchOnWebhook, named(h.ID))
				pass(time.Hour)
				stop()
				w.wantOff(h.ID, board.OffPaused)
				w.wantStatus(h.ID, board.DeliveryFailed)
				if got := w.look(h.ID); got.OwnerID != w.ada || got.Failures != 0 || len(to.seen()) != 1 {
					t.Errorf("after %d its owner is %s, failures %d, tests sent %d", status, got.OwnerID, got.Failures, len(to.seen()))
				}
			}
		}},
		{"on, its board becomes confidential: on, but sends nothing; it can still be paused or deleted",
			func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", nil)
				h, other := w.webhook("receiver.test"), w.webhook("receiver.test")
				w.card() // created before, not sent yet
				w.see(board.Confidential)
				w.card()
				w.engine()
				pass(time.Hour)
				if n := len(to.seen()); n > 0 {
					t.Errorf("%d were sent", n)
				}
				w.wantOn(h.ID, 0)
				w.wantStatus(h.ID, board.DeliverySkipped)
				for name, fn := range map[string]func(context.Context, *store.Tx, app.WebhookInput) (board.Delivery, error){
					"test": app.TestWebhook, "switch on": app.SwitchOnWebhook,
				} {
					if _, err := try(w, w.ada, fn, named(h.ID)); err == nil {
						t.Errorf("%s of a confidential board's webhook was accepted", name)
					}
				}
				do(w, w.ada, app.PauseWebhook, named(h.ID))
				w.wantOff(h.ID, board.OffPaused)
				do(w, w.ada, app.DeleteWebhook, named(other.ID))
			}},
		{"on, a board becomes private: the workspace's webhook does not send its events", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", nil)
			h := w.webhookFor(w.ada,
				app.CreateWebhookInput{URL: "http://receiver.test/in", WorkspaceID: w.workspace, Events: created})
			w.card() // created before, not sent yet
			w.see(board.Private)
			w.card()
			w.engine()
			pass(time.Hour)
			w.wantOn(h.ID, 0)
			w.wantStatus(h.ID, board.DeliverySkipped)
			w.see(board.VisibleToWorkspace)
			w.card()
			pass(time.Second)
			if n := len(to.seen()); n != 1 {
				t.Errorf("%d were sent, want 1", n)
			}
		}},
		{"on, paused by a person: pending deliveries are skipped", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", always(500))
			h := w.webhook("receiver.test")
			w.engine()
			w.card()
			pass(time.Second)
			do(w, w.ada, app.PauseWebhook, named(h.ID))
			w.card()
			pass(time.Hour)
			w.wantStatus(h.ID, board.DeliverySkipped)
			if d := w.only(h.ID); d.Reason != "the webhook is off" || len(to.seen()) != 1 {
				t.Errorf("the log has the reason %q after %d attempts", d.Reason, len(to.seen()))
			}
		}},
		{"on, deleted: pending deliveries are not sent and leave nothing", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", always(500))
			h := w.webhook("receiver.test")
			w.engine()
			w.cards(3)
			pass(time.Second)
			do(w, w.ada, app.DeleteWebhook, named(h.ID))
			pass(time.Hour)
			if n := len(to.seen()); n != 3 {
				t.Errorf("%d were sent, want 3", n)
			}
		}},
	})
}

var created = []board.Kind{board.KindCardCreated}

// ofLeaver returns a webhook of a second person who manages the workspace and will leave it.
func (w *world) ofLeaver() (board.WebhookSecret, *receiver) {
	w.t.Helper()
	bob := w.person("bob")
	w.joins(bob, board.WorkspaceAdmin)
	to := w.receiver("receiver.test", nil)
	return w.webhookFor(bob,
		app.CreateWebhookInput{URL: "http://receiver.test/in", WorkspaceID: w.workspace, Events: created}), to
}

// ofBoardAdmin returns a webhook of a person who administers only its board.
func (w *world) ofBoardAdmin() (board.WebhookSecret, *receiver) {
	w.t.Helper()
	bob := w.person("bob")
	w.joins(bob, board.WorkspaceMember)
	do(w, w.ada, app.ShareBoard, app.ShareBoardInput{BoardInput: w.onBoard(), UserID: bob, Role: board.RoleAdmin})
	to := w.receiver("receiver.test", nil)
	return w.webhookFor(bob, app.CreateWebhookInput{URL: "http://receiver.test/in", BoardID: w.board, Events: created}), to
}

// see sets the visibility of the board.
func (w *world) see(v board.Visibility) {
	w.t.Helper()
	do(w, w.ada, app.UpdateBoard, app.UpdateBoardInput{BoardInput: w.onBoard(), Visibility: &v})
}

// spendQuota sets the number of deliveries that the organization has used today.
func (w *world) spendQuota(used int) {
	w.t.Helper()
	q := ask(w, app.GetDeliveryQuota, w.inWorkspace())
	w.sql("INSERT INTO delivery_days (organization_id, day, used) VALUES ($1, $2, $3) ON CONFLICT DO UPDATE "+
		"SET used = excluded.used", q.ID, q.Day, used)
}

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
						t.Errorf("after %d the delivery is %s after %d attempts, %q", status, d.Status, d.Attempts, d.Reason)
					}
					if n := len(to.seen()); n != 1 {
						t.Errorf("after %d there were %d attempts, want 1", status, n)
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
		{"test event: sent once, also when it is not subscribed to and the webhook is off", func(t *testing.T, w *world) {
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
			if got := w.look(h.ID); got.Failures != 0 || len(to.seen()) != 4 {
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

// sendAgain makes a delivery end badly and then redelivers it to a receiver that works.
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

func rotation(id string, force bool) app.RotateWebhookSecretInput {
	return app.RotateWebhookSecretInput{WebhookInput: named(id), Force: force}
}

func TestStatesOfASigningSecret(t *testing.T) {
	runRows(t, []row{
		{"one active secret, person creates a new one: two signatures for 24 hours, then by the new one only",
			func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", nil)
				h := w.webhook("receiver.test")
				w.engine()
				w.card()
				pass(time.Hour)
				second := do(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, false)).Secret
				w.card()
				pass(24*time.Hour - time.Second)
				if _, err := try(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, false)); !board.IsCode(err,
					board.CodeLimitReached) || !strings.Contains(err.Error(), "force: true") {
					t.Errorf("a rotation within 24 hours of the last: %v", err)
				}
				w.card()
				pass(time.Second)
				w.card()
				pass(time.Second)
				for i, want := range [][]string{{h.Secret}, {second, h.Secret}, {second, h.Secret}, {second}} {
					p := to.seen()[i]
					for _, secret := range want {
						wantSignedNow(t, secret, p)
					}
					if n := len(strings.Fields(p.header.Get(hook.HeaderSignature))); n != len(want) {
						t.Errorf("delivery %d has %d signatures, want %d", i, n, len(want))
					}
				}
				if slices.Contains([]string{h.Secret, ""}, second) {
					t.Error("the new secret is not new")
				}
			}},
		{"two active secrets, person forces a third: the first is dropped", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", nil)
			h := w.webhook("receiver.test")
			w.engine()
			second := do(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, false)).Secret
			third := do(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, true)).Secret
			w.card()
			pass(time.Second)
			p := to.seen()[0]
			wantSignedNow(t, second, p)
			wantSignedNow(t, third, p)
			if err := hook.Verify(h.Secret, p.id, p.header.Get(hook.HeaderTimestamp), p.header.Get(hook.HeaderSignature), p.body,
				p.at); err == nil {
				t.Error("the first of three secrets is still used for signing")
			}
		}},
	})
}
