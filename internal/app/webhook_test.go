package app_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const receiver = "https://" + apptest.Receivers + "/hook"

func TestCreateWebhookNamesTheInvalidField(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		secret := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Secret", "visibility": "confidential"})
		good := fields{"url": receiver, "events": []string{"card.created"}, "boardId": w.board}
		for name, c := range map[string]struct {
			in   fields
			code board.Code
			want string
		}{
			"neither board nor workspace": {fields{"url": receiver, "events": []string{"card.created"}},
				board.CodeInvalidRequest, "boardId, workspaceId: give exactly one"},
			"both board and workspace": {with(good, "workspaceId", w.workspace), board.CodeInvalidRequest,
				"boardId, workspaceId: give exactly one"},
			"a confidential board": {with(good, "boardId", secret), board.CodeInvalidRequest,
				"boardId: a confidential board cannot have webhooks"},
			"an unknown kind": {with(good, "events", []string{"card.eaten"}), board.CodeInvalidRequest, "events"},
			"no kinds":        {with(good, "events", []string{}), board.CodeInvalidRequest, "events"},
			"no URL": {fields{"events": []string{"card.created"}, "boardId": w.board},
				board.CodeInvalidRequest, "url is required"},
			"an empty URL":      {with(good, "url", ""), board.CodeInvalidRequest, "url must not be empty"},
			"an http URL":       {with(good, "url", "http://example.com/"), board.CodeInvalidRequest, "url: "},
			"a private address": {with(good, "url", "https://10.1.2.3/"), board.CodeInvalidRequest, "url: "},
			"another port":      {with(good, "url", "https://example.com:8443/"), board.CodeInvalidRequest, "url: "},
		} {
			if a := w.owner.Call("create_webhook", c.in); a.Code != c.code || !strings.Contains(a.Message, c.want) {
				t.Errorf("%s: got status %d, body %s; want %s with %q", name, a.Status, a.Raw, c.code, c.want)
			}
		}
		a := w.owner.Must("create_webhook", good)
		if !strings.HasPrefix(a.Text("secret"), "whsec_") || a.Text("host") != apptest.Receivers ||
			a.Text("lastFour") != "hook" || a.Get("on") != true || a.Text("ownerId") != w.owner.ID {
			t.Errorf("the webhook is %s, want it enabled, with a secret and the owner's id", a.Raw)
		}
		// Later responses contain neither the URL nor the secret. The database stores both sealed.
		for _, p := range []apptest.Response{w.owner.Must("list_webhooks", fields{"workspaceId": w.workspace}),
			w.owner.Must("get_webhook", fields{"webhookId": a.ID()})} {
			if strings.Contains(string(p.Raw), "secret\"") || strings.Contains(string(p.Raw), receiver) {
				t.Errorf("a response contains a secret: %s", p.Raw)
			}
		}
		for _, column := range []string{"address", "secret"} {
			if got := s.Column("SELECT count(*) FROM webhooks WHERE id = $1 AND length("+column+") > 40",
				a.ID()); got[0] != "1" {
				t.Errorf("the webhook's %s is missing, or too short to be sealed", column)
			}
		}
		// A board can have ten webhooks. The plan limits those of the organization.
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			space, err := tx.OnWorkspace(ctx, w.workspace, board.ViewWorkspace)
			if err != nil {
				return err
			}
			return tx.UpdateOrganization(ctx, space.OrganizationID, new(board.PlanFree), nil)
		})
		if a := w.owner.Call("create_webhook", good); a.Code != board.CodePlanLimit || a.Status != 402 {
			t.Errorf("the third webhook on the free plan: got status %d, body %s; want 402 plan_limit", a.Status, a.Raw)
		}
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			space, err := tx.OnWorkspace(ctx, w.workspace, board.ViewWorkspace)
			if err != nil {
				return err
			}
			return tx.UpdateOrganization(ctx, space.OrganizationID, new(board.PlanTeam), nil)
		})
		for range 8 {
			w.owner.Must("create_webhook", good)
		}
		if a := w.owner.Call("create_webhook", good); a.Code != board.CodeLimitReached || !strings.Contains(a.Message, "10") {
			t.Errorf("the eleventh webhook of a board: got status %d, body %s; want limit_reached", a.Status, a.Raw)
		}
		if a := w.owner.Must("get_board", fields{"boardId": w.board}); a.Get("limits.webhooks.count") != 10.0 {
			t.Errorf("the board's usage of webhooks is %v, want 10", a.Get("limits.webhooks"))
		}
		for range 25 - 10 {
			if a := w.owner.Call("create_webhook", w.newWebhook()); a.Status != 201 {
				t.Fatalf("a webhook of the workspace: got status %d, body %s; want 201", a.Status, a.Raw)
			}
		}
		if a := w.owner.Call("create_webhook", w.newWebhook()); a.Code != board.CodePlanLimit {
			t.Errorf("the 26th webhook on the team plan: got status %d, body %s; want plan_limit", a.Status, a.Raw)
		}
	})
}

// The platform of a webhook is recognized from the User-Agent of the client that subscribes, or from
// the host of the webhook's URL.
func TestWebhookPlatform(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]board.Platform{
		"hooks.zapier.com": board.PlatformZapier, "hook.eu1.make.com": board.PlatformMake,
		"acme.app.n8n.cloud": board.PlatformN8N, "eo1.m.pipedream.net": board.PlatformPipedream,
		"prod-1.westeurope.logic.azure.com": board.PlatformPowerAutomate, "example.com": "",
		"nothooks.zapier.com.example.com": "", "cmake.community": "",
	} {
		if got := board.PlatformOf("", host); got != want {
			t.Errorf("the platform of %s is %q, want %q", host, got, want)
		}
	}
	for agent, want := range map[string]board.Platform{"Zapier": board.PlatformZapier,
		"Make/production": board.PlatformMake, "n8n": board.PlatformN8N, "curl/8": "", "remake/1": ""} {
		if got := board.PlatformOf(agent, "example.com"); got != want {
			t.Errorf("the platform of the client %s is %q, want %q", agent, got, want)
		}
	}
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	w := newWorld(s)
	a := w.owner.Send("POST", "/webhooks", `{"url":"`+receiver+`","events":["card.created"],"boardId":"`+w.board+`"}`,
		"User-Agent", "Zapier")
	if a.Status != 201 || a.Text("platform") != "zapier" {
		t.Errorf("a subscription by Zapier: got status %d, body %s; want 201 and the platform zapier", a.Status, a.Raw)
	}
}

// sent returns the kinds and versions of a webhook's deliveries, oldest first.
func sent(s *apptest.Service, webhookID string) []string {
	return s.Column("SELECT kind || ' ' || version FROM deliveries WHERE webhook_id = $1 ORDER BY version, id", webhookID)
}

func TestWebhookReceivesEventsInItsScope(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		private := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Ours", "visibility": "private"})
		all := []string{"card.created", "card.updated", "card.completed", "list.created"}
		wide := w.make("create_webhook", fields{"url": receiver, "events": all, "workspaceId": w.workspace})
		own := w.make("create_webhook",
			fields{"url": receiver, "events": []string{"card.created", "list.created"}, "boardId": private})
		paused := w.make("create_webhook", fields{"url": receiver, "events": all, "workspaceId": w.workspace})
		w.owner.Must("pause_webhook", fields{"webhookId": paused})

		list := w.owner.Must("create_list", fields{"boardId": private, "name": "Here"})
		if got, want := sent(s, own), fmt.Sprintf("list.created %d", list.Version); !slices.Equal(got, []string{want}) {
			t.Errorf("the private board's own webhook sends %v, want %s", got, want)
		}
		if got := sent(s, wide); len(got) != 0 {
			t.Errorf("the workspace's webhook sends events of a private board: %v", got)
		}
		// One request can cause several events, each with its own version.
		card := w.owner.Must("create_card", fields{"listId": w.list, "title": "New"})
		both := w.owner.Must("update_card", fields{"cardId": card.ID(), "title": "Newer", "done": true})
		want := []string{fmt.Sprintf("card.created %d", card.Version), fmt.Sprintf("card.updated %d", both.Version-1),
			fmt.Sprintf("card.completed %d", both.Version)}
		if got := sent(s, wide); !slices.Equal(got, want) {
			t.Errorf("the workspace's webhook sends %v, want %v", got, want)
		}
		// Requests that change nothing or fail send nothing.
		w.owner.Must("update_card", fields{"cardId": card.ID(), "title": "Newer"})
		w.owner.Call("update_card", fields{"cardId": card.ID(), "title": ""})
		if got := sent(s, wide); len(got) != 3 {
			t.Errorf("the webhook sends %v although nothing changed", got[3:])
		}
		w.owner.Must("update_board", fields{"boardId": private, "visibility": "confidential"})
		w.owner.Must("create_list", fields{"boardId": private, "name": "There"})
		if got := sent(s, own); len(got) != 1 {
			t.Errorf("a confidential board sends %v, want nothing", got[1:])
		}
		if got := sent(s, paused); len(got) != 0 {
			t.Errorf("a paused webhook sends %v, want nothing", got)
		}
	})
}

// A webhook is disabled when its owner may no longer manage the board or workspace that it
// covers.
func TestWebhookIsDisabledWhenItsOwnerLosesAccess(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		for name, lose := range map[string]func(t *testing.T, bob *apptest.Person, b string){
			"another role in the workspace": func(_ *testing.T, bob *apptest.Person, _ string) {
				bob.Joins(workspace, board.WorkspaceMember)
			},
			"removed from the workspace": func(_ *testing.T, bob *apptest.Person, _ string) {
				s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
					return tx.RemoveMember(ctx, workspace, bob.ID)
				})
			},
			"the board becomes private": func(_ *testing.T, _ *apptest.Person, b string) {
				ada.Must("update_board", fields{"boardId": b, "visibility": "private"})
			},
			"the account is deleted": func(_ *testing.T, bob *apptest.Person, _ string) {
				s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, bob.ID) })
			},
		} {
			bob := s.Person("Bob-"+strings.ReplaceAll(name, " ", "-")).Joins(workspace, board.WorkspaceAdmin)
			b := ada.Must("create_board", fields{"workspaceId": workspace, "name": name}).ID()
			hook := bob.Must("create_webhook", fields{"url": receiver, "events": []string{"list.created"}, "boardId": b}).ID()
			kept := ada.Must("create_webhook", fields{"url": receiver, "events": []string{"list.created"}, "boardId": b}).ID()
			lose(t, bob, b)
			if a := ada.Must("get_webhook", fields{"webhookId": hook}); a.Get("on") != false || a.Text("offReason") != "owner" ||
				a.Get("offAt") == nil {
				t.Errorf("%s: the owner's webhook is %s, want it disabled with offReason owner", name, a.Raw)
			}
			if a := ada.Must("get_webhook", fields{"webhookId": kept}); a.Get("on") != true {
				t.Errorf("%s: somebody else's webhook is %s, want it enabled", name, a.Raw)
			}
			ada.Must("create_list", fields{"boardId": b, "name": "L"})
			if got := sent(s, hook); len(got) != 0 {
				t.Errorf("%s: the owner's webhook sends %v, want nothing", name, got)
			}
		}
	})
}

// On PostgreSQL, a transaction reads the webhooks of an event before it changes anything. It
// reads them again if the change disables a webhook.
func TestWebhookIsDisabledByTheTransactionOfAnEvent(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		bob.Joins(workspace, board.WorkspaceAdmin)
		b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		webhook := fields{"url": receiver, "events": []string{"list.created"}, "boardId": b}
		disabled, kept := bob.Must("create_webhook", webhook).ID(), ada.Must("create_webhook", webhook).ID()
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			list := app.CreateListInput{BoardInput: app.BoardInput{BoardID: b}, NewList: app.NewList{Name: "L"}}
			if _, err := app.CreateList(ctx, tx, list); err != nil {
				return err
			}
			return tx.RemoveMember(ctx, workspace, bob.ID)
		})
		if got := sent(s, disabled); len(got) != 0 {
			t.Errorf("the disabled webhook sends %v, want nothing", got)
		}
		if got := sent(s, kept); len(got) != 1 {
			t.Errorf("the other webhook sends %v, want one event", got)
		}
	})
}

// A board admin who is not an admin of the workspace can manage and see only the webhooks of that
// board.
func TestBoardAdminManagesTheBoardsWebhooks(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.webhook()
		w.setRoles(w.other, board.WorkspaceGuest, w.board, board.RoleAdmin)
		mine := w.other.Must("create_webhook",
			fields{"url": receiver, "events": []string{"card.created"}, "boardId": w.board}).ID()
		if got := w.other.All("list_webhooks", "id", fields{"workspaceId": w.workspace}); !slices.Equal(got,
			[]string{w.boardHook, mine}) {
			t.Errorf("the board's admin sees %v, want %s and %s", got, w.boardHook, mine)
		}
		if a := w.other.Call("create_webhook", w.newWebhook()); a.Code != board.CodeForbidden {
			t.Errorf("a webhook of the workspace: got status %d, body %s; want forbidden", a.Status, a.Raw)
		}
		for role, want := range map[board.Role]board.Code{board.RoleEditor: board.CodeForbidden,
			board.RoleNone: board.CodeNotFound} {
			w.setRoles(w.other, board.WorkspaceGuest, w.board, role)
			if a := w.other.Call("create_webhook",
				fields{"url": receiver, "events": []string{"card.created"}, "boardId": w.board}); a.Code != want {
				t.Errorf("with the role %q: got status %d, body %s; want %s", role, a.Status, a.Raw, want)
			}
		}
	})
}

// A webhook that sends the same events to the same URL as another one has a warning, unless the caller
// may not manage that other one.
func TestWebhookWithATwinHasAWarning(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		private := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Plans", "visibility": "private"})
		twin := w.owner.Must("create_webhook", fields{"url": receiver + "/twin", "events": []string{"card.created", "card.moved"},
			"workspaceId": w.workspace})
		if twin.Get("warning") != nil {
			t.Errorf("the first webhook: got %s, want no warning", twin.Raw)
		}
		for name, c := range map[string]struct {
			in   fields
			want bool
		}{
			"the same workspace":            {fields{"workspaceId": w.workspace}, true},
			"a board that the other covers": {fields{"boardId": w.board}, true},
			"a private board":               {fields{"boardId": private}, false},
			"other events":                  {fields{"workspaceId": w.workspace, "events": []string{"card.archived"}}, false},
			"another URL":                   {fields{"workspaceId": w.workspace, "url": receiver + "/other/twin"}, false},
		} {
			in := fields{"url": receiver + "/twin", "events": []string{"card.moved"}}
			for field, value := range c.in {
				in[field] = value
			}
			a := w.owner.Must("create_webhook", in)
			id := fields{"webhookId": a.ID()}
			listed := w.owner.Must("list_webhooks", fields{"workspaceId": w.workspace, "limit": 100})
			n := slices.Index(listed.Each("id"), a.ID())
			for from, got := range map[string]any{"create_webhook": a.Get("warning"), "get_webhook": w.owner.Must("get_webhook", id).Get("warning"),
				"update_webhook": w.owner.Must("update_webhook", with(id, "name", "Renamed")).Get("warning"),
				"list_webhooks":  listed.Get(fmt.Sprintf("%d.warning", n))} {
				if text, _ := got.(string); strings.HasPrefix(text, "Another webhook sends") != c.want {
					t.Errorf("%s, %s: got warning %v, want one: %t", name, from, got, c.want)
				}
			}
			if c.want {
				w.owner.Must("pause_webhook", id)
				if a := w.owner.Must("get_webhook", id); a.Get("warning") != nil {
					t.Errorf("%s, paused: got %s, want no warning", name, a.Raw)
				}
			}
			w.owner.Must("delete_webhook", id)
		}
		// Bob is an admin of the board only, and cannot see the webhook of the workspace.
		w.owner.Must("share_board", fields{"boardId": w.board, "userId": w.other.ID, "role": "admin"})
		if a := w.other.Must("create_webhook", fields{"url": receiver + "/twin", "events": []string{"card.moved"},
			"boardId": w.board}); a.Get("warning") != nil {
			t.Errorf("by an admin of the board: got %s, want no warning", a.Raw)
		}
	})
}
