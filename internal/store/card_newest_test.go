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

// inBoardsOf is an SQL condition that selects the boards of workspaces of which the person
// $1 is a member.
const inBoardsOf = " IN (SELECT b.id FROM boards b JOIN workspace_members m ON m.workspace_id = b.workspace_id WHERE m.user_id = $1)"

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

// A scan of the newest cards finds all matching cards that changed since the time that
// the scan goes back to.
func TestNewestFindsAllMatches(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		fill(t, s, ada, 3, 40)
		fill(t, s, bob, 6, 40)
		write(t, s.DB, func(ctx context.Context, tx *store.Tx) error {
			return tx.Change(ctx, "UPDATE cards SET updated_at = created_at / 2 + 250 WHERE board_id"+inBoardsOf, bob.ID)
		})
		var all, half []board.Card
		var cursors []store.CardCursor
		read(t, s, ada, func(ctx context.Context, v *store.View) (err error) {
			if all, _, err = v.Cards(ctx, newestPage(t, s, ada, "every", 500)); err == nil {
				half, cursors, err = v.Cards(ctx, newestPage(t, s, ada, "half", 500))
			}
			return err
		})
		if len(all) != 120 || len(half) != 60 {
			t.Fatalf("got %d cards for %q and %d for %q, want 120 and 60", len(all), "every", len(half), "half")
		}
		for _, newest := range []int{30, 90, 200} {
			for _, skip := range []int{0, 10} {
				page := newestPage(t, s, ada, "half", 20)
				if skip > 0 {
					page.Cursor = throughJSON(t, cursors[skip-1])
				}
				read(t, s, ada, func(ctx context.Context, v *store.View) error {
					got, since, few, err := v.Newest(ctx, page, newest, len(all))
					if err != nil {
						return err
					}
					if since == 0 || !few {
						t.Fatalf("Newest(%d, %d): got since %d and few %v, want since > 0 and few true", newest, len(all), since, few)
					}
					want := slices.DeleteFunc(slices.Clone(half[skip:skip+20]), func(c board.Card) bool { return c.UpdatedAt < since })
					if len(want) == 0 || !slices.EqualFunc(got, want, func(a, b board.Card) bool { return a.ID == b.ID }) {
						t.Errorf("Newest(%d) after %d cards: got %d cards, want the %d matches since %d, and at least one", newest, skip,
							len(got), len(want), since)
					}
					ownCards := 0
					for _, c := range all {
						if c.UpdatedAt >= since && (skip == 0 || c.UpdatedAt <= half[skip-1].UpdatedAt) {
							ownCards++
						}
					}
					for _, maxOwn := range []int{ownCards - 1, ownCards} {
						if _, _, few, err := v.Newest(ctx, page, newest, maxOwn); err != nil || few != (maxOwn == ownCards) {
							t.Errorf("Newest(%d, %d) after %d cards: got few %v (%v), want %v for %d own cards", newest, maxOwn,
								skip, few, err, maxOwn == ownCards, ownCards)
						}
					}
					return nil
				})
			}
		}
	})
}

// Pages are the same whether one scan of the newest cards fills them or several do.
func TestScansContinueEachOther(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		fill(t, s, ada, 3, 300)
		fill(t, s, bob, 1, 40)
		write(t, s.DB, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.Change(ctx, "UPDATE boards SET all_cards = 10000"); err != nil {
				return err
			}
			// Several cards changed in the same millisecond, including the cards at the end of a scan.
			return tx.Change(ctx, "UPDATE cards SET updated_at = updated_at / 7000 * 7000")
		})
		read(t, s, ada, func(ctx context.Context, v *store.View) error {
			scans, err := v.NewestScans(ctx, newestPage(t, s, ada, "-half", 51), 0)
			if len(scans) != 3 {
				t.Errorf("got scans %v, want two windows and one to the end", scans)
			}
			return err
		})
		want := s.Column("SELECT id FROM cards WHERE title NOT LIKE '% half%' AND board_id"+inBoardsOf+
			" ORDER BY updated_at DESC, id DESC", ada.ID)
		if len(want) != 450 {
			t.Fatalf("got %d cards without the word half, want 450", len(want))
		}
		for _, limit := range []int{19, 250, 449, 451} {
			page := newestPage(t, s, ada, "-half", limit+1)
			var got []string
			for more := true; more; {
				read(t, s, ada, func(ctx context.Context, v *store.View) error {
					cards, cursors, err := v.Cards(ctx, page)
					if err != nil {
						return err
					}
					if more = len(cards) > limit; more {
						cards, cursors = cards[:limit], cursors[:limit]
						page.Cursor = throughJSON(t, cursors[limit-1])
					}
					for _, c := range cards {
						got = append(got, c.ID)
					}
					return nil
				})
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d cards: got %d cards, want %d, ordered by their last change", limit, len(got), len(want))
			}
		}
	})
}

// If few of the newest cards contain a phrase, the phrase is looked up in the index, even
// if the index finds many candidates. The index of PostgreSQL has no positions, so the
// lookup finds every entry that contains each pair of adjacent words of the phrase.
func TestRarePhraseOfFrequentPairsIsLookedUp(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		fill(t, s, ada, 3, 700)
		write(t, s.DB, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.Change(ctx, "INSERT INTO texts (card_id, place, ref, words) "+
				"SELECT id, 'description', '', CASE WHEN updated_at < 9000 THEN ' red blue red blue ' ELSE ' red blue green blue red ' END "+
				"FROM cards"); err != nil {
				return err
			}
			return tx.Change(ctx, "UPDATE boards SET all_cards = 13000") // so that a scan of all cards seems to be slow
		})
		want := s.Column("SELECT id FROM cards WHERE updated_at < 9000 ORDER BY updated_at DESC")
		read(t, s, ada, func(ctx context.Context, v *store.View) error {
			page := newestPage(t, s, ada, `"red blue red blue"`, 51)
			cards, _, err := v.Cards(ctx, page)
			if err != nil {
				return err
			}
			got := make([]string, len(cards))
			for i, c := range cards {
				got[i] = c.ID
			}
			if !slices.Equal(got, want) {
				t.Errorf("got cards %v, want %v", got, want)
			}
			plans, err := v.Explain(ctx, page)
			if err != nil {
				return err
			}
			last, index := "", "texts_words VIRTUAL TABLE"
			if s.DB.Dialect() == "postgres" {
				index = "texts_by_terms"
			}
			for _, p := range plans {
				if strings.Contains(p, "ORDER BY c.updated_at") {
					last = p
				}
			}
			if !strings.Contains(last, index) {
				t.Errorf("the last query does not use the index %s:\n%s", index, last)
			}
			return nil
		})
	})
}

// throughJSON encodes and decodes a cursor, as requests do.
func throughJSON(t *testing.T, c store.CardCursor) (out store.CardCursor) {
	t.Helper()
	text, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// If most cards are on other people's boards, a page is read from a scan of the caller's
// newest cards only if that costs less than reading all candidates.
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
			return tx.Change(ctx, "UPDATE boards SET all_cards = 20000 WHERE id"+inBoardsOf, ada.ID)
		})
		byBoard := func(newest, maxOwn int) [][2]int {
			if s.DB.Dialect() == "postgres" {
				return nil
			}
			return [][2]int{{newest, maxOwn}}
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
					t.Errorf("with %d candidates: got scans %v, want %v", found, got, want)
				}
				return err
			})
		}
	})
}

// On SQLite, a scan of the newest cards, board by board, uses the cards_changed index,
// whose first column is the board.
func TestNewestUsesBoardIndex(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	fill(t, s, ada, 3, 20)
	read(t, s, ada, func(ctx context.Context, v *store.View) error {
		plans, err := v.ExplainNewest(ctx, newestPage(t, s, ada, "half", 20), 30)
		if err == nil && !strings.Contains(strings.Join(plans, "\n"), "cards_changed (board_id=? AND updated_at>") {
			t.Errorf("the plan does not use the cards_changed index:\n%s", strings.Join(plans, "\n"))
		}
		return err
	})
}
