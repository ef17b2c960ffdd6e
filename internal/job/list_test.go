package job_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/dbtool"
	"cardwall/internal/store"
)

// copyList starts a job that copies the first list of the board, and returns its id.
func (w *world) copyList() (id string) {
	w.T.Helper()
	source := w.ada.All("list_lists", "id", map[string]any{"boardId": w.board})[0]
	w.Write(board.Person(w.ada.ID, board.ScopeWrite), func(ctx context.Context, tx *store.Tx) error {
		l, err := tx.List(ctx, source, board.Edit)
		if err != nil {
			return err
		}
		in, err := tx.Workspace(ctx, w.workspace, board.ViewWorkspace)
		if err != nil {
			return err
		}
		copied := l
		copied.ID, copied.Name = tx.NewID("lst_"), "Copy"
		j, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobCopyList, Workspace: in, Name: copied.Name,
			Input: map[string]string{"listId": l.ID, "copyId": copied.ID}})
		if err != nil {
			return err
		}
		id = j.ID
		return tx.InsertHiddenList(ctx, j.ID, &copied, board.After(l.ID))
	})
	return id
}

// label adds the label of the board to all its cards, and assigns the cards to Ada.
func (w *world) label() {
	w.T.Helper()
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		lists, err := tx.Board(ctx, w.board, board.View)
		if err != nil {
			return err
		}
		labels, err := tx.Labels(ctx, lists.ID, "", "", 1)
		if err != nil {
			return err
		}
		for _, id := range w.Column("SELECT id FROM cards WHERE board_id = $1", w.board) {
			if err := tx.AddCardLabel(ctx, id, labels[0].ID); err != nil {
				return err
			}
			if err := tx.AddAssignee(ctx, id, w.ada.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// list describes a list without ids. Versions and card numbers are relative to the
// lowest.
func (w *world) list(id string) []string {
	return slices.Concat(
		w.Column("SELECT name || CASE WHEN archived_at IS NULL THEN '' ELSE ' archived' END FROM lists WHERE id = $1", id),
		w.Column("SELECT (number - (SELECT min(m.number) FROM cards m WHERE m.list_id = $1)) || ' ' || title || ' ' || description "+
			"|| ' ' || items_total || ' ' || rank FROM cards WHERE list_id = $1 ORDER BY rank", id),
		w.Column("SELECT i.title || ' ' || i.rank FROM checklist_items i JOIN checklists k ON k.id = i.checklist_id "+
			"JOIN cards c ON c.id = k.card_id WHERE c.list_id = $1", id),
		w.Column("SELECT (version - (SELECT min(m.version) FROM activity m WHERE m.list_id = $1)) || ' ' || type || ' ' || "+
			"COALESCE((SELECT c.title FROM cards c WHERE c.id = activity.card_id), '') FROM activity WHERE list_id = $1 ORDER BY version", id),
		w.Column("SELECT a.name FROM card_labels k JOIN labels a ON a.id = k.label_id JOIN cards c ON c.id = k.card_id WHERE c.list_id = $1", id),
		w.Column("SELECT u.name FROM card_assignees k JOIN users u ON u.id = k.user_id JOIN cards c ON c.id = k.card_id "+
			"WHERE c.list_id = $1", id))
}

// checkConsistent fails the test if the stored data is inconsistent. After a write, the
// integrity check of SQLite may compare the search index with stale data that its
// connection has cached. So checkConsistent ignores findings about the search index that
// a new connection does not confirm.
func (w *world) checkConsistent() {
	w.T.Helper()
	findings, err := dbtool.Examine(w.T.Context(), w.DB)
	findings = slices.DeleteFunc(findings, func(f dbtool.Finding) bool {
		return strings.Contains(fmt.Sprint(f), "texts_words") && slices.Equal(w.Column("PRAGMA integrity_check"), []string{"ok"})
	})
	if err != nil || len(findings) > 0 {
		w.T.Errorf("the stored data is inconsistent: %v %v", findings, err)
	}
}

// checkLists fails the test unless the database contains exactly the given number of
// lists and no leftovers of jobs.
func (w *world) checkLists(when string, lists int) {
	w.T.Helper()
	if got := len(w.Column("SELECT id FROM lists")); got != lists {
		w.T.Fatalf("%s: got %d lists, want %d", when, got, lists)
	}
	for _, table := range []string{"job_lists", "pending_activity", "job_parts"} {
		if got := w.Column("SELECT job_id FROM " + table); len(got) != 0 {
			w.T.Fatalf("%s: %d rows are left in %s", when, len(got), table)
		}
	}
	w.checkConsistent()
}

// TestInterruptedListCopyRunsOnce stops a list copy after each of its slices, and
// compares the result with that of a copy that was not interrupted.
func TestInterruptedListCopyRunsOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.label()
		all, lists := 0, 3
		j := w.run("first", w.copyList(), func(n int) bool { all = n; return false })
		if j.State != board.JobDone || j.ListID == nil || len(j.BoardIDs) != 0 || j.Done != j.Total || j.Total != cardsOnBoard {
			t.Fatalf("got job %+v, want it done", j)
		}
		want := w.list(*j.ListID)
		w.checkLists("not interrupted", lists)
		if all < 8 || len(want) != 2+5*cardsOnBoard/2 {
			t.Fatalf("got %d slices and %d rows, want at least 8 and %d", all, len(want), 2+5*cardsOnBoard/2)
		}
		for at := 1; at < all; at++ {
			for _, killed := range []bool{false, true} {
				id := w.copyList()
				w.run("one", id, func(n int) bool {
					if n == at && killed {
						w.Clock.Advance(time.Minute) // the lease of the server expires
					}
					return n == at
				})
				w.checkConsistent()
				first := w.ada.All("list_lists", "id", map[string]any{"boardId": w.board})[0]
				card := w.ada.Must("create_card", map[string]any{"listId": first, "title": "Meanwhile"}).ID()
				w.ada.Must("archive_card", map[string]any{"cardId": card})
				j := w.run("two", id, nil)
				if j.State != board.JobDone || j.ListID == nil {
					t.Fatalf("interrupted after slice %d: got job %+v, want it done", at, j)
				}
				if got := w.list(*j.ListID); !slices.Equal(got, want) {
					t.Fatalf("interrupted after slice %d: the list is\n%q, want\n%q", at, got, want)
				}
				lists++
				w.checkLists(fmt.Sprint("interrupted after slice ", at), lists)
			}
		}
	})
}

// TestCancelledListCopyLeavesNothing cancels a list copy after each of its slices. Once
// the list is visible, the job can no longer be canceled.
func TestCancelledListCopyLeavesNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.label()
		before := w.contents(w.board)
		for at := 1; ; at++ {
			id, shown := w.copyList(), false
			j := w.run("one", id, func(n int) bool {
				if n == at {
					shown = len(w.Column("SELECT job_id FROM pending_activity")) > 0
					w.ada.Must("cancel_job", map[string]any{"jobId": id})
				}
				return false
			})
			if shown {
				if j.State != board.JobDone || at < 5 {
					t.Fatalf("canceled after slice %d, when the list was visible: got job %+v, want it done", at, j)
				}
				w.checkLists("canceled too late", 3)
				return
			}
			if j.State != board.JobCancelled || j.ListID != nil || j.EndedAt == nil {
				t.Fatalf("canceled after slice %d: got job %+v, want it canceled", at, j)
			}
			w.checkLists(fmt.Sprint("canceled after slice ", at), 2)
			// The copy uses up only card numbers, which the first row shows.
			if got := w.contents(w.board)[1:]; !slices.Equal(got, before[1:]) {
				t.Fatalf("canceled after slice %d: the board is\n%q, want\n%q", at, got, before)
			}
		}
	})
}

// TestUnfinishedListIsInvisible looks for the list of a running job wherever lists and
// cards are listed. The changes to the board do not include those of the list until all
// of them are recorded.
func TestUnfinishedListIsInvisible(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.Listen(w.workspace, w.board)
		on := map[string]any{"boardId": w.board, "limit": 200}
		before := w.ada.Must("get_board", map[string]any{"boardId": w.board})
		since := before.Get("version").(float64)
		changes := func() (types []string) {
			return w.ada.All("list_board_changes", "type", map[string]any{"boardId": w.board, "since": since, "limit": 200})
		}
		hidden, pending := 0, 0
		j := w.run("one", w.copyList(), func(int) bool {
			w.checkConsistent()
			list := w.Column("SELECT list_id FROM job_lists")
			if len(list) == 0 && len(w.Column("SELECT job_id FROM pending_activity")) > 0 {
				pending++
				if got := changes(); len(got) != 0 {
					t.Errorf("%d changes can be read before all are recorded", len(got))
				}
				now := w.ada.Must("get_board", map[string]any{"boardId": w.board})
				if now.Get("openCards") != float64(cardsOnBoard*3/2) || now.Get("version") != since+1+cardsOnBoard/2 {
					t.Errorf("got a board with %v open cards and version %v, want those of the finished list", now.Get("openCards"),
						now.Get("version"))
				}
				in := map[string]any{"boardId": w.board, "since": now.Get("version")}
				if got := w.ada.All("list_board_changes", "type", in); len(got) != 0 {
					t.Errorf("got changes %q after the current version, want none", got)
				}
				return false
			}
			if len(list) == 0 {
				return false
			}
			hidden++
			for _, archived := range []string{"false", "true", "only"} {
				in := map[string]any{"boardId": w.board, "limit": 200}
				if archived != "false" {
					in["archived"] = archived
				}
				want := cardsOnBoard
				if archived == "only" {
					want = 0
				}
				if got := w.ada.All("list_cards", "id", in); len(got) != want {
					t.Errorf("list_cards with archived %s returned %d cards, want %d", archived, len(got), want)
				}
			}
			if got := w.ada.All("list_lists", "id", map[string]any{"boardId": w.board, "includeArchived": true}); len(got) != 2 {
				t.Errorf("list_lists returned %d lists, want 2", len(got))
			}
			for _, name := range []string{"restore_list", "archive_list", "copy_list", "move_list"} {
				w.ada.Refused(board.CodeNotFound, name, map[string]any{"listId": list[0]})
			}
			if card := w.Column("SELECT min(id) FROM cards WHERE list_id = $1 HAVING count(*) > 0", list[0]); len(card) > 0 {
				w.ada.Refused(board.CodeNotFound, "get_card", map[string]any{"cardId": card[0]})
			}
			if now := w.ada.Must("get_board", map[string]any{"boardId": w.board}); string(now.Raw) != string(before.Raw) {
				t.Errorf("got board\n%s, want\n%s", now.Raw, before.Raw)
			}
			return false
		})
		if hidden < 4 || pending < 2 || j.State != board.JobDone {
			t.Fatalf("got the list hidden %d times, its changes pending %d times, job %+v; want at least 4 and 2, and the job done", hidden,
				pending, j)
		}
		if got := w.ada.All("list_lists", "id", on); len(got) != 3 || got[1] != *j.ListID {
			t.Errorf("got lists %q, want %s as the second one", got, *j.ListID)
		}
		if got := changes(); len(got) != 1+cardsOnBoard/2 || got[0] != "list.created" || got[1] != "card.created" {
			t.Errorf("got %d changes that begin with %q, want %d, with the list before the cards", len(got), got[:min(2, len(got))],
				1+cardsOnBoard/2)
		}
		if got := w.Outbox(w.board); len(got) != 1+cardsOnBoard/2 {
			t.Errorf("got %d events, want %d", len(got), 1+cardsOnBoard/2)
		}
		want := "copy_list " + *j.ListID
		got := w.Column("SELECT operation || ' ' || subject FROM audit WHERE operation = 'copy_list'")
		if !slices.Equal(got, []string{want}) {
			t.Errorf("got audit entries %q, want %q", got, want)
		}
	})
}

// TestListCopyEndsWithItsBoard removes something that a list copy needs, between the
// slices of the job. The job must fail with a reason.
func TestListCopyEndsWithItsBoard(t *testing.T) {
	t.Parallel()
	in := func(w *world) map[string]any { return map[string]any{"boardId": w.board} }
	for what, remove := range map[string]func(w *world){
		"its board is archived": func(w *world) { w.ada.Must("archive_board", in(w)) },
		"its board is trashed":  func(w *world) { w.ada.Must("trash_board", in(w)) },
		"its board is purged": func(w *world) {
			w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				for {
					if gone, err := tx.PurgeBoard(ctx, w.board, 100); gone || err != nil {
						return err
					}
				}
			})
		},
		"its owner is gone": func(w *world) {
			w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, w.ada.ID) })
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, at := range []int{1, 3, 5} {
				both(t, func(t *testing.T, w *world) {
					id := w.copyList()
					j := w.run("one", id, func(n int) bool {
						if n == at {
							remove(w)
						}
						return false
					})
					if j.State != board.JobFailed || j.Error == nil || j.Error.Message == "" || j.Error.Code == board.CodeInternal {
						t.Errorf("got job %+v with %+v, want it failed with a reason", j, j.Error)
					}
					lists := 2
					if what == "its board is purged" {
						lists = 0
					}
					w.checkLists("after slice "+fmt.Sprint(at), lists)
				})
			}
		})
	}
}

// TestListCopyRechecksLimit fills the board with lists while a job is copying one of its
// lists. The job must fail.
func TestListCopyRechecksLimit(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.OpenLists = 3
	apptest.BothWith(t, apptest.Options{NoJobs: true, Limits: limits}, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		j := w.run("one", w.copyList(), func(n int) bool {
			if n == 5 {
				w.ada.Must("create_list", map[string]any{"boardId": w.board, "name": "Last"})
			}
			return false
		})
		if j.State != board.JobFailed || j.Error == nil || j.Error.Code != board.CodeLimitReached {
			t.Errorf("got job %+v with %+v, want it failed with %s", j, j.Error, board.CodeLimitReached)
		}
		w.checkLists("failed", 3)
	})
}

// TestListCopyWithoutDeletedLabels deletes a label while a job is copying cards that have
// it. Neither the copied cards nor their activity entries have the label.
func TestListCopyWithoutDeletedLabels(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.label()
		label := w.Column("SELECT id FROM labels")[0]
		since := w.ada.Must("get_board", map[string]any{"boardId": w.board}).Get("version").(float64)
		j := w.run("one", w.copyList(), func(n int) bool {
			if n == 5 { // the first part is written
				w.ada.Must("delete_label", map[string]any{"labelId": label})
			}
			return false
		})
		if j.State != board.JobDone {
			t.Fatalf("got job %+v with %+v, want it done", j, j.Error)
		}
		with := func(id string) int {
			return len(w.Column("SELECT id FROM activity WHERE version > $1 AND type = 'card.created' AND changes LIKE $2", int64(since),
				"%"+id+"%"))
		}
		if with(label) != 0 || with(w.ada.ID) != cardsOnBoard/2 {
			t.Errorf("got %d entries with the deleted label and %d with the assignee, want 0 and %d", with(label),
				with(w.ada.ID), cardsOnBoard/2)
		}
		w.checkLists("done", 3)
	})
}

// TestEntriesThatCannotBeWritten runs a job whose activity entries cannot be written. The
// list remains, and later changes to the board are recorded as usual.
func TestEntriesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		since := w.ada.Must("get_board", map[string]any{"boardId": w.board}).Get("version").(float64)
		id := w.copyList()
		w.run("one", id, func(int) bool { return len(w.Column("SELECT job_id FROM pending_activity")) > 0 })
		w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.PurgeJobParts(ctx, id, 100)
			return err
		})
		w.Column("UPDATE jobs SET tries = 4 RETURNING id") // the next attempt is the last
		j := w.run("two", id, nil)
		if j.State != board.JobDone || j.ListID == nil {
			t.Fatalf("got job %+v, want it done with a list", j)
		}
		w.checkLists("done", 3)
		w.ada.Refused(board.CodeInvalidRequest, "list_board_changes", map[string]any{"boardId": w.board, "since": since})
		now := w.ada.Must("get_board", map[string]any{"boardId": w.board}).Get("version")
		w.ada.Must("create_list", map[string]any{"boardId": w.board, "name": "Next"})
		got := w.ada.All("list_board_changes", "type", map[string]any{"boardId": w.board, "since": now})
		if !slices.Equal(got, []string{"list.created"}) {
			t.Errorf("got later changes %q, want list.created", got)
		}
	})
}
