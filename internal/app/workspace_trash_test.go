package app_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/dbtool"
	"cardwall/internal/store"
)

// deleteWorkspace moves a workspace to the trash as a person.
func deleteWorkspace(by *apptest.Person, workspace string) error {
	return by.DB.Write(context.Background(), board.Person(by.ID, board.ScopeAdmin), func(tx *store.Tx) error {
		_, err := app.DeleteWorkspace(context.Background(), tx, app.WorkspaceInput{WorkspaceID: workspace})
		return err
	})
}

// restoreWorkspace restores a workspace from the trash as a person.
func restoreWorkspace(by *apptest.Person, workspace string) (w board.Workspace, err error) {
	err = by.DB.Write(context.Background(), board.Person(by.ID, board.ScopeWrite), func(tx *store.Tx) (err error) {
		w, err = app.RestoreWorkspace(context.Background(), tx, app.WorkspaceInput{WorkspaceID: workspace})
		return err
	})
	return w, err
}

// trashedOf returns the IDs of the workspaces in a person's trash.
func trashedOf(p *apptest.Person) (ids []string) {
	for _, workspace := range p.Must("get_home", nil).Get("trashed").([]any) {
		ids = append(ids, workspace.(map[string]any)["id"].(string))
	}
	return ids
}

func TestDeletedWorkspaceIsHiddenUntilRestored(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		refused(t, deleteWorkspace(w.other, w.workspace), board.CodeForbidden, "Your role")
		admin := s.Person("Cy").Joins(w.workspace, board.WorkspaceAdmin)
		refused(t, deleteWorkspace(admin, w.workspace), board.CodeForbidden, "Your role")
		invitation := w.make("create_invitation", w.invitation("new@example.com"))
		before := w.owner.Must("open_board", fields{"boardId": w.board})

		allowed(t, deleteWorkspace(w.owner, w.workspace))
		for _, p := range []*apptest.Person{w.owner, w.other, admin} {
			p.Refused(board.CodeNotFound, "get_workspace", fields{"workspaceId": w.workspace})
			p.Refused(board.CodeNotFound, "get_board", fields{"boardId": w.board})
			p.Refused(board.CodeNotFound, "get_card", fields{"cardId": w.card})
			p.Refused(board.CodeNotFound, "create_board", fields{"workspaceId": w.workspace, "name": "No"})
			if seen := p.All("list_boards", "id", fields{"includeArchived": true}); slices.Contains(seen, w.board) {
				t.Errorf("list_boards as %s: got %v, want it without the board", p.Name, seen)
			}
			if found := p.All("search_cards", "id", fields{"q": "press"}); len(found) != 0 {
				t.Errorf("search_cards as %s: got %v, want none", p.Name, found)
			}
		}
		if ids := trashedOf(w.owner); !slices.Equal(ids, []string{w.workspace}) {
			t.Errorf("owner's trash: got %v, want %v", ids, []string{w.workspace})
		}
		if ids := trashedOf(admin); len(ids) != 0 {
			t.Errorf("admin's trash: got %v, want none", ids)
		}
		if findings, err := dbtool.Examine(t.Context(), s.DB); err != nil || len(findings) > 0 {
			t.Errorf("got findings %v, error %v; want none", findings, err)
		}
		for _, p := range []*apptest.Person{w.other, admin} {
			_, err := restoreWorkspace(p, w.workspace)
			refused(t, err, board.CodeNotFound, "")
		}

		if restored, err := restoreWorkspace(w.owner, w.workspace); err != nil || restored.Role != board.WorkspaceOwner ||
			restored.Name != "Engines" {
			t.Fatalf("restore_workspace: got %+v, error %v; want Engines with the owner's role", restored, err)
		}
		if after := w.owner.Must("open_board", fields{"boardId": w.board}); string(after.Raw) != string(before.Raw) {
			t.Errorf("restored board: got\n%s\nwant\n%s", after.Raw, before.Raw)
		}
		if m := w.owner.All("list_workspace_members", "id", fields{"workspaceId": w.workspace}); len(m) != 3 {
			t.Errorf("got members %v, want 3", m)
		}
		if open := w.owner.All("list_invitations", "id", fields{"workspaceId": w.workspace}); slices.Contains(open,
			invitation) {
			t.Error("list_invitations after the restore still contains the invitation")
		}
		_, err := restoreWorkspace(w.owner, w.workspace)
		refused(t, err, board.CodeNotFound, "")
	})
}

func TestTrashedWorkspaceIsPurgedAfterThirtyDays(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		allowed(t, deleteWorkspace(w.owner, w.workspace))
		s.Clock.Advance(29 * 24 * time.Hour)
		if done, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil || done.Boards != 0 || done.Workspaces != 0 {
			t.Fatalf("after 29 days: got %+v, error %v; want nothing purged", done, err)
		}
		s.Clock.Advance(24*time.Hour + time.Minute)
		if done, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil || done.Boards != 2 || done.Workspaces != 1 {
			t.Fatalf("after 30 days: got %+v, error %v; want one workspace and its two boards purged", done, err)
		}
		_, err := restoreWorkspace(w.owner, w.workspace)
		refused(t, err, board.CodeNotFound, "")
		if ids := trashedOf(w.owner); len(ids) != 0 {
			t.Errorf("got workspaces %v in the trash, want none", ids)
		}
		if findings, err := dbtool.Examine(t.Context(), s.DB); err != nil || len(findings) > 0 {
			t.Errorf("got findings %v, error %v; want none", findings, err)
		}
	})
}

// If an account is deleted while a workspace is in the trash, the person is not a member of any board
// after the restore, and every board has an admin.
func TestRestoredWorkspaceOmitsDeletedAccounts(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		own := bob.Must("create_board", fields{"workspaceId": workspace, "name": "Bob's", "visibility": "private"}).ID()
		list := bob.Must("create_list", fields{"boardId": own, "name": "List"}).ID()
		card := bob.Must("create_card", fields{"listId": list, "title": "Card", "assignees": []string{bob.ID}}).ID()
		allowed(t, deleteWorkspace(ada, workspace))
		bob.Write(board.Person(bob.ID), func(ctx context.Context, tx *store.Tx) error {
			_, err := account.DeleteAccount(ctx, tx, account.Nothing{})
			return err
		})
		if _, err := restoreWorkspace(ada, workspace); err != nil {
			t.Fatal(err)
		}
		if b := ada.Must("get_board", fields{"boardId": own}); b.Text("role") != "admin" {
			t.Errorf("Ada's role on the board that lost its admin: got %s, want admin", b.Text("role"))
		}
		if c := ada.Must("get_card", fields{"cardId": card}); len(c.Get("assignees").([]any)) != 0 {
			t.Errorf("got assignees %v, want none", c.Get("assignees"))
		}
		if m := ada.All("list_board_members", "id", fields{"boardId": own}); !slices.Equal(m, []string{ada.ID}) {
			t.Errorf("got board members %v, want %v", m, []string{ada.ID})
		}
		if findings, err := dbtool.Examine(t.Context(), s.DB); err != nil || len(findings) > 0 {
			t.Errorf("got findings %v, error %v; want none", findings, err)
		}
	})
}
