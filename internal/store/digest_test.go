package store_test

import (
	"path/filepath"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// The queries of digests read only the entries of the period, and the records that they name.
func TestDigestsUseIndexes(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, filepath.Join(t.TempDir(), "cardwall.db"))
	p, ids := store.Period{Since: 1, Until: 2}, []string{"x_1", "x_2"}
	for want, fn := range map[string]func(*store.View) error{
		"activity_recent (board_id=? AND at>? AND at<?)": func(v *store.View) error {
			return v.PeriodChanges(t.Context(), "brd_x", p, 10, func(*store.PeriodEntry) error { return nil })
		},
		"COVERING INDEX activity_recent (board_id=? AND at>? AND at<?)": func(v *store.View) error {
			_, err := v.CountChanges(t.Context(), "brd_x", p)
			return err
		},
		"t USING COVERING INDEX activity_recent (board_id=? AND at>? AND at<?)": func(v *store.View) error {
			_, err := v.ActiveBoards(t.Context(), "wsp_x", p)
			return err
		},
		"c USING INDEX sqlite_autoindex_cards_1 (id=?)": func(v *store.View) error {
			_, err := v.CardNames(t.Context(), "brd_x", ids)
			return err
		},
		"l USING INDEX sqlite_autoindex_lists_1 (id=?)": func(v *store.View) error {
			_, err := v.ListNames(t.Context(), "brd_x", ids)
			return err
		},
		"m USING INDEX sqlite_autoindex_comments_1 (id=?)": func(v *store.View) error {
			_, err := v.CommentBeginnings(t.Context(), "brd_x", ids, 10)
			return err
		},
	} {
		var plans []string
		if err := db.Read(t.Context(), board.System(), func(v *store.View) (err error) {
			plans, err = v.ExplainAll(fn)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(plans, "\n")
		sorts := strings.Contains(plan, "TEMP B-TREE") && want[0] != 't' // boards are sorted by their number of changes
		if !strings.Contains(plan, want) || strings.Contains(plan, "SCAN ") || sorts {
			t.Errorf("got the plan\n%s\nwant %s, without scans and sorting", plan, want)
		}
	}
}
