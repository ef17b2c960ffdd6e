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

// wantOffReason fails the test unless a webhook is off for the given reason, or on if the reason
// is empty.
func wantOffReason(t *testing.T, p *apptest.Person, hook, reason string) {
	t.Helper()
	if a := p.Must("get_webhook", fields{"webhookId": hook}); a.Get("on") != (reason == "") ||
		reason != "" && a.Text("offReason") != reason {
		t.Errorf("on is %v and offReason is %v, want offReason %q", a.Get("on"), a.Get("offReason"), reason)
	}
}

func offEmails(s *apptest.Service, hook string) int {
	return len(s.Column("SELECT id FROM emails WHERE kind = $1 AND about = $2", string(board.EmailWebhookDisabled), hook))
}

// The webhooks of a board in the trash do not count against the plan, are listed as paused, can
// be deleted, and work again when the board is restored.
func TestWebhooksOfATrashedBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		bob := s.Person("Bob")
		workspace := ada.Workspace("Free", board.PlanFree)
		bob.Joins(workspace, board.WorkspaceMember)
		first, second := ada.Must("create_board", fields{"workspaceId": workspace,
			"name": "A"}).ID(), ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		subscribe := func(b string) apptest.Response {
			return ada.Call("create_webhook", fields{"url": receiver, "events": []string{"card.created"}, "boardId": b})
		}
		older, newer := subscribe(first).ID(), subscribe(first).ID()
		if a := subscribe(second); a.Code != board.CodePlanLimit {
			t.Errorf("a third webhook on the plan free: got status %d, body %s", a.Status, a.Raw)
		}
		ada.Must("trash_board", fields{"boardId": first})
		if got := ada.All("list_webhooks", "offReason", fields{"workspaceId": workspace}); strings.Join(got,
			" ") != "trash trash" {
			t.Errorf("the listed webhooks of a board in the trash have the offReason %v, want trash", got)
		}
		if got := bob.All("list_webhooks", "id", fields{"workspaceId": workspace}); len(got) != 0 {
			t.Errorf("a person who may not manage the webhooks sees %v", got)
		}
		named := fields{"webhookId": older}
		for name, in := range map[string]fields{"update_webhook": with(named, "name", "Other"), "test_webhook": named,
			"switch_on_webhook": named, "rotate_webhook_secret": named} {
			if a := ada.Call(name, in); a.Code != board.CodeInvalidRequest || !strings.Contains(a.Message, "is in the trash") {
				t.Errorf("%s of a webhook whose board is in the trash: got status %d, body %s", name, a.Status, a.Raw)
			}
		}
		// The webhooks are on again after the restore, because the plan has room for them.
		ada.Must("restore_board", fields{"boardId": first})
		wantOffReason(t, ada, older, "")
		wantOffReason(t, ada, newer, "")

		// If the plan has too little room, the newest webhook is disabled, and its owner gets an email.
		ada.Must("trash_board", fields{"boardId": first})
		other := subscribe(second)
		if other.Status != 201 {
			t.Fatalf("webhooks of a board in the trash count against the plan: got status %d, body %s; want 201", other.Status, other.Raw)
		}
		ada.Must("restore_board", fields{"boardId": first})
		wantOffReason(t, ada, older, "")
		wantOffReason(t, ada, newer, "plan")
		if n := offEmails(s, newer); n != 1 {
			t.Errorf("%d emails to the owner, want 1", n)
		}
		if a := ada.Call("switch_on_webhook", fields{"webhookId": newer}); a.Code != board.CodePlanLimit {
			t.Errorf("switching on a webhook over the limit: got status %d, body %s", a.Status, a.Raw)
		}
		ada.Must("delete_webhook", fields{"webhookId": other.ID()})
		ada.Must("switch_on_webhook", fields{"webhookId": newer})

		// Webhooks can be paused and deleted while the board is in the trash.
		ada.Must("trash_board", fields{"boardId": first})
		ada.Must("pause_webhook", fields{"webhookId": older})
		ada.Must("delete_webhook", fields{"webhookId": newer})
		ada.Must("restore_board", fields{"boardId": first})
		wantOffReason(t, ada, older, "paused")
		ada.Must("trash_board", fields{"boardId": first})
		s.Clock.Advance(store.TrashLifetime + time.Hour)
		if done, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil || done.Boards != 1 {
			t.Fatalf("purged %d boards: %v", done.Boards, err)
		}
		if a := ada.Call("get_webhook", fields{"webhookId": older}); a.Code != board.CodeNotFound {
			t.Errorf("the webhook of a board that was purged: got status %d, body %s", a.Status, a.Raw)
		}
		for range 2 {
			if a := subscribe(second); a.Status != 201 {
				t.Errorf("a purged webhook counts against the plan: got status %d, body %s; want 201", a.Status, a.Raw)
			}
		}
	})
}

// The webhooks of a workspace in the trash work again when it is restored. Their owners get no
// email, because the webhooks themselves did not change.
func TestWebhooksOfATrashedWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		wide := w.make("create_webhook", w.newWebhook())
		w.owner.Must("delete_workspace", fields{"workspaceId": w.workspace})
		if n := offEmails(s, wide) + offEmails(s, w.boardHook); n != 0 {
			t.Errorf("%d emails about webhooks in the trash, want 0", n)
		}
		w.owner.Must("restore_workspace", fields{"workspaceId": w.workspace})
		wantOffReason(t, w.owner, wide, "")
		wantOffReason(t, w.owner, w.boardHook, "")
		before := len(sent(s, wide))
		w.newCard()
		if got := sent(s, wide); len(got) == before {
			t.Error("a webhook of a restored workspace sends nothing")
		}
	})
}

// A restored workspace has at most as many enabled webhooks as its current plan allows. The newest
// ones are disabled, and their owners get an email.
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
		hooks := w.owner.All("list_webhooks", "id", fields{"workspaceId": w.workspace})
		on := 0
		for _, id := range hooks {
			if w.owner.Must("get_webhook", fields{"webhookId": id}).Get("on") == true {
				on++
			}
		}
		if most := board.PlanFree.Limits().Webhooks; len(hooks) <= most || on != most {
			t.Errorf("%d of %d webhooks are on, want %d", on, len(hooks), most)
		}
		wantOffReason(t, w.owner, newest, "plan")
		if n := offEmails(s, newest); n != 1 {
			t.Errorf("%d emails to the owner, want 1", n)
		}
	})
}
