package hook_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

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
				if owner := w.stored(h.ID).OwnerID; owner != bob {
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
				if got := w.stored(h.ID); got.OwnerID != w.ada || got.Failures != 0 || len(to.seen()) != 1 {
					t.Errorf("after status %d its owner is %s, failures %d, tests sent %d", status, got.OwnerID, got.Failures, len(to.seen()))
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
