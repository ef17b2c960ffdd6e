package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// wantOffReason checks that a webhook is disabled for a reason, or enabled if the reason is empty.
func wantOffReason(t *testing.T, p *apptest.Person, hook, reason string) {
	t.Helper()
	if a := p.Must("get_webhook", fields{"webhookId": hook}); a.Get("on") != (reason == "") ||
		reason != "" && a.Text("offReason") != reason {
		t.Errorf("webhook %s: got on %v and offReason %v, want on %t and offReason %q", hook, a.Get("on"), a.Get("offReason"),
			reason == "", reason)
	}
}

// disabledEmails returns the number of emails that say that a webhook was disabled.
func disabledEmails(s *apptest.Service, hook string) int {
	return len(s.Column("SELECT id FROM emails WHERE kind = $1 AND about = $2", string(board.EmailWebhookDisabled), hook))
}

// The webhooks of a board in the trash are disabled. They do not count against the plan, can be
// paused and deleted, and are enabled again when the board is restored.
func TestWebhooksOfATrashedBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		bob := s.Person("Bob")
		workspace := ada.Workspace("Free", board.PlanFree)
		bob.Joins(workspace, board.WorkspaceMember)
		first := ada.Must("create_board", fields{"workspaceId": workspace, "name": "A"}).ID()
		second := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		subscribe := func(b string) apptest.Response {
			return ada.Call("create_webhook", fields{"url": receiver, "events": []string{"card.created"}, "boardId": b})
		}
		older, newer := subscribe(first).ID(), subscribe(first).ID()
		if a := subscribe(second); a.Code != board.CodePlanLimit {
			t.Errorf("third webhook on the free plan: got status %d, body %s; want plan_limit", a.Status, a.Raw)
		}
		ada.Must("trash_board", fields{"boardId": first})
		if got := ada.All("list_webhooks", "offReason", fields{"workspaceId": workspace}); strings.Join(got,
			" ") != "trash trash" {
			t.Errorf("webhooks of a board in the trash: got offReason %v, want trash for both", got)
		}
		if got := bob.All("list_webhooks", "id", fields{"workspaceId": workspace}); len(got) != 0 {
			t.Errorf("person who may not manage the webhooks: got %v, want none", got)
		}
		input := fields{"webhookId": older}
		for name, in := range map[string]fields{"update_webhook": with(input, "name", "Other"), "test_webhook": input,
			"enable_webhook": input, "rotate_webhook_secret": input} {
			if a := ada.Call(name, in); a.Code != board.CodeInvalidRequest || !strings.Contains(a.Message, "is in the trash") {
				t.Errorf("%s of a webhook whose board is in the trash: got status %d, body %s; want invalid_request", name,
					a.Status, a.Raw)
			}
		}
		// After the restore the webhooks are enabled, because the plan allows both.
		ada.Must("restore_board", fields{"boardId": first})
		wantOffReason(t, ada, older, "")
		wantOffReason(t, ada, newer, "")

		// If the plan does not allow all webhooks, the newest one is disabled and its owner gets an email.
		ada.Must("trash_board", fields{"boardId": first})
		other := subscribe(second)
		if other.Status != 201 {
			t.Fatalf("create_webhook with two webhooks in the trash: got status %d, body %s; want 201", other.Status,
				other.Raw)
		}
		ada.Must("restore_board", fields{"boardId": first})
		wantOffReason(t, ada, older, "")
		wantOffReason(t, ada, newer, "plan")
		if n := disabledEmails(s, newer); n != 1 {
			t.Errorf("got %d emails to the owner, want 1", n)
		}
		if a := ada.Call("enable_webhook", fields{"webhookId": newer}); a.Code != board.CodePlanLimit {
			t.Errorf("enabling a webhook over the limit: got status %d, body %s; want plan_limit", a.Status, a.Raw)
		}
		ada.Must("delete_webhook", fields{"webhookId": other.ID()})
		ada.Must("enable_webhook", fields{"webhookId": newer})

		// Webhooks can be paused and deleted while the board is in the trash.
		ada.Must("trash_board", fields{"boardId": first})
		ada.Must("pause_webhook", fields{"webhookId": older})
		ada.Must("delete_webhook", fields{"webhookId": newer})
		ada.Must("restore_board", fields{"boardId": first})
		wantOffReason(t, ada, older, "paused")
		ada.Must("trash_board", fields{"boardId": first})
		s.Clock.Advance(store.TrashLifetime + time.Hour)
		if done, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil || done.Boards != 1 {
			t.Fatalf("got %d boards purged, error %v; want 1", done.Boards, err)
		}
		if a := ada.Call("get_webhook", fields{"webhookId": older}); a.Code != board.CodeNotFound {
			t.Errorf("webhook of a purged board: got status %d, body %s; want not_found", a.Status, a.Raw)
		}
		for range 2 {
			if a := subscribe(second); a.Status != 201 {
				t.Errorf("create_webhook after the purge: got status %d, body %s; want 201", a.Status, a.Raw)
			}
		}
	})
}

// The webhooks of a workspace in the trash are enabled again when it is restored. Their owners get no
// email, because the webhooks themselves have not changed.
func TestWebhooksOfATrashedWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		workspaceHook := w.make("create_webhook", w.newWebhook())
		w.owner.Must("delete_workspace", fields{"workspaceId": w.workspace})
		if n := disabledEmails(s, workspaceHook) + disabledEmails(s, w.boardHook); n != 0 {
			t.Errorf("got %d emails about webhooks in the trash, want 0", n)
		}
		w.owner.Must("restore_workspace", fields{"workspaceId": w.workspace})
		wantOffReason(t, w.owner, workspaceHook, "")
		wantOffReason(t, w.owner, w.boardHook, "")
		before := len(sent(s, workspaceHook))
		w.newCard()
		if got := len(sent(s, workspaceHook)); got == before {
			t.Errorf("webhook of a restored workspace: got %d deliveries, want more than before", got)
		}
	})
}

// A restored workspace has at most the number of enabled webhooks that its current plan allows. The
// newest webhooks are disabled, and their owners get an email.
func TestWebhooksOfARestoredWorkspaceRespectThePlan(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		organization := w.owner.Must("get_workspace", fields{"workspaceId": w.workspace}).Text("organizationId")
		w.make("create_webhook", w.newWebhook())
		newest := w.make("create_webhook", w.newWebhook())
		w.owner.Must("delete_workspace", fields{"workspaceId": w.workspace})
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.UpdateOrganization(ctx, organization, new(board.PlanFree), nil)
		})
		w.owner.Must("restore_workspace", fields{"workspaceId": w.workspace})
		all := w.owner.All("list_webhooks", "id", fields{"workspaceId": w.workspace})
		enabled := 0
		for _, id := range all {
			if w.owner.Must("get_webhook", fields{"webhookId": id}).Get("on") == true {
				enabled++
			}
		}
		if limit := board.PlanFree.Limits().Webhooks; len(all) <= limit || enabled != limit {
			t.Errorf("got %d of %d webhooks enabled, want %d", enabled, len(all), limit)
		}
		wantOffReason(t, w.owner, newest, "plan")
		if n := disabledEmails(s, newest); n != 1 {
			t.Errorf("got %d emails to the owner, want 1", n)
		}
	})
}
