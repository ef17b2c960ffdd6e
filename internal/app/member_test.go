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

// changeMember and removeMember call the operations without a browser session, which their routes require.
func changeMember(by *apptest.Person, workspace, userID string, role board.WorkspaceRole) (m board.Member, err error) {
	err = by.DB.Write(context.Background(), board.Person(by.ID, board.ScopeAdmin), func(tx *store.Tx) (err error) {
		m, err = app.ChangeMember(context.Background(), tx,
			app.ChangeMemberInput{WorkspaceInput: app.WorkspaceInput{WorkspaceID: workspace}, UserID: userID, Role: role})
		return err
	})
	return m, err
}

func removeMember(by *apptest.Person, workspace, userID string) error {
	return by.DB.Write(context.Background(), board.Person(by.ID, board.ScopeAdmin), func(tx *store.Tx) error {
		_, err := app.RemoveMember(context.Background(), tx,
			app.RemoveMemberInput{WorkspaceInput: app.WorkspaceInput{WorkspaceID: workspace}, UserID: userID})
		return err
	})
}

func allowed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("refused: %v", err)
	}
}

func TestLastOwnerStays(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceAdmin)
		const last = "last owner"
		refused(t, removeMember(ada, workspace, ada.ID), board.CodeForbidden, last)
		_, err := changeMember(ada, workspace, ada.ID, board.WorkspaceAdmin)
		refused(t, err, board.CodeForbidden, last)
		m, err := changeMember(ada, workspace, bob.ID, board.WorkspaceOwner)
		if allowed(t, err); m.Role != board.WorkspaceOwner || m.Email == nil {
			t.Errorf("the member is %+v", m)
		}
		allowed(t, removeMember(ada, workspace, ada.ID))
		refused(t, removeMember(bob, workspace, bob.ID), board.CodeForbidden, last)
		ada.Refused(board.CodeNotFound, "get_workspace", fields{"workspaceId": workspace})
	})
}

// If two owners leave at the same moment, only one of them succeeds.
func TestTwoLastOwners(t *testing.T) {
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
				t.Errorf("both owners left, or neither did: got errors %v and %v", errs[0], errs[1])
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
		refuse := func(by *apptest.Person, userID string, role board.WorkspaceRole, code board.Code) {
			t.Helper()
			_, err := changeMember(by, workspace, userID, role)
			refused(t, err, code, "")
		}
		refuse(bob, ada.ID, board.WorkspaceMember, board.CodeForbidden)
		refuse(bob, bob.ID, board.WorkspaceOwner, board.CodeForbidden)
		refuse(bob, tom.ID, board.WorkspaceOwner, board.CodeForbidden)
		refuse(tom, tom.ID, board.WorkspaceAdmin, board.CodeForbidden)
		refuse(eve, tom.ID, board.WorkspaceGuest, board.CodeNotFound)
		refuse(ada, eve.ID, board.WorkspaceGuest, board.CodeNotFound)
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
		limited, elsewhere := bob.Within(workspace), bob.Within(another)

		// Boards that Ada sees, that she does not see, and that are archived or in the trash.
		type testBoard struct{ board, card string }
		newBoard := func(p *apptest.Person, in, visibility string) (b testBoard) {
			b.board = p.Must("create_board", fields{"workspaceId": in, "name": "B", "visibility": visibility}).ID()
			list := p.Must("create_list", fields{"boardId": b.board, "name": "L"}).ID()
			b.card = p.Must("create_card", fields{"listId": list, "title": "C", "assignees": []string{bob.ID}}).ID()
			return b
		}
		open, far := newBoard(ada, workspace, "workspace"), newBoard(ada, another, "workspace")
		hidden, alone := newBoard(bob, workspace, "private"), newBoard(bob, workspace, "confidential")
		bob.Must("share_board", fields{"boardId": hidden.board, "userId": tom.ID, "role": "admin"})
		away, trashed := newBoard(ada, workspace, "workspace"), newBoard(bob, workspace, "private")
		ada.Must("archive_board", fields{"boardId": away.board})
		bob.Must("trash_board", fields{"boardId": trashed.board})
		bob.Must("create_saved_filter", fields{"workspaceId": workspace, "name": "Mine", "query": ""})

		// Bob cannot leave a board on which he is the only admin, but can be removed.
		refused(t, removeMember(bob, workspace, bob.ID), board.CodeForbidden, "last admin of the board "+alone.board)
		bob.Must("get_card", fields{"cardId": alone.card})
		before := tom.Must("get_board", fields{"boardId": hidden.board}).Get("version").(float64)
		allowed(t, removeMember(ada, workspace, bob.ID))
		s.Clock.Advance(2 * time.Second) // a token is cached for 0.9 s

		for name, p := range map[string]*apptest.Person{"limited": limited, "unlimited": bob} {
			if a := p.Call("get_card", fields{"cardId": open.card}); a.Status/100 == 2 {
				t.Errorf("the %s token still opens a card: %s", name, a.Raw)
			}
		}
		limited.Refused(board.CodeUnauthenticated, "get_me", nil)
		elsewhere.Must("get_card", fields{"cardId": far.card})
		assigned := func(p *apptest.Person, cardID string) string {
			return string(p.Must("get_card", fields{"cardId": cardID}).Raw)
		}
		for p, cards := range map[*apptest.Person][]string{ada: {open.card, away.card, alone.card}, tom: {hidden.card}} {
			for _, id := range cards {
				if raw := assigned(p, id); !strings.Contains(raw, `"assignees":[]`) {
					t.Errorf("the removed member is still assigned: %s", raw)
				}
			}
		}
		if raw := assigned(ada, far.card); !strings.Contains(raw, bob.ID) {
			t.Errorf("the removed member was unassigned from a card of another workspace: %s", raw)
		}
		// The owner becomes the admin of the board that would have no admin, and of no other board.
		if a := ada.Must("get_board", fields{"boardId": alone.board}); a.Text("role") != "admin" {
			t.Errorf("the owner's role on the board without an admin is %s, want admin", a.Text("role"))
		}
		ada.Refused(board.CodeNotFound, "get_board", fields{"boardId": hidden.board})
		changes := tom.Must("list_board_changes", fields{"boardId": hidden.board, "since": int(before)})
		if kinds := changes.Each("type"); !slices.Equal(kinds, []string{"board_member.removed", "card.assignees_changed"}) {
			t.Errorf("the board's changes are %v", kinds)
		}
		if changes.Text("0.actor.id") != ada.ID || changes.Text("0.actor.type") != "person" {
			t.Errorf("the actor of the change is wrong: %s", changes.Raw)
		}
		ada.Must("restore_board", fields{"boardId": trashed.board})
		if raw := assigned(ada, trashed.card); !strings.Contains(raw, `"assignees":[]`) {
			t.Errorf("the removed member is still assigned on a board from the trash: %s", raw)
		}

		// After the person joins again, the old token stays revoked, and there are no board roles.
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
		here := w.make("create_card", fields{"listId": list, "title": "C", "assignees": []string{w.other.ID}})
		w.owner.Must("set_card_assignees", fields{"cardId": w.card, "add": []string{w.other.ID}})
		_, err := changeMember(w.owner, w.workspace, w.other.ID, board.WorkspaceAdmin)
		allowed(t, err)
		if raw := string(w.owner.Must("get_card", fields{"cardId": w.card}).Raw); !strings.Contains(raw, w.other.ID) {
			t.Errorf("an admin was unassigned: %s", raw)
		}
		_, err = changeMember(w.owner, w.workspace, w.other.ID, board.WorkspaceGuest)
		allowed(t, err)
		if raw := string(w.owner.Must("get_card", fields{"cardId": w.card}).Raw); strings.Contains(raw, w.other.ID) {
			t.Errorf("a guest is still assigned to a card that the guest cannot see: %s", raw)
		}
		if raw := string(w.other.Must("get_card", fields{"cardId": here}).Raw); !strings.Contains(raw, w.other.ID) {
			t.Errorf("a guest was unassigned from a card that the guest can see: %s", raw)
		}
	})
}
