package app_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// assignedWorld is a workspace with two boards. All cards are assigned to Ada and Bob.
type assignedWorld struct {
	*apptest.Service
	ada, bob  *apptest.Person
	workspace string
	boards    []string
}

const cardsPerBoard = 230 // more than one transaction can change

func newAssignedWorld(s *apptest.Service) *assignedWorld {
	s.T.Helper()
	ada := s.Person("Ada")
	w := &assignedWorld{Service: s, ada: ada, workspace: ada.Workspace("Engines", board.PlanTeam)}
	w.bob = s.Person("Bob").Joins(w.workspace, board.WorkspaceMember)
	for _, name := range []string{"One", "Two"} {
		b := ada.Must("create_board", fields{"workspaceId": w.workspace, "name": name}).ID()
		list := ada.Must("create_list", fields{"boardId": b, "name": "List"}).ID()
		s.Write(board.Person(ada.ID, board.ScopeWrite), func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.List(ctx, list, board.Edit); err != nil {
				return err
			}
			ranks, err := board.RanksAfter("", cardsPerBoard)
			if err != nil {
				return err
			}
			text := ""
			cards := make([]store.WholeCard, cardsPerBoard)
			for i := range cards {
				cards[i].Card = board.Card{ID: tx.NewID("crd_"), ListID: list, Rank: ranks[i], Title: "Card", Description: &text,
					Assignees: []board.UserRef{{ID: w.bob.ID}, {ID: ada.ID}}}
			}
			tx.Emit(b, board.BoardEvent(board.KindBoardUpdated, board.Changes{}))
			return tx.InsertCards(ctx, b, cards)
		})
		w.boards = append(w.boards, b)
	}
	return w
}

// cards returns the number of cards that are assigned to a person.
func (w *assignedWorld) cards(userID string) int {
	w.T.Helper()
	return len(w.Column("SELECT card_id FROM card_assignees WHERE user_id = $1", userID))
}

// transactionSizes returns the number of cards that each transaction has unassigned Bob from. It
// fails the test if the versions of a board have gaps.
func (w *assignedWorld) transactionSizes() (sizes []int) {
	w.T.Helper()
	for _, b := range w.boards {
		versions := w.Column("SELECT version || '' FROM activity WHERE board_id = $1 ORDER BY version", b)
		for i, v := range versions {
			if v != fmt.Sprint(i+1) {
				w.T.Fatalf("got version %s after %d, want %d", v, i, i+1)
			}
		}
		for _, n := range w.Column("SELECT count(*) || '' FROM activity "+
			"WHERE board_id = $1 AND type = 'card.assignees_changed' GROUP BY at ORDER BY at", b) {
			size := 0
			_, _ = fmt.Sscan(n, &size)
			sizes = append(sizes, size)
		}
	}
	return sizes
}

// A person who loses access to boards is unassigned from the boards' cards in short transactions.
// Each card has its own activity entry.
func TestPersonIsUnassignedInShortTransactions(t *testing.T) {
	t.Parallel()
	for operation, remove := range map[string]func(w *assignedWorld){
		"remove_member": func(w *assignedWorld) {
			w.ada.Must("remove_member", fields{"workspaceId": w.workspace, "userId": w.bob.ID})
		},
		"leave": func(w *assignedWorld) {
			w.bob.Must("remove_member", fields{"workspaceId": w.workspace, "userId": w.bob.ID})
		},
		"change_member": func(w *assignedWorld) {
			w.ada.Must("change_member", fields{"workspaceId": w.workspace, "userId": w.bob.ID, "role": "guest"})
		},
	} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			apptest.Both(t, func(t *testing.T, s *apptest.Service) {
				w := newAssignedWorld(s)
				remove(w)
				if got := w.cards(w.bob.ID); got != 0 {
					t.Errorf("got %d cards assigned to Bob, want 0", got)
				}
				if got := w.cards(w.ada.ID); got != 2*cardsPerBoard {
					t.Errorf("got %d cards assigned to Ada, want %d", got, 2*cardsPerBoard)
				}
				sizes, total := w.transactionSizes(), 0
				for _, n := range sizes {
					total += n
				}
				if total != 2*cardsPerBoard || slices.Max(sizes) > 200 {
					t.Errorf("got transactions with %v cards, want at most 200 each and %d in total", sizes, 2*cardsPerBoard)
				}
				s.CheckConsistency()
			})
		})
	}
}

// People are unassigned only from the cards of boards that they can no longer see.
func TestPersonKeepsCardsOfVisibleBoards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newAssignedWorld(s)
		for _, b := range w.boards {
			w.ada.Must("share_board", fields{"boardId": b, "userId": w.bob.ID, "role": "viewer"})
		}
		w.ada.Must("remove_board_member", fields{"boardId": w.boards[0], "userId": w.bob.ID})
		if got := w.cards(w.bob.ID); got != 2*cardsPerBoard {
			t.Errorf("Bob can see both boards: got %d cards assigned to him, want %d", got, 2*cardsPerBoard)
		}
		w.ada.Must("change_member", fields{"workspaceId": w.workspace, "userId": w.bob.ID, "role": "guest"})
		if got := w.cards(w.bob.ID); got != cardsPerBoard {
			t.Errorf("Bob can see one board: got %d cards assigned to him, want %d", got, cardsPerBoard)
		}
		w.ada.Must("remove_board_member", fields{"boardId": w.boards[1], "userId": w.bob.ID})
		if got := w.cards(w.bob.ID); got != 0 {
			t.Errorf("Bob can see no board: got %d cards assigned to him, want 0", got)
		}
		if sizes := w.transactionSizes(); slices.Max(sizes) > 200 {
			t.Errorf("got transactions with %v cards, want at most 200 each", sizes)
		}
		s.CheckConsistency()
	})
}

// An operation that is refused unassigns nobody.
func TestRefusedRemovalKeepsAssignees(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newAssignedWorld(s)
		in := fields{"workspaceId": w.workspace, "userId": w.bob.ID}
		w.ada.Refused(board.CodeForbidden, "remove_member",
			fields{"workspaceId": w.workspace, "userId": w.ada.ID}) // the last owner
		w.bob.Refused(board.CodeForbidden, "change_member",
			fields{"workspaceId": w.workspace, "userId": w.bob.ID, "role": "guest"})
		w.bob.With(board.ScopeWrite).Refused(board.CodeInsufficientScope, "remove_board_member",
			fields{"boardId": w.boards[0], "userId": w.bob.ID})
		w.ada.Must("share_board", fields{"boardId": w.boards[1], "userId": w.bob.ID, "role": "admin"})
		w.ada.Must("update_board", fields{"boardId": w.boards[1], "visibility": "private"})
		w.ada.Must("remove_board_member", fields{"boardId": w.boards[1], "userId": w.ada.ID})
		w.bob.Refused(board.CodeForbidden, "remove_member", in) // the last admin of a board
		if bob, ada := w.cards(w.bob.ID), w.cards(w.ada.ID); bob != 2*cardsPerBoard || ada != cardsPerBoard {
			t.Errorf("got %d cards assigned to Bob and %d to Ada, who left one board; want %d and %d", bob, ada,
				2*cardsPerBoard, cardsPerBoard)
		}
		w.ada.Must("remove_member", in)
		if got := w.cards(w.bob.ID); got != 0 {
			t.Errorf("got %d cards assigned to Bob, want 0", got)
		}
		s.CheckConsistency()
	})
}

// A replayed request unassigns nobody, even if the person has regained the former role.
func TestReplayUnassignsNobody(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newAssignedWorld(s)
		in := fields{"workspaceId": w.workspace, "userId": w.bob.ID, "role": "guest"}
		first := w.ada.Keyed("once", "change_member", in)
		w.ada.Must("change_member", fields{"workspaceId": w.workspace, "userId": w.bob.ID, "role": "member"})
		apptest.Change(t, s.DB,
			"INSERT INTO card_assignees (card_id, user_id, assigned_at) SELECT id, $1, 0 FROM cards", w.bob.ID)
		if again := w.ada.Keyed("once", "change_member", in); first.Status != 200 || string(again.Raw) != string(first.Raw) {
			t.Errorf("replay: got %s, want %s", again.Raw, first.Raw)
		}
		if got := w.cards(w.bob.ID); got != 2*cardsPerBoard {
			t.Errorf("got %d cards assigned to Bob, want %d", got, 2*cardsPerBoard)
		}
	})
}
