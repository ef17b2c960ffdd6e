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

// moving is a world with a second board. The first list moves between the two boards.
type moving struct {
	*world
	other, list string
}

func newMoving(w *world) *moving {
	w.T.Helper()
	w.label()
	m := &moving{world: w, list: w.ada.All("list_lists", "id", map[string]any{"boardId": w.board})[0]}
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

// cards describes the cards of the list on a board. Card numbers are relative to the
// lowest one.
func (m *moving) cards(on string) []string {
	return m.Column("SELECT (c.number - (SELECT min(m.number) FROM cards m WHERE m.list_id = $1)) || ' ' || c.title || ' ' || c.rank || "+
		"' ' || (SELECT a.name FROM card_labels k JOIN labels a ON a.id = k.label_id WHERE k.card_id = c.id AND a.board_id = $2) || ' ' || "+
		"(SELECT u.name FROM card_assignees k JOIN users u ON u.id = k.user_id WHERE k.card_id = c.id) FROM cards c "+
		"WHERE c.list_id = $1 AND c.board_id = $2 ORDER BY c.rank", m.list, on)
}

// changes returns the type and the card's title of each change to a board after a version.
func (m *moving) changes(on string, after int64) []string {
	return m.Column("SELECT type || ' ' || COALESCE((SELECT c.title FROM cards c WHERE c.id = activity.card_id), '') FROM activity "+
		"WHERE board_id = $1 AND version > $2 ORDER BY version", on, after)
}

func (m *moving) version(boardID string) int64 {
	return int64(m.ada.Must("get_board", map[string]any{"boardId": boardID}).Get("version").(float64))
}

// checkNothingLeft fails the test if anything is left of a move.
func (m *moving) checkNothingLeft(when string) {
	m.T.Helper()
	for _, table := range []string{"list_moves", "job_lists"} {
		if got := m.Column("SELECT job_id FROM " + table); len(got) != 0 {
			m.T.Fatalf("%s: %d rows are left in %s", when, len(got), table)
		}
	}
	if got := len(m.Column("SELECT id FROM lists")); got != 2 {
		m.T.Fatalf("%s: got %d lists, want 2", when, got)
	}
	m.checkConsistent()
}

// TestInterruptedListMoveRunsOnce stops a list move after each of its slices, and compares
// the result with that of a move that was not interrupted.
func TestInterruptedListMoveRunsOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		m := newMoving(w)
		from, to, all := m.board, m.other, 0
		v, to0 := m.version(from), m.version(to)
		j := m.run("first", m.move(to), func(n int) bool { all = n; return false })
		if j.State != board.JobDone || j.ListID == nil || *j.ListID != m.list || j.Done != j.Total || j.Total != cardsOnBoard {
			t.Fatalf("got job %+v with %+v, want it done", j, j.Error)
		}
		m.checkNothingLeft("not interrupted")
		cards, left, entered := m.cards(to), m.changes(from, v), m.changes(to, to0)
		if all < 7 || len(cards) != cardsOnBoard/2 || len(left) != 1+cardsOnBoard/2 || len(entered) != len(left) {
			t.Fatalf("the job had %d slices; %d cards moved with %d and %d changes; want at least 7, %d, %[6]d and %[6]d", all, len(cards),
				len(left), len(entered), cardsOnBoard/2, 1+cardsOnBoard/2)
		}
		if left[0] != "card.moved Card 0" || left[len(left)-1] != "list.moved_away " || entered[0] != "list.moved_in " ||
			entered[1] != "card.moved Card 0" {
			t.Errorf("got changes that begin with %q and %q, and end with %q; want the list last on the first board, and first on the other",
				left[:1], entered[:2], left[len(left)-1:])
		}
		for at := 1; at < all; at++ {
			for _, killed := range []bool{false, true} {
				from, to = to, from
				v, to0 = m.version(from), m.version(to)
				id := m.move(to)
				m.run("one", id, func(n int) bool {
					if n == at && killed {
						m.Clock.Advance(time.Minute) // the lease of the server expires
					}
					return n == at
				})
				m.checkConsistent()
				m.ada.Refused(board.CodeUnavailable, "create_card", map[string]any{"listId": m.list, "title": "Too early"})
				m.ada.Refused(board.CodeUnavailable, "archive_list", map[string]any{"listId": m.list})
				m.ada.Must("cancel_job", map[string]any{"jobId": id}) // too late, so it has no effect
				j := m.run("two", id, nil)
				if j.State != board.JobDone {
					t.Fatalf("interrupted after slice %d: got job %+v with %+v, want it done", at, j, j.Error)
				}
				m.checkNothingLeft(fmt.Sprint("interrupted after slice ", at))
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

// TestCancelledListMoveLeavesNothing cancels a list move before it starts.
func TestCancelledListMoveLeavesNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		m := newMoving(w)
		v := m.version(m.board)
		id := m.move(m.other)
		m.ada.Must("cancel_job", map[string]any{"jobId": id})
		if j := m.run("one", id, nil); j.State != board.JobCancelled || j.ListID != nil {
			t.Errorf("got job %+v, want it canceled without a list", j)
		}
		m.checkNothingLeft("canceled")
		if got := m.version(m.board); got != v || len(m.cards(m.board)) != cardsOnBoard/2 {
			t.Errorf("got version %d and %d cards, want %d and %d", got, len(m.cards(m.board)), v, cardsOnBoard/2)
		}
	})
}

// TestStartedListMoveCompletes removes something that a list move needs, either before the
// job starts or between its slices. An unstarted move fails, but a started move completes.
func TestStartedListMoveCompletes(t *testing.T) {
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
				both(t, func(t *testing.T, w *world) {
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
					m.checkNothingLeft(fmt.Sprint("after slice ", at))
					if at == 0 {
						if j.State != board.JobFailed || j.Error == nil || j.Error.Message == "" || j.Error.Code == board.CodeInternal {
							t.Errorf("got job %+v with %+v, want it failed with a reason", j, j.Error)
						}
						return
					}
					if got := m.Column("SELECT id FROM cards WHERE list_id = $1 AND board_id = $2", m.list, m.other); j.State != board.JobDone ||
						len(got) != cardsOnBoard/2 {
						t.Errorf("after slice %d: %d cards have moved, and the job is %+v with %+v; want %d and the job done", at, len(got), j, j.Error,
							cardsOnBoard/2)
					}
				})
			}
		})
	}
}

// TestBoardsOfListMoveAreNotPurged keeps both boards of a move in the trash for longer
// than the retention time. They are purged only after the move.
func TestBoardsOfListMoveAreNotPurged(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
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

// TestListMoveNeedsRoom fills the target board with lists after a list move has started.
// This move completes, but a later one fails, because the board has no room when it starts.
func TestListMoveNeedsRoom(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.OpenLists = 2
	apptest.BothWith(t, apptest.Options{NoJobs: true, Limits: limits}, func(t *testing.T, s *apptest.Service) {
		m := newMoving(newWorld(s))
		list := func() { m.ada.Must("create_list", map[string]any{"boardId": m.other, "name": "One"}) }
		list()
		j := m.run("one", m.move(m.other), func(n int) bool {
			if n == 2 {
				list()
			}
			return false
		})
		if j.State != board.JobDone {
			t.Errorf("got started job %+v with %+v, want it done", j, j.Error)
		}
		m.checkConsistent()
		m.list = m.ada.All("list_lists", "id", map[string]any{"boardId": m.board})[0]
		j = m.run("one", m.move(m.other), nil)
		if j.State != board.JobFailed || j.Error == nil || j.Error.Code != board.CodeLimitReached {
			t.Errorf("got job %+v with %+v, want it failed with %s", j, j.Error, board.CodeLimitReached)
		}
		m.checkConsistent()
	})
}
