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
func (w *wall) copyList() (id string) {
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

// label gives all cards of the board its label and its owner as an assignee.
func (w *wall) label() {
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

// list describes a list without its ids, and with its versions and numbers counted from
// the first of them.
func (w *wall) list(id string) []string {
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

// sound fails the test if the stored data is inconsistent. It may be called again after a
// write: then the integrity check of SQLite compares the search index with what its
// connection has remembered of it, so that only one on a new connection is true.
func (w *wall) sound() {
	w.T.Helper()
	findings, err := dbtool.Examine(w.T.Context(), w.DB)
	findings = slices.DeleteFunc(findings, func(f dbtool.Finding) bool {
		return strings.Contains(fmt.Sprint(f), "texts_words") && slices.Equal(w.Column("PRAGMA integrity_check"), []string{"ok"})
	})
	if err != nil || len(findings) > 0 {
		w.T.Errorf("the stored data is inconsistent: %v %v", findings, err)
	}
}

// alone fails the test if the database holds a list or a version that no one asked for.
func (w *wall) alone(when string, lists int) {
	w.T.Helper()
	if got := len(w.Column("SELECT id FROM lists")); got != lists {
		w.T.Fatalf("%s: %d lists, want %d", when, got, lists)
	}
	for _, table := range []string{"job_lists", "pending_activity", "job_parts"} {
		if got := w.Column("SELECT job_id FROM " + table); len(got) != 0 {
			w.T.Fatalf("%s: %d rows are left in %s", when, len(got), table)
		}
	}
	w.sound()
}

// TestInterruptedListCopyRunsOnce stops a job that copies a list after each of its
// slices, and compares the result with that of a job that was not interrupted.
func TestInterruptedListCopyRunsOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
		w.label()
		all, lists := 0, 3
		j := w.run("first", w.copyList(), func(n int) bool { all = n; return false })
		if j.State != board.JobDone || j.ListID == nil || len(j.BoardIDs) != 0 || j.Done != j.Total || j.Total != cardsOnWall {
			t.Fatalf("the job is %+v, want it done", j)
		}
		want := w.list(*j.ListID)
		w.alone("not interrupted", lists)
		if all < 8 || len(want) != 2+5*cardsOnWall/2 {
			t.Fatalf("the job had %d slices and made %d rows", all, len(want))
		}
		for at := 1; at < all; at++ {
			for _, killed := range []bool{false, true} {
				id := w.copyList()
				w.run("one", id, func(n int) bool {
					if n == at && killed {
						w.Clock.Advance(time.Minute) // the lease of the server ends
					}
					return n == at
				})
				w.sound()
				first := w.ada.All("list_lists", "id", map[string]any{"boardId": w.board})[0]
				card := w.ada.Must("create_card", map[string]any{"listId": first, "title": "Meanwhile"}).ID()
				w.ada.Must("archive_card", map[string]any{"cardId": card})
				j := w.run("two", id, nil)
				if j.State != board.JobDone || j.ListID == nil {
					t.Fatalf("interrupted after slice %d: the job is %+v, want it done", at, j)
				}
				if got := w.list(*j.ListID); !slices.Equal(got, want) {
					t.Fatalf("interrupted after slice %d: the list is\n%q, want\n%q", at, got, want)
				}
				lists++
				w.alone(fmt.Sprint("interrupted after slice ", at), lists)
			}
		}
	})
}

// TestCancelledListCopyLeavesNothing cancels a job that copies a list after each of its
// slices. Once the list is visible, the job can no longer be cancelled.
func TestCancelledListCopyLeavesNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
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
					t.Fatalf("cancelled after slice %d, when the list was visible: the job is %+v", at, j)
				}
				w.alone("cancelled too late", 3)
				return
			}
			if j.State != board.JobCancelled || j.ListID != nil || j.EndedAt == nil {
				t.Fatalf("cancelled after slice %d: the job is %+v", at, j)
			}
			w.alone(fmt.Sprint("cancelled after slice ", at), 2)
			// Only the numbers of the cards are gone.
			if got := w.contents(w.board)[1:]; !slices.Equal(got, before[1:]) {
				t.Fatalf("cancelled after slice %d: the board is\n%q, want\n%q", at, got, before)
			}
		}
	})
}

// TestUnfinishedListIsInvisible looks for the list of a running job wherever lists and
// cards are listed. The changes of the board end before those of the list until all of
// them are recorded.
func TestUnfinishedListIsInvisible(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
		w.Listen(w.workspace, w.board)
		on := map[string]any{"boardId": w.board, "limit": 200}
		before := w.ada.Must("get_board", map[string]any{"boardId": w.board})
		since := before.Get("version").(float64)
		changes := func() (types []string) {
			return w.ada.All("list_board_changes", "type", map[string]any{"boardId": w.board, "since": since, "limit": 200})
		}
		hidden, pending := 0, 0
		j := w.run("one", w.copyList(), func(int) bool {
			w.sound()
			list := w.Column("SELECT list_id FROM job_lists")
			if len(list) == 0 && len(w.Column("SELECT job_id FROM pending_activity")) > 0 {
				pending++
				if got := changes(); len(got) != 0 {
					t.Errorf("%d changes can be read before all are recorded", len(got))
				}
				now := w.ada.Must("get_board", map[string]any{"boardId": w.board})
				if now.Get("openCards") != float64(cardsOnWall*3/2) || now.Get("version") != since+1+cardsOnWall/2 {
					t.Errorf("the board has %v open cards and version %v", now.Get("openCards"), now.Get("version"))
				}
				in := map[string]any{"boardId": w.board, "since": now.Get("version")}
				if got := w.ada.All("list_board_changes", "type", in); len(got) != 0 {
					t.Errorf("the changes after the current version are %q", got)
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
				want := cardsOnWall
				if archived == "only" {
					want = 0
				}
				if got := w.ada.All("list_cards", "id", in); len(got) != want {
					t.Errorf("list_cards with archived %s returns %d cards, want %d", archived, len(got), want)
				}
			}
			if got := w.ada.All("list_lists", "id", map[string]any{"boardId": w.board, "includeArchived": true}); len(got) != 2 {
				t.Errorf("list_lists returns %d lists", len(got))
			}
			for _, name := range []string{"restore_list", "archive_list", "copy_list", "move_list"} {
				w.ada.Refused(board.CodeNotFound, name, map[string]any{"listId": list[0]})
			}
			if card := w.Column("SELECT min(id) FROM cards WHERE list_id = $1 HAVING count(*) > 0", list[0]); len(card) > 0 {
				w.ada.Refused(board.CodeNotFound, "get_card", map[string]any{"cardId": card[0]})
			}
			if now := w.ada.Must("get_board", map[string]any{"boardId": w.board}); string(now.Raw) != string(before.Raw) {
				t.Errorf("the board is\n%s, want\n%s", now.Raw, before.Raw)
			}
			return false
		})
		if hidden < 4 || pending < 2 || j.State != board.JobDone {
			t.Fatalf("the list was hidden %d times and its changes pending %d times; the job is %+v", hidden, pending, j)
		}
		if got := w.ada.All("list_lists", "id", on); len(got) != 3 || got[1] != *j.ListID {
			t.Errorf("the lists are %q, want %s as the second", got, *j.ListID)
		}
		if got := changes(); len(got) != 1+cardsOnWall/2 || got[0] != "list.created" || got[1] != "card.created" {
			t.Errorf("%d changes, beginning with %q", len(got), got[:min(2, len(got))])
		}
		if got := w.Outbox(w.board); len(got) != 1+cardsOnWall/2 {
			t.Errorf("%d events were sent, want %d", len(got), 1+cardsOnWall/2)
		}
		want := "copy_list " + *j.ListID
		got := w.Column("SELECT operation || ' ' || subject FROM audit WHERE operation = 'copy_list'")
		if !slices.Equal(got, []string{want}) {
			t.Errorf("the audit log has %q, want %q", got, want)
		}
	})
}

// TestListCopyEndsWithItsBoard removes what a job that copies a list needs, before it
// starts and between its slices.
func TestListCopyEndsWithItsBoard(t *testing.T) {
	t.Parallel()
	in := func(w *wall) map[string]any { return map[string]any{"boardId": w.board} }
	for what, remove := range map[string]func(w *wall){
		"its board is archived": func(w *wall) { w.ada.Must("archive_board", in(w)) },
		"its board is trashed":  func(w *wall) { w.ada.Must("trash_board", in(w)) },
		"its board is purged": func(w *wall) {
			w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				for {
					if gone, err := tx.PurgeBoard(ctx, w.board, 100); gone || err != nil {
						return err
					}
				}
			})
		},
		"its owner is gone": func(w *wall) {
			w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, w.ada.ID) })
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, at := range []int{1, 3, 5} {
				both(t, func(t *testing.T, w *wall) {
					id := w.copyList()
					j := w.run("one", id, func(n int) bool {
						if n == at {
							remove(w)
						}
						return false
					})
					if j.State != board.JobFailed || j.Error == nil || j.Error.Message == "" || j.Error.Code == board.CodeInternal {
						t.Errorf("the job is %+v with %+v, want it failed with a reason", j, j.Error)
					}
					lists := 2
					if what == "its board is purged" {
						lists = 0
					}
					w.alone("after slice "+fmt.Sprint(at), lists)
				})
			}
		})
	}
}

// TestListCopyNeedsRoomAtItsEnd fills the board while a job copies a list of it.
func TestListCopyNeedsRoomAtItsEnd(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.OpenLists = 3
	apptest.BothWith(t, apptest.Options{NoJobs: true, Limits: limits}, func(t *testing.T, s *apptest.Service) {
		w := newWall(s)
		j := w.run("one", w.copyList(), func(n int) bool {
			if n == 5 {
				w.ada.Must("create_list", map[string]any{"boardId": w.board, "name": "Last"})
			}
			return false
		})
		if j.State != board.JobFailed || j.Error == nil || j.Error.Code != board.CodeLimitReached {
			t.Errorf("the job is %+v with %+v, want it failed", j, j.Error)
		}
		w.alone("failed", 3)
	})
}

// TestListCopyWithoutDeletedLabels deletes a label while a job copies cards with it.
// Neither the cards nor their entries have it.
func TestListCopyWithoutDeletedLabels(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
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
			t.Fatalf("the job is %+v with %+v", j, j.Error)
		}
		with := func(id string) int {
			return len(w.Column("SELECT id FROM activity WHERE version > $1 AND type = 'card.created' AND changes LIKE $2", int64(since),
				"%"+id+"%"))
		}
		if with(label) != 0 || with(w.ada.ID) != cardsOnWall/2 {
			t.Errorf("%d entries have the deleted label, %d have the assignee", with(label), with(w.ada.ID))
		}
		w.alone("done", 3)
	})
}

// TestEntriesThatCannotBeWritten ends a job whose entries cannot be written: its list
// stays, and the changes of the board go on after them.
func TestEntriesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
		since := w.ada.Must("get_board", map[string]any{"boardId": w.board}).Get("version").(float64)
		id := w.copyList()
		w.run("one", id, func(int) bool { return len(w.Column("SELECT job_id FROM pending_activity")) > 0 })
		w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.PurgeJobParts(ctx, id, 100)
			return err
		})
		w.Column("UPDATE jobs SET tries = 4 RETURNING id") // the next one is the last
		j := w.run("two", id, nil)
		if j.State != board.JobDone || j.ListID == nil {
			t.Fatalf("the job is %+v", j)
		}
		w.alone("done", 3)
		w.ada.Refused(board.CodeInvalidRequest, "list_board_changes", map[string]any{"boardId": w.board, "since": since})
		now := w.ada.Must("get_board", map[string]any{"boardId": w.board}).Get("version")
		w.ada.Must("create_list", map[string]any{"boardId": w.board, "name": "Next"})
		got := w.ada.All("list_board_changes", "type", map[string]any{"boardId": w.board, "since": now})
		if !slices.Equal(got, []string{"list.created"}) {
			t.Errorf("the changes after it are %q", got)
		}
	})
}
