package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// summarize stores a summary of each board, as a server does for large workspaces.
func summarize(s *apptest.Service) {
	s.T.Helper()
	if err := s.DB.KeepSummaries(s.T.Context(), s.Column("SELECT id FROM boards")); err != nil {
		s.T.Fatal(err)
	}
}

// An operation that changes what reports count on a board also changes the board's version. A
// summary from before the operation is therefore either exact or outdated.
func TestSummariesOfEveryOperation(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, o := range s.Registry.All() {
			if o.ReadOnly {
				continue
			}
			in := w.sample(t, o)
			summarize(s)
			w.as(o).Must(o.Name, in)
			if wrong := s.WrongSummaries(); len(wrong) > 0 {
				t.Errorf("after %s the summaries of %v are wrong", o.Name, wrong)
			}
		}
	})
}

// Summaries are never wrong, whatever two people do on two boards.
func TestSummariesAfterRandomChanges(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceAdmin)
		rapid.Check(t, func(rt *rapid.T) {
			actions := maps.Clone(newSimulation(ada, bob, workspace).actions())
			actions["summarize"] = func(*rapid.T) { summarize(s) }
			actions[""] = func(rt *rapid.T) {
				if wrong := s.WrongSummaries(); len(wrong) > 0 {
					rt.Fatalf("the summaries of %v are wrong", wrong)
				}
			}
			summarize(s)
			rt.Repeat(actions)
		})
	})
}

// A server counts the boards of large workspaces, and recounts boards that have changed. Reports
// use these counts: manipulated counts appear in reports until the board changes.
func TestLargeWorkspacesHaveSummaries(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace, small := ada.Workspace("Engines", board.PlanTeam), ada.Workspace("Small", board.PlanTeam)
		_, lists, _ := newBoardWithCards(ada, workspace, 2, 3)
		newBoardWithCards(ada, small, 1, 2)
		keeper := app.Summaries{DB: s.DB, Holder: "srv_one", Log: slog.New(slog.DiscardHandler), LargeFrom: 3}
		var large []string
		if err := s.DB.Read(t.Context(), board.System(), func(v *store.View) (err error) {
			large, err = v.LargeWorkspaces(t.Context(), keeper.LargeFrom)
			return err
		}); err != nil || !slices.Equal(large, []string{workspace}) {
			t.Fatalf("got large workspaces %v, error %v; want %s", large, err, workspace)
		}
		refreshed := func(want int) {
			t.Helper()
			if n, err := keeper.Refresh(t.Context(), workspace); n != want || err != nil {
				t.Errorf("got %d boards counted, error %v; want %d", n, err, want)
			}
		}
		refreshed(1)
		refreshed(0)
		figures := func() string {
			d := ada.Must("get_workspace_dashboard", fields{"workspaceId": workspace})
			c := ada.Must("get_workspace_calendar", fields{"workspaceId": workspace, "from": "2026-05-01", "to": "2026-05-01"})
			return fmt.Sprint(d.Get("open"), d.Get("unassigned"), c.Get("undatedCount"))
		}
		if got := figures(); got != "6 6 6" {
			t.Errorf("the figures are %s, want 6 6 6", got)
		}
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Raw().Exec(ctx, "UPDATE board_summaries SET unplanned = 70")
		})
		if got := figures(); got != "6 6 70" {
			t.Errorf("with manipulated counts, the figures are %s, want 6 6 70", got)
		}
		ada.Must("create_card", fields{"listId": lists[0], "title": "Seventh"})
		if got := figures(); got != "7 7 7" {
			t.Errorf("after a change, the figures are %s, want 7 7 7", got)
		}
		refreshed(0) // because the board was counted less than ten seconds ago
		s.Clock.Advance(15 * time.Second)
		refreshed(1)
		ada.Must("create_card", fields{"listId": lists[0], "title": "Eighth"})
		s.Clock.Advance(2 * time.Minute)
		if held, err := s.DB.Lease(t.Context(), "summaries", "srv_other", time.Minute); !held || err != nil {
			t.Fatalf("got lease %t, error %v; want true", held, err)
		}
		refreshed(0) // because another server has the lease
		s.Clock.Advance(2 * time.Minute)
		refreshed(1)
		if got := figures(); got != "8 8 8" {
			t.Errorf("after the last count, the figures are %s, want 8 8 8", got)
		}
		s.CheckConsistency()
	})
}

// A calendar with more than 5,000 cards is divided into pages. Boards are in the order of their
// ids. Only a board with more than 5,000 cards is itself divided.
func TestCalendarInPages(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		ranks, err := board.RanksAfter("", 6000)
		if err != nil {
			t.Fatal(err)
		}
		for _, cards := range []int{10, 5003, 1, 4990, 4990} {
			_, lists, _ := newBoardWithCards(ada, workspace, 1, 0)
			addDatedCards(s, lists[0], ranks[:cards])
		}
		var sizes []int
		shown := map[string]bool{}
		in := fields{"workspaceId": workspace, "from": "2026-05-01", "to": "2026-05-31"}
		for range 10 {
			page := ada.Must("get_workspace_calendar", in)
			cards := page.Get("cards").([]any)
			sizes = append(sizes, len(cards))
			last := ""
			for _, c := range cards {
				card := c.(map[string]any)
				key := fmt.Sprint(card["firstDay"], card["lastDay"], card["id"])
				if key <= last {
					t.Fatalf("card %s follows %s, want ascending order", key, last)
				}
				last, shown[card["id"].(string)] = key, true
			}
			if page.Next == "" {
				break
			}
			in["cursor"] = page.Next
		}
		if want := []int{10, 5000, 4994, 4990}; !reflect.DeepEqual(sizes, want) || len(shown) != 14994 {
			t.Errorf("got pages of %v cards, %d distinct cards in total; want %v and 14994", sizes, len(shown), want)
		}
		in["to"] = "2026-05-30"
		ada.Refused(board.CodeInvalidRequest, "get_workspace_calendar", in)
	})
}

// checkOverviews checks that an overview does not depend on which boards have an exact summary.
func checkOverviews(rt *rapid.T, s *apptest.Service, people ...*apptest.Person) {
	read := func() (all []any) {
		for _, p := range people {
			a := p.Must("get_my_overview", nil)
			delete(a.Data.(map[string]any), "asOf")
			all = append(all, a.Data)
		}
		return all
	}
	found := read()
	for when, change := range map[string]string{
		"with an outdated summary": "UPDATE board_summaries SET version = -1 WHERE board_id = (SELECT max(board_id) FROM board_summaries)",
		"without summaries":        "DELETE FROM board_summaries",
	} {
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.Raw().Exec(ctx, change) })
		if got := read(); !reflect.DeepEqual(got, found) {
			rt.Errorf("%s: got overviews %v, want %v", when, got, found)
		}
	}
}

// addDatedCards adds a card for each rank. The due dates cycle through the days of a month.
func addDatedCards(s *apptest.Service, listID string, ranks []string) {
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		l, err := tx.List(ctx, listID, board.Edit)
		if err != nil {
			return err
		}
		var cards []store.WholeCard
		for i, rank := range ranks {
			day := fmt.Sprintf("2026-05-%02d", i%31+1)
			cards = append(cards, store.WholeCard{CardDetail: board.CardDetail{Card: board.Card{ID: tx.NewID("crd_"), ListID: l.ID,
				Rank: rank, Title: fmt.Sprint(i), Description: new(string), Due: board.Due{DueDate: &day}}}})
		}
		tx.Emit(l.BoardID, board.BoardEvent(board.KindBoardUpdated, board.Changes{})) // an event also writes the counts
		return tx.InsertCards(ctx, l.BoardID, cards)
	})
}

// While the task fails, it logs one warning instead of one for each attempt. It also logs the
// recovery.
func TestFailingSummariesWarnOnce(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, filepath.Join(t.TempDir(), "cardwall.db"))
	apptest.Change(t, db, "ALTER TABLE boards RENAME COLUMN all_cards TO renamed")
	var log apptest.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		app.Summaries{DB: db, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}.Run(ctx)
	}()
	apptest.Eventually(t, "the task has failed three times", func() bool {
		return strings.Count(log.String(), "large workspaces not listed") >= 3
	})
	apptest.Change(t, db, "ALTER TABLE boards RENAME COLUMN renamed TO all_cards")
	apptest.Eventually(t, "the task logs the recovery", func() bool {
		return strings.Contains(log.String(), "recovered: large workspaces not listed")
	})
	cancel()
	<-ended
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("got %d warnings, want 1:\n%s", n, &log)
	}
}
