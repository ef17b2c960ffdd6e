package app_test

import (
	"reflect"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/dbtool"
	"cardwall/internal/store"
)

func TestTrashIsPurgedAfterThirtyDays(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		newBoard := func() string {
			id := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Old"}).ID()
			list := ada.Must("create_list", apptest.Fields{"boardId": id, "name": "List"}).ID()
			ada.Must("create_card", apptest.Fields{"listId": list, "title": "Card"})
			return id
		}
		kept, trashed := newBoard(), newBoard()
		ada.Must("trash_board", apptest.Fields{"boardId": trashed})
		s.Clock.Advance(29 * 24 * time.Hour)
		if done, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil || done.Boards != 0 {
			t.Fatalf("after 29 days: got %+v, error %v; want no board purged", done, err)
		}
		ada.Must("restore_board", apptest.Fields{"boardId": trashed})
		ada.Must("trash_board", apptest.Fields{"boardId": trashed})
		s.Clock.Advance(30*24*time.Hour + time.Minute)
		if done, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil || done.Boards != 1 {
			t.Fatalf("after 30 days: got %+v, error %v; want one board purged", done, err)
		}
		ada.Refused(board.CodeNotFound, "restore_board", apptest.Fields{"boardId": trashed})
		ada.Must("get_board", apptest.Fields{"boardId": kept})
		if findings, err := dbtool.Examine(t.Context(), s.DB); err != nil || len(findings) > 0 {
			t.Errorf("got findings %v, error %v; want none", findings, err)
		}
	})
}

func TestLeaseHasOneHolder(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		lease := func(holder string) bool {
			held, err := s.DB.Lease(t.Context(), "work", holder, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			return held
		}
		if !lease("one") || lease("two") || !lease("one") {
			t.Error("a second server got the lease while the first held it, or the first could not renew it")
		}
		s.Clock.Advance(2 * time.Minute)
		if !lease("two") || lease("one") {
			t.Error("the next server did not get the expired lease, or the first server kept it")
		}
	})
}

// A board is purged in several transactions, so that other writers can run between them.
func TestBoardIsPurgedInSteps(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		id := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Old"}).ID()
		list := ada.Must("create_list", apptest.Fields{"boardId": id, "name": "List"}).ID()
		for range 7 {
			card := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Card"}).ID()
			for _, title := range []string{"One", "Two", "Three"} {
				ada.Must("update_card", apptest.Fields{"cardId": card, "title": title})
			}
		}
		rows := func() []string {
			return s.Column("SELECT CAST(count(*) AS TEXT) FROM cards WHERE board_id = '" + id + "' UNION ALL " +
				"SELECT CAST(count(*) AS TEXT) FROM activity WHERE board_id = '" + id + "'")
		}
		var remaining [][]string
		for purged := false; !purged; {
			if _, err := s.DB.WriteSlice(t.Context(), func(tx *store.Tx) (err error) {
				purged, err = tx.PurgeBoard(t.Context(), id, 2)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			remaining = append(remaining, rows())
			s.CheckConsistency()
			ada.Refused(board.CodeNotFound, "restore_board", apptest.Fields{"boardId": id})
			if got := ada.All("list_trashed_boards", "id", apptest.Fields{"workspaceId": workspace}); len(got) > 0 {
				t.Errorf("got boards %q in the trash, want none while the board is being purged", got)
			}
		}
		// The 30 entries: the board, the list, and four for each card.
		want := [][]string{{"5", "30"}, {"3", "30"}, {"1", "30"}, {"0", "30"}, {"0", "10"}, {"0", "0"}, {"0", "0"}}
		if !reflect.DeepEqual(remaining, want) {
			t.Errorf("cards and activity entries after each step: got %v, want %v", remaining, want)
		}
		if findings, err := dbtool.Examine(t.Context(), s.DB); err != nil || len(findings) > 0 {
			t.Errorf("got findings %v, error %v; want none", findings, err)
		}
	})
}

// One run deletes all expired rows, in short transactions.
func TestExpiredRowsAreDeletedInSlices(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		const rows = 2500
		apptest.Change(t, s.DB, "INSERT INTO reranks (parent_id, epoch, old_rank, new_rank, at) "+
			"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) "+
			"SELECT 'lst_1', 1, 'a' || i, 'b' || i, $2 FROM n",
			rows, s.Clock.Now().UnixMilli())
		for _, want := range []int64{0, rows - 1, 0} { // one record of each list is kept for longer
			done, err := app.Housekeep(t.Context(), s.DB, "one")
			if err != nil || done.Reranks != want {
				t.Errorf("got %d rows deleted, error %v; want %d", done.Reranks, err, want)
			}
			s.Clock.Advance(49 * time.Hour)
		}
	})
}
