package app_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// changeMember calls ChangeMember directly, because the route of change_member requires a browser
// session.
func changeMember(by *apptest.Person, workspace, userID string, role board.WorkspaceRole) (m board.Member, err error) {
	err = by.DB.Write(context.Background(), board.Person(by.ID, board.ScopeAdmin), func(tx *store.Tx) (err error) {
		m, err = app.ChangeMember(context.Background(), tx,
			app.ChangeMemberInput{WorkspaceInput: app.WorkspaceInput{WorkspaceID: workspace}, UserID: userID, Role: role})
		return err
	})
	return m, err
}

// removeMember calls RemoveMember directly, because the route of remove_member requires a browser
// session.
func removeMember(by *apptest.Person, workspace, userID string) error {
	return by.DB.Write(context.Background(), board.Person(by.ID, board.ScopeAdmin), func(tx *store.Tx) error {
		_, err := app.RemoveMember(context.Background(), tx,
			app.RemoveMemberInput{WorkspaceInput: app.WorkspaceInput{WorkspaceID: workspace}, UserID: userID})
		return err
	})
}

// allowed checks that there is no error.
func allowed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("got error %v, want none", err)
	}
}

func TestLastOwnerCannotLeave(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceAdmin)
		const lastOwner = "last owner"
		refused(t, removeMember(ada, workspace, ada.ID), board.CodeForbidden, lastOwner)
		_, err := changeMember(ada, workspace, ada.ID, board.WorkspaceAdmin)
		refused(t, err, board.CodeForbidden, lastOwner)
		m, err := changeMember(ada, workspace, bob.ID, board.WorkspaceOwner)
		if allowed(t, err); m.Role != board.WorkspaceOwner || m.Email == nil {
			t.Errorf("got member %+v, want an owner with an email address", m)
		}
		allowed(t, removeMember(ada, workspace, ada.ID))
		refused(t, removeMember(bob, workspace, bob.ID), board.CodeForbidden, lastOwner)
		ada.Refused(board.CodeNotFound, "get_workspace", fields{"workspaceId": workspace})
	})
}

// If the last two owners leave at the same time, exactly one of them succeeds.
func TestLastTwoOwnersLeaveAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		for range 10 {
			ada, bob := s.Person("Ada"+store.NewID("")), s.Person("Bob"+store.NewID(""))
			workspace := ada.Workspace("Engines", board.PlanTeam)
			bob.Joins(workspace, board.WorkspaceOwner)
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for i, p := range []*apptest.Person{ada, bob} {
				wg.Go(func() { errs[i] = removeMember(p, workspace, p.ID) })
			}
			wg.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Errorf("got errors %v and %v, want exactly one", errs[0], errs[1])
			}
		}
	})
}

func TestMemberChangePermissions(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, tom, eve := s.Person("Ada"), s.Person("Bob"), s.Person("Tom"), s.Person("Eve")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceAdmin)
		tom.Joins(workspace, board.WorkspaceMember)
		wantRefused := func(by *apptest.Person, userID string, role board.WorkspaceRole, code board.Code) {
			t.Helper()
			_, err := changeMember(by, workspace, userID, role)
			refused(t, err, code, "")
		}
		wantRefused(bob, ada.ID, board.WorkspaceMember, board.CodeForbidden)
		wantRefused(bob, bob.ID, board.WorkspaceOwner, board.CodeForbidden)
		wantRefused(bob, tom.ID, board.WorkspaceOwner, board.CodeForbidden)
		wantRefused(tom, tom.ID, board.WorkspaceAdmin, board.CodeForbidden)
		wantRefused(eve, tom.ID, board.WorkspaceGuest, board.CodeNotFound)
		wantRefused(ada, eve.ID, board.WorkspaceGuest, board.CodeNotFound)
		refused(t, removeMember(bob, workspace, ada.ID), board.CodeForbidden, "owner")
		refused(t, removeMember(tom, workspace, bob.ID), board.CodeForbidden, "")
		refused(t, removeMember(eve, workspace, tom.ID), board.CodeNotFound, "")
		refused(t, removeMember(eve, workspace, eve.ID), board.CodeNotFound, "")
		_, err := changeMember(bob, workspace, tom.ID, board.WorkspaceAdmin)
		allowed(t, err)
		allowed(t, removeMember(bob, workspace, tom.ID))
		readOnly(s, ada, workspace, true)
		refused(t, removeMember(ada, workspace, bob.ID), board.CodePlanReadOnly, "")
	})
}

func TestRemovedMemberLosesRolesAndAssignments(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, tom := s.Person("Ada"), s.Person("Bob"), s.Person("Tom")
		workspace, another := ada.Workspace("Engines", board.PlanTeam), ada.Workspace("Another", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember).Joins(another, board.WorkspaceMember)
		tom.Joins(workspace, board.WorkspaceMember)
		limited, limitedToOther := bob.Within(workspace), bob.Within(another)

		// Boards that Ada can see, that she cannot see, and that are archived or in the trash.
		type testBoard struct{ board, card string }
		newBoard := func(p *apptest.Person, in, visibility string) (b testBoard) {
			b.board = p.Must("create_board", fields{"workspaceId": in, "name": "B", "visibility": visibility}).ID()
			list := p.Must("create_list", fields{"boardId": b.board, "name": "L"}).ID()
			b.card = p.Must("create_card", fields{"listId": list, "title": "C", "assignees": []string{bob.ID}}).ID()
			return b
		}
		open, otherWorkspace := newBoard(ada, workspace, "workspace"), newBoard(ada, another, "workspace")
		hidden, onlyBobs := newBoard(bob, workspace, "private"), newBoard(bob, workspace, "confidential")
		bob.Must("share_board", fields{"boardId": hidden.board, "userId": tom.ID, "role": "admin"})
		archived, trashed := newBoard(ada, workspace, "workspace"), newBoard(bob, workspace, "private")
		ada.Must("archive_board", fields{"boardId": archived.board})
		bob.Must("trash_board", fields{"boardId": trashed.board})
		bob.Must("create_saved_filter", fields{"workspaceId": workspace, "name": "Mine", "query": ""})

		// Bob cannot leave the workspace while he is the only admin of a board, but he can be removed.
		refused(t, removeMember(bob, workspace, bob.ID), board.CodeForbidden, "last admin of the board "+onlyBobs.board)
		bob.Must("get_card", fields{"cardId": onlyBobs.card})
		before := tom.Must("get_board", fields{"boardId": hidden.board}).Get("version").(float64)
		allowed(t, removeMember(ada, workspace, bob.ID))
		s.Clock.Advance(2 * time.Second) // a token is cached for 0.9 s

		for name, p := range map[string]*apptest.Person{"limited": limited, "unlimited": bob} {
			if a := p.Call("get_card", fields{"cardId": open.card}); a.Status/100 == 2 {
				t.Errorf("%s token: got card %s, want an error", name, a.Raw)
			}
		}
		limited.Refused(board.CodeUnauthenticated, "get_me", nil)
		limitedToOther.Must("get_card", fields{"cardId": otherWorkspace.card})
		assigned := func(p *apptest.Person, cardID string) string {
			return string(p.Must("get_card", fields{"cardId": cardID}).Raw)
		}
		for p, cards := range map[*apptest.Person][]string{
			ada: {open.card, archived.card, onlyBobs.card}, tom: {hidden.card}} {
			for _, id := range cards {
				if raw := assigned(p, id); !strings.Contains(raw, `"assignees":[]`) {
					t.Errorf("got card %s, want the removed member unassigned", raw)
				}
			}
		}
		if raw := assigned(ada, otherWorkspace.card); !strings.Contains(raw, bob.ID) {
			t.Errorf("card in another workspace: got %s, want the removed member still assigned", raw)
		}
		// The owner becomes an admin of the board that has lost its only admin, and of no other board.
		if a := ada.Must("get_board", fields{"boardId": onlyBobs.board}); a.Text("role") != "admin" {
			t.Errorf("owner's role on the board that lost its admin: got %s, want admin", a.Text("role"))
		}
		ada.Refused(board.CodeNotFound, "get_board", fields{"boardId": hidden.board})
		changes := tom.Must("list_board_changes", fields{"boardId": hidden.board, "since": int(before)})
		wantKinds := []string{"board_member.removed", "card.assignees_changed"}
		if kinds := changes.Each("type"); !slices.Equal(kinds, wantKinds) {
			t.Errorf("got changes %v, want %v", kinds, wantKinds)
		}
		if changes.Text("0.actor.id") != ada.ID || changes.Text("0.actor.type") != "person" {
			t.Errorf("got changes %s, want Ada as the actor", changes.Raw)
		}
		ada.Must("restore_board", fields{"boardId": trashed.board})
		if raw := assigned(ada, trashed.card); !strings.Contains(raw, `"assignees":[]`) {
			t.Errorf("card on the restored board: got %s, want the removed member unassigned", raw)
		}

		// If the person joins again, the old token remains revoked and the board roles are not restored.
		bob.Joins(workspace, board.WorkspaceMember)
		s.Clock.Advance(2 * time.Second)
		limited.Refused(board.CodeUnauthenticated, "get_me", nil)
		bob.Refused(board.CodeNotFound, "get_board", fields{"boardId": hidden.board})
	})
}

func TestNewGuestIsUnassignedFromHiddenCards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		shared := w.newBoard()
		w.owner.Must("share_board", fields{"boardId": shared, "userId": w.other.ID, "role": "editor"})
		list := w.make("create_list", fields{"boardId": shared, "name": "L"})
		sharedCard := w.make("create_card", fields{"listId": list, "title": "C", "assignees": []string{w.other.ID}})
		w.owner.Must("set_card_assignees", fields{"cardId": w.card, "add": []string{w.other.ID}})
		_, err := changeMember(w.owner, w.workspace, w.other.ID, board.WorkspaceAdmin)
		allowed(t, err)
		if raw := string(w.owner.Must("get_card", fields{"cardId": w.card}).Raw); !strings.Contains(raw, w.other.ID) {
			t.Errorf("after the change to admin: got card %s, want the person still assigned", raw)
		}
		_, err = changeMember(w.owner, w.workspace, w.other.ID, board.WorkspaceGuest)
		allowed(t, err)
		if raw := string(w.owner.Must("get_card", fields{"cardId": w.card}).Raw); strings.Contains(raw, w.other.ID) {
			t.Errorf("card that the guest cannot see: got %s, want the guest unassigned", raw)
		}
		if raw := string(w.other.Must("get_card", fields{"cardId": sharedCard}).Raw); !strings.Contains(raw, w.other.ID) {
			t.Errorf("card that the guest can see: got %s, want the guest still assigned", raw)
		}
	})
}
