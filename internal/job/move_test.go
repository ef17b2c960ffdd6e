package job_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// moving is a wall with a second board. The first list of the wall moves between them.
type moving struct {
	*wall
	other, list string
}

func newMoving(w *wall) *moving {
	w.T.Helper()
	w.label()
	m := &moving{wall: w, list: w.ada.All("list_lists", "id", map[string]any{"boardId": w.board})[0]}
	m.other = w.ada.Must("create_board", map[string]any{"workspaceId": w.workspace, "name": "Other"}).ID()
	w.ada.Must("create_label", map[string]any{"boardId": m.other, "name": "Bug", "color": "red"})
	w.Listen(w.workspace, w.board, m.other)
	return m
}

// move starts a job that moves the list to a board, and returns its id.
func (m *moving) move(to string) (id string) {
	m.T.Helper()
	m.Write(board.Person(m.ada.ID, board.ScopeWrite), func(ctx context.Context, tx *store.Tx) error {
		in, err := tx.Workspace(ctx, m.workspace, board.ViewWorkspace)
		if err != nil {
			return err
		}
		j, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobMoveList, Workspace: in, Name: "List 0",
			Input: app.MoveListToBoardInput{ListInput: app.ListInput{ListID: m.list}, BoardID: to}})
		id = j.ID
		return err
	})
	return id
}

// cards describes the cards of the list on a board, with their numbers counted from the
// lowest.
func (m *moving) cards(on string) []string {
	return m.Column("SELECT (c.number - (SELECT min(m.number) FROM cards m WHERE m.list_id = $1)) || ' ' || c.title || ' ' || c.rank || "+
		"' ' || (SELECT a.name FROM card_labels k JOIN labels a ON a.id = k.label_id WHERE k.card_id = c.id AND a.board_id = $2) || ' ' || "+
		"(SELECT u.name FROM card_assignees k JOIN users u ON u.id = k.user_id WHERE k.card_id = c.id) FROM cards c "+
		"WHERE c.list_id = $1 AND c.board_id = $2 ORDER BY c.rank", m.list, on)
}

// changes describes the changes of a board after a version, without the place of a moved
// list or card.
func (m *moving) changes(on string, after int64) []string {
	return m.Column("SELECT type || ' ' || COALESCE((SELECT c.title FROM cards c WHERE c.id = activity.card_id), '') FROM activity "+
		"WHERE board_id = $1 AND version > $2 ORDER BY version", on, after)
}

func (m *moving) version(boardID string) int64 {
	return int64(m.ada.Must("get_board", map[string]any{"boardId": boardID}).Get("version").(float64))
}

// settled fails the test if anything is left of a move.
func (m *moving) settled(when string) {
	m.T.Helper()
	for _, table := range []string{"list_moves", "job_lists"} {
		if got := m.Column("SELECT job_id FROM " + table); len(got) != 0 {
			m.T.Fatalf("%s: %d rows are left in %s", when, len(got), table)
		}
	}
	if got := len(m.Column("SELECT id FROM lists")); got != 2 {
		m.T.Fatalf("%s: %d lists, want 2", when, got)
	}
	m.sound()
}

// TestInterruptedListMoveRunsOnce stops a job that moves a list after each of its slices,
// and compares the result with that of a job that was not interrupted.
func TestInterruptedListMoveRunsOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
		m := newMoving(w)
		from, to, all := m.board, m.other, 0
		v, to0 := m.version(from), m.version(to)
		j := m.run("first", m.move(to), func(n int) bool { all = n; return false })
		if j.State != board.JobDone || j.ListID == nil || *j.ListID != m.list || j.Done != j.Total || j.Total != cardsOnWall {
			t.Fatalf("the job is %+v with %+v, want it done", j, j.Error)
		}
		m.settled("not interrupted")
		cards, left, entered := m.cards(to), m.changes(from, v), m.changes(to, to0)
		if all < 7 || len(cards) != cardsOnWall/2 || len(left) != 1+cardsOnWall/2 || len(entered) != len(left) {
			t.Fatalf("the job had %d slices; %d cards moved with %d and %d changes", all, len(cards), len(left), len(entered))
		}
		if left[0] != "card.moved Card 0" || left[len(left)-1] != "list.moved_away " || entered[0] != "list.moved_in " ||
			entered[1] != "card.moved Card 0" {
			t.Errorf("the changes of the boards begin with %q and %q, and end with %q", left[:1], entered[:2], left[len(left)-1:])
		}
		for at := 1; at < all; at++ {
			for _, killed := range []bool{false, true} {
				from, to = to, from
				v, to0 = m.version(from), m.version(to)
				id := m.move(to)
				m.run("one", id, func(n int) bool {
					if n == at && killed {
						m.Clock.Advance(time.Minute) // the lease of the server ends
					}
					return n == at
				})
				m.sound()
				m.ada.Refused(board.CodeUnavailable, "create_card", map[string]any{"listId": m.list, "title": "Too early"})
				m.ada.Refused(board.CodeUnavailable, "archive_list", map[string]any{"listId": m.list})
				m.ada.Must("cancel_job", map[string]any{"jobId": id}) // which is too late
				j := m.run("two", id, nil)
				if j.State != board.JobDone {
					t.Fatalf("interrupted after slice %d: the job is %+v with %+v, want it done", at, j, j.Error)
				}
				m.settled(fmt.Sprint("interrupted after slice ", at))
				if got := m.cards(to); !slices.Equal(got, cards) {
					t.Fatalf("interrupted after slice %d: the cards are\n%q, want\n%q", at, got, cards)
				}
				if got := m.changes(from, v); !slices.Equal(got, left) {
					t.Fatalf("interrupted after slice %d: the changes of the first board are\n%q, want\n%q", at, got, left)
				}
				if got := m.changes(to, to0); !slices.Equal(got, entered) {
					t.Fatalf("interrupted after slice %d: the changes of the other board are\n%q, want\n%q", at, got, entered)
				}
			}
		}
	})
}

// TestCancelledListMoveLeavesNothing cancels a job that moves a list before it starts.
func TestCancelledListMoveLeavesNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
		m := newMoving(w)
		v := m.version(m.board)
		id := m.move(m.other)
		m.ada.Must("cancel_job", map[string]any{"jobId": id})
		if j := m.run("one", id, nil); j.State != board.JobCancelled || j.ListID != nil {
			t.Errorf("the job is %+v", j)
		}
		m.settled("cancelled")
		if got := m.version(m.board); got != v || len(m.cards(m.board)) != cardsOnWall/2 {
			t.Errorf("the version is %d after %d", got, v)
		}
	})
}

// TestListMoveEndsWhatItStarted removes what a job that moves a list needs, before it starts
// and between its slices. A move that has started completes.
func TestListMoveEndsWhatItStarted(t *testing.T) {
	t.Parallel()
	on := func(id string) map[string]any { return map[string]any{"boardId": id} }
	for what, remove := range map[string]func(m *moving){
		"its board is archived":       func(m *moving) { m.ada.Must("archive_board", on(m.board)) },
		"its board is trashed":        func(m *moving) { m.ada.Must("trash_board", on(m.board)) },
		"the other board is archived": func(m *moving) { m.ada.Must("archive_board", on(m.other)) },
		"the other board is trashed":  func(m *moving) { m.ada.Must("trash_board", on(m.other)) },
		"its owner is gone": func(m *moving) {
			m.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, m.ada.ID) })
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, at := range []int{0, 1, 3, 5} {
				both(t, func(t *testing.T, w *wall) {
					m := newMoving(w)
					id := m.move(m.other)
					if at == 0 {
						remove(m)
					}
					j := m.run("one", id, func(n int) bool {
						if n == at {
							remove(m)
						}
						return false
					})
					m.settled(fmt.Sprint("after slice ", at))
					if at == 0 {
						if j.State != board.JobFailed || j.Error == nil || j.Error.Message == "" || j.Error.Code == board.CodeInternal {
							t.Errorf("the job is %+v with %+v, want it failed with a reason", j, j.Error)
						}
						return
					}
					if got := m.Column("SELECT id FROM cards WHERE list_id = $1 AND board_id = $2", m.list, m.other); j.State != board.JobDone ||
						len(got) != cardsOnWall/2 {
						t.Errorf("after slice %d: %d cards have moved; the job is %+v with %+v", at, len(got), j, j.Error)
					}
				})
			}
		})
	}
}

// TestBoardsOfListMoveAreNotPurged puts the boards of a move into the trash for longer than
// they stay there. They are purged after the move.
func TestBoardsOfListMoveAreNotPurged(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
		m := newMoving(w)
		id := m.move(m.other)
		m.run("one", id, func(n int) bool { return n == 2 })
		for _, b := range []string{m.board, m.other} {
			m.ada.Must("trash_board", map[string]any{"boardId": b})
		}
		m.Clock.Advance(store.TrashLifetime + time.Hour)
		keep := func(want int) {
			t.Helper()
			if _, err := app.Housekeep(t.Context(), m.DB, "server"); err != nil {
				t.Fatal(err)
			}
			if got := m.Column("SELECT id FROM boards"); len(got) != want {
				t.Fatalf("%d boards are left, want %d", len(got), want)
			}
		}
		keep(2)
		m.run("two", id, nil)
		keep(0)
	})
}

// TestListMoveNeedsRoom fills the other board between the request and the start of a job that
// moves a list, and the lists of the other board after its start.
func TestListMoveNeedsRoom(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.OpenLists = 2
	apptest.BothWith(t, apptest.Options{NoJobs: true, Limits: limits}, func(t *testing.T, s *apptest.Service) {
		m := newMoving(newWall(s))
		list := func() { m.ada.Must("create_list", map[string]any{"boardId": m.other, "name": "One"}) }
		list()
		j := m.run("one", m.move(m.other), func(n int) bool {
			if n == 2 {
				list()
			}
			return false
		})
		if j.State != board.JobDone {
			t.Errorf("the job that has started is %+v with %+v, want it done", j, j.Error)
		}
		m.sound()
		m.list = m.ada.All("list_lists", "id", map[string]any{"boardId": m.board})[0]
		j = m.run("one", m.move(m.other), nil)
		if j.State != board.JobFailed || j.Error == nil || j.Error.Code != board.CodeLimitReached {
			t.Errorf("the job is %+v with %+v, want it failed", j, j.Error)
		}
		m.sound()
	})
}
