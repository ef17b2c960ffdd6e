package store_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

const ofBoards = " IN (SELECT b.id FROM boards b JOIN workspace_members m ON m.workspace_id = b.workspace_id WHERE m.user_id = $1)"

func newestPage(t *testing.T, s *apptest.Service, me *apptest.Person, q string, limit int) store.CardPage {
	t.Helper()
	tree, err := query.ParseSearch(q, query.Env{Now: s.DB.Now(), Me: me.ID})
	if err != nil {
		t.Fatal(err)
	}
	tree.Sort = query.Sort{By: query.SortUpdated, Desc: true}
	return store.CardPage{Query: tree, Limit: limit}
}

func read(t *testing.T, s *apptest.Service, me *apptest.Person, fn func(ctx context.Context, v *store.View) error) {
	t.Helper()
	if err := s.DB.Read(t.Context(), board.Person(me.ID), func(v *store.View) error { return fn(t.Context(), v) }); err != nil {
		t.Fatal(err)
	}
}

// A scan of the newest cards finds all matching cards that changed since its
// horizon.
func TestNewestOfFewBoards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		fill(t, s, ada, 3, 40)
		fill(t, s, bob, 6, 40)
		write(t, s.DB, func(ctx context.Context, tx *store.Tx) error {
			return tx.Change(ctx, "UPDATE cards SET updated_at = created_at / 2 + 250 WHERE board_id"+ofBoards, bob.ID)
		})
		var every, half []board.Card
		var cursors []store.CardCursor
		read(t, s, ada, func(ctx context.Context, v *store.View) (err error) {
			if every, _, err = v.Cards(ctx, newestPage(t, s, ada, "every", 500)); err == nil {
				half, cursors, err = v.Cards(ctx, newestPage(t, s, ada, "half", 500))
			}
			return err
		})
		if len(every) != 120 || len(half) != 60 {
			t.Fatalf("%d cards match every and %d match half, want 120 and 60", len(every), len(half))
		}
		for _, newest := range []int{30, 90, 200} {
			for _, skip := range []int{0, 10} {
				page := newestPage(t, s, ada, "half", 20)
				if skip > 0 { // encoded and decoded like the cursor of a request
					text, err := json.Marshal(cursors[skip-1])
					if err == nil {
						err = json.Unmarshal(text, &page.Cursor)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				read(t, s, ada, func(ctx context.Context, v *store.View) error {
					got, since, few, err := v.Newest(ctx, page, newest, len(every))
					if err != nil {
						return err
					}
					if since == 0 || !few {
						t.Fatalf("the newest %d: since %d, few %v", newest, since, few)
					}
					want := slices.DeleteFunc(slices.Clone(half[skip:skip+20]), func(c board.Card) bool { return c.UpdatedAt < since })
					if len(want) == 0 || !slices.EqualFunc(got, want, func(a, b board.Card) bool { return a.ID == b.ID }) {
						t.Errorf("the newest %d after the first %d: %d cards, want %d", newest, skip, len(got), len(want))
					}
					own := 0
					for _, c := range every {
						if c.UpdatedAt >= since && (skip == 0 || c.UpdatedAt <= half[skip-1].UpdatedAt) {
							own++
						}
					}
					for _, most := range []int{own - 1, own} {
						if _, _, few, err := v.Newest(ctx, page, newest, most); err != nil || few != (most == own) {
							t.Errorf("the newest %d after the first %d: few is %v for %d of %d, %v", newest, skip, few, most, own, err)
						}
					}
					return nil
				})
			}
		}
	})
}

// If most cards are on other people's boards, the caller's newest cards are scanned
// only if that costs less than reading all candidates.
func TestNewestScans(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		fill(t, s, ada, 3, 20)
		fill(t, s, bob, 6, 20)
		write(t, s.DB, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.Change(ctx, "UPDATE boards SET all_cards = 200000"); err != nil {
				return err
			}
			return tx.Change(ctx, "UPDATE boards SET all_cards = 20000 WHERE id"+ofBoards, ada.ID)
		})
		byBoard := func(newest, most int) [][2]int {
			if s.DB.Dialect() == "postgres" {
				return nil
			}
			return [][2]int{{newest, most}}
		}
		for found, want := range map[int][][2]int{
			0:    {{8400, 0}, {42000, 0}},
			499:  nil,
			700:  nil, // scanning 5,828 cards would cost more
			1100: byBoard(77889, 7418),
			1600: byBoard(53550, 5100),
		} {
			read(t, s, ada, func(ctx context.Context, v *store.View) error {
				got, err := v.NewestScans(ctx, newestPage(t, s, ada, "half", 51), found)
				if err == nil && !slices.Equal(got, want) {
					t.Errorf("with %d candidates: scans %v, want %v", found, got, want)
				}
				return err
			})
		}
	})
}

// SQLite reads the newest cards of boards from the index whose first column is the
// board.
func TestNewestOfFewBoardsAreIndexed(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	fill(t, s, ada, 3, 20)
	read(t, s, ada, func(ctx context.Context, v *store.View) error {
		plans, err := v.ExplainNewest(ctx, newestPage(t, s, ada, "half", 20), 30)
		if err == nil && !strings.Contains(strings.Join(plans, "\n"), "cards_changed (board_id=? AND updated_at>") {
			t.Errorf("the index cards_changed is not used:\n%s", strings.Join(plans, "\n"))
		}
		return err
	})
}
