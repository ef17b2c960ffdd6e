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

func TestStatesOfAFailingWebhook(t *testing.T) {
	runRows(t, []row{
		{"on, 10 consecutive failed deliveries: off, and its owner is emailed a link to the last failed delivery",
			func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", always(400))
				h := w.webhook("receiver.test")
				w.engine()
				w.fail(9)
				w.wantOn(h.ID, 9)
				if got := w.emails(); len(got) > 0 {
					t.Errorf("after nine failures: got emails %+v, want none", got)
				}
				w.fail(1)
				w.wantOff(h.ID, board.OffFailures)
				got := w.emails()
				link := baseURL + "/webhooks/" + h.ID + "/deliveries?delivery=" + url.QueryEscape(to.ids()[9])
				if len(got) != 1 || got[0].Kind != board.EmailWebhookDisabled || got[0].To != "ada@example.com" ||
					got[0].Link != link {
					t.Errorf("got emails %+v, want one to ada@example.com with a link to %s", got, link)
				}
				w.fail(2)
				if n := len(to.received()); n != 10 {
					t.Errorf("got %d deliveries, want only the 10 before the webhook was disabled", n)
				}
			}},
		{"on, a delivery that gives up counts as one failure, whatever its attempts", func(t *testing.T, w *world) {
			w.receiver("receiver.test", always(500))
			h := w.webhook("receiver.test")
			w.engine()
			w.cards(2)
			advance(time.Hour)
			w.wantOn(h.ID, 0)
			advance(24 * time.Hour)
			w.wantStatus(h.ID, board.DeliveryGaveUp, board.DeliveryGaveUp)
			w.wantOn(h.ID, 2)
		}},
		{"on, a delivery that succeeds resets the failure count", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", always(400))
			h := w.webhook("receiver.test")
			w.engine()
			w.fail(9)
			to.respondWith(always(204))
			w.fail(1)
			w.wantOn(h.ID, 0)
			to.respondWith(always(400))
			w.fail(9)
			w.wantOn(h.ID, 9)
			if got := w.emails(); len(got) > 0 {
				t.Errorf("got emails %+v, want none", got)
			}
		}},
		{"on, 429 responses and skipped deliveries never count", func(t *testing.T, w *world) {
			w.receiver("receiver.test", always(429))
			h := w.webhook("receiver.test")
			w.engine()
			w.cards(12)
			advance(24 * time.Hour)
			for _, d := range w.deliveries(h.ID) {
				if d.Status != board.DeliveryGaveUp || d.Attempts != 9 {
					t.Fatalf("got %s after %d attempts, want gave up after 9", d.Status, d.Attempts)
				}
			}
			w.wantOn(h.ID, 0)
			w.spendQuota(board.PlanBusiness.Limits().DeliveriesPerDay)
			w.cards(12)
			advance(time.Minute)
			w.wantOn(h.ID, 0)
		}},
		{"on, receiver responds 410 to any delivery: off, immediate", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", sequence(200, 410))
			h := w.webhook("receiver.test")
			w.engine()
			w.card()
			advance(time.Second)
			w.wantOn(h.ID, 0)
			w.card()
			advance(time.Second)
			w.wantOff(h.ID, board.OffGone)
			w.wantStatus(h.ID, board.DeliveryDelivered, board.DeliveryFailed)
			w.card()
			advance(time.Hour)
			if n := len(to.received()); n != 2 {
				t.Errorf("got %d deliveries, want 2", n)
			}
			w.wantDisabledEmail("ada@example.com", board.OffGone,
				"/webhooks/"+h.ID+"/deliveries?delivery="+url.QueryEscape(to.ids()[1]))
		}},
		{"on, receiver responds 410 to a test event: off", func(t *testing.T, w *world) {
			w.receiver("receiver.test", always(410))
			h := w.webhook("receiver.test")
			w.engine()
			do(w, w.ada, app.TestWebhook, webhookInput(h.ID))
			advance(time.Second)
			w.wantOff(h.ID, board.OffGone)
		}},
	})
}

func TestStatesOfAWebhookWhenItsOwnerChanges(t *testing.T) {
	runRows(t, []row{
		{"on, owner can no longer manage the webhook's boards: off when a role in the workspace changes",
			func(_ *testing.T, w *world) {
				h, _ := w.webhookOfAdmin()
				do(w, w.ada, app.ChangeMember,
					app.ChangeMemberInput{WorkspaceInput: w.workspaceInput(), UserID: h.OwnerID, Role: board.WorkspaceMember})
				w.wantOff(h.ID, board.OffOwner)
				w.wantDisabledEmail("bob@example.com", board.OffOwner, "/workspaces/"+w.workspace+"/members")
			}},
		{"on, owner can no longer manage the webhook's boards: off when the owner leaves", func(_ *testing.T, w *world) {
			h, _ := w.webhookOfAdmin()
			do(w, h.OwnerID, app.RemoveMember, app.RemoveMemberInput{WorkspaceInput: w.workspaceInput(), UserID: h.OwnerID})
			w.wantOff(h.ID, board.OffOwner)
			w.wantDisabledEmail("bob@example.com", board.OffOwner, "/")
		}},
		{"on, owner can no longer manage the webhook's boards: off when a role on the board changes",
			func(_ *testing.T, w *world) {
				h, _ := w.webhookOfBoardAdmin()
				w.wantOn(h.ID, 0)
				do(w, w.ada, app.RemoveBoardMember, app.RemoveBoardMemberInput{BoardInput: w.boardInput(), UserID: h.OwnerID})
				w.wantOff(h.ID, board.OffOwner)
			}},
		{"on, owner can no longer manage the webhook's boards: off when the board becomes private",
			func(_ *testing.T, w *world) {
				bob := w.person("bob")
				w.joins(bob, board.WorkspaceAdmin)
				h := w.webhookFor(bob, app.CreateWebhookInput{URL: "http://receiver.test/in", BoardID: w.board, Events: created})
				w.setVisibility(board.Private)
				w.wantOff(h.ID, board.OffOwner)
			}},
		{"on, owner can no longer manage the webhook's boards: off at the attempt", func(t *testing.T, w *world) {
			h, to := w.webhookOfAdmin()
			w.card()
			w.sql("UPDATE workspace_members SET role = 'member' WHERE user_id = $1", h.OwnerID)
			w.wantOn(h.ID, 0)
			w.engine()
			advance(time.Second)
			w.wantOff(h.ID, board.OffOwner)
			w.wantDisabledEmail("bob@example.com", board.OffOwner, "/workspaces/"+w.workspace+"/members")
			w.wantStatus(h.ID, board.DeliverySkipped)
			if n := len(to.received()); n > 0 {
				t.Errorf("got %d deliveries, want 0", n)
			}
		}},
		{"on, owner leaves between two attempts: off, and the retry is not sent", func(t *testing.T, w *world) {
			h, to := w.webhookOfAdmin()
			to.respondWith(always(500))
			w.engine()
			w.card()
			advance(time.Second)
			w.sql("DELETE FROM workspace_members WHERE user_id = $1", h.OwnerID)
			advance(time.Hour)
			w.wantOff(h.ID, board.OffOwner)
			w.wantStatus(h.ID, board.DeliverySkipped)
			if n := len(to.received()); n != 1 {
				t.Errorf("got %d deliveries, want 1", n)
			}
		}},
		{"on, its owner is an admin of only its board: stays on", func(t *testing.T, w *world) {
			h, to := w.webhookOfBoardAdmin()
			w.engine()
			w.card()
			advance(time.Second)
			w.wantOn(h.ID, 0)
			if n := len(to.received()); n != 1 {
				t.Errorf("got %d deliveries, want 1", n)
			}
		}},
	})
}

func TestStatesOfAnEnabledWebhook(t *testing.T) {
	runRows(t, []row{
		{"off, enabled by a person, receiver works: on, the failure count resets and the person becomes its owner",
			func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", always(400))
				h := w.webhook("receiver.test")
				w.engine()
				w.fail(10)
				w.wantOff(h.ID, board.OffFailures)
				to.respondWith(nil)
				bob := w.person("bob")
				w.joins(bob, board.WorkspaceAdmin)
				test := do(w, bob, app.EnableWebhook, webhookInput(h.ID))
				advance(time.Second)
				w.wantOn(h.ID, 0)
				if owner := w.stored(h.ID).OwnerID; owner != bob {
					t.Errorf("got owner %s, want %s, who enabled the webhook", owner, bob)
				}
				last := to.received()[10]
				if last.id != test.ID || last.kind != board.KindWebhookTest {
					t.Errorf("got %s %s when the webhook was enabled, want the test %s", last.kind, last.id, test.ID)
				}
				if got := w.emails(); len(got) > 0 {
					t.Errorf("got emails %+v, want none, because the webhook is on again", got)
				}
				w.card()
				advance(time.Second)
				if n := len(to.received()); n != 12 {
					t.Errorf("got %d deliveries, want 12", n)
				}
			}},
		{"off, enabled by a person, receiver fails: stays off", func(t *testing.T, w *world) {
			for _, status := range []int{400, 429, 500, 302} {
				host := fmt.Sprintf("status-%d.test", status)
				to := w.receiver(host, always(status, "Location", "http://elsewhere.test/"))
				h := w.webhook(host)
				do(w, w.ada, app.PauseWebhook, webhookInput(h.ID))
				stop := w.engine()
				bob := w.person(fmt.Sprint("bob", status))
				w.joins(bob, board.WorkspaceAdmin)
				do(w, bob, app.EnableWebhook, webhookInput(h.ID))
				advance(time.Hour)
				stop()
				w.wantOff(h.ID, board.OffPaused)
				w.wantStatus(h.ID, board.DeliveryFailed)
				if got := w.stored(h.ID); got.OwnerID != w.ada || got.Failures != 0 || len(to.received()) != 1 {
					t.Errorf("status %d: got owner %s, %d failures and %d tests; want Ada, 0 and 1", status, got.OwnerID,
						got.Failures, len(to.received()))
				}
			}
		}},
	})
}

func TestStatesOfAWebhookOfAHiddenBoard(t *testing.T) {
	runRows(t, []row{
		{"on, its board becomes confidential: on, but sends nothing; it can still be paused or deleted",
			func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", nil)
				h, other := w.webhook("receiver.test"), w.webhook("receiver.test")
				w.card() // created before the change, but not sent yet
				w.setVisibility(board.Confidential)
				w.card()
				w.engine()
				advance(time.Hour)
				if n := len(to.received()); n > 0 {
					t.Errorf("got %d deliveries, want 0", n)
				}
				w.wantOn(h.ID, 0)
				w.wantStatus(h.ID, board.DeliverySkipped)
				for name, fn := range map[string]func(context.Context, *store.Tx, app.WebhookInput) (board.Delivery, error){
					"test": app.TestWebhook, "enable": app.EnableWebhook,
				} {
					if _, err := try(w, w.ada, fn, webhookInput(h.ID)); err == nil {
						t.Errorf("%s of a confidential board's webhook: got no error, want one", name)
					}
				}
				do(w, w.ada, app.PauseWebhook, webhookInput(h.ID))
				w.wantOff(h.ID, board.OffPaused)
				do(w, w.ada, app.DeleteWebhook, webhookInput(other.ID))
			}},
		{"on, a board becomes private: the workspace's webhook does not send its events", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", nil)
			h := w.webhookFor(w.ada,
				app.CreateWebhookInput{URL: "http://receiver.test/in", WorkspaceID: w.workspace, Events: created})
			w.card() // created before the change, but not sent yet
			w.setVisibility(board.Private)
			w.card()
			w.engine()
			advance(time.Hour)
			w.wantOn(h.ID, 0)
			w.wantStatus(h.ID, board.DeliverySkipped)
			w.setVisibility(board.VisibleToWorkspace)
			w.card()
			advance(time.Second)
			if n := len(to.received()); n != 1 {
				t.Errorf("got %d deliveries, want 1", n)
			}
		}},
	})
}

func TestStatesOfAStoppedWebhook(t *testing.T) {
	runRows(t, []row{
		{"on, paused by a person: pending deliveries are skipped", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", always(500))
			h := w.webhook("receiver.test")
			w.engine()
			w.card()
			advance(time.Second)
			do(w, w.ada, app.PauseWebhook, webhookInput(h.ID))
			w.card()
			advance(time.Hour)
			w.wantStatus(h.ID, board.DeliverySkipped)
			if d := w.onlyDelivery(h.ID); d.Reason != "the webhook is off" || len(to.received()) != 1 {
				t.Errorf("got reason %q after %d attempts, want \"the webhook is off\" after 1", d.Reason, len(to.received()))
			}
		}},
		{"on, deleted: pending deliveries are not sent and leave nothing", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", always(500))
			h := w.webhook("receiver.test")
			w.engine()
			w.cards(3)
			advance(time.Second)
			do(w, w.ada, app.DeleteWebhook, webhookInput(h.ID))
			advance(time.Hour)
			if n := len(to.received()); n != 3 {
				t.Errorf("got %d deliveries, want 3", n)
			}
		}},
	})
}
