package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// indexEntries returns all entries of the texts table, as "place words ".
func indexEntries(t *testing.T, s *apptest.Service) []string {
	t.Helper()
	var out []string
	err := s.DB.Read(t.Context(), board.System(), func(v *store.View) (err error) {
		out, err = v.Raw().Strings(t.Context(), "SELECT place || words FROM texts ORDER BY 1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkIndex adds the newest entries to SQLite's full-text index. It fails the test
// unless the index then contains exactly the entries of the texts table.
func checkIndex(t *testing.T, s *apptest.Service) {
	t.Helper()
	if s.DB.Dialect() != "sqlite" {
		return // PostgreSQL maintains its own index
	}
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		for _, text := range []string{
			"INSERT INTO texts_words (rowid, words) SELECT id, words FROM texts_by_workspace WHERE id > (SELECT upto FROM texts_indexed)",
			"UPDATE texts_indexed SET upto = COALESCE((SELECT max(id) FROM texts), upto)",
			"DELETE FROM texts_words WHERE rowid IN (SELECT id FROM texts_gone)",
			"DELETE FROM texts_gone",
			"INSERT INTO texts_words (texts_words, rank) VALUES ('integrity-check', 1)",
		} {
			if err := tx.Change(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
	indexed := s.Column("SELECT id FROM texts_words_docsize ORDER BY id")
	if stored := s.Column("SELECT id FROM texts ORDER BY id"); !slices.Equal(indexed, stored) {
		t.Errorf("got entries %v in the full-text index, want %v", indexed, stored)
	}
}

func TestIndexFollowsEveryChange(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		b := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Launch"})
		list := ada.Must("create_list", apptest.Fields{"boardId": b.ID(), "name": "To do"}).ID()
		check := func(action string, want ...string) {
			t.Helper()
			slices.Sort(want)
			if got := indexEntries(t, s); !slices.Equal(got, want) {
				t.Errorf("after %s: got index entries %q, want %q", action, got, want)
			}
			checkIndex(t, s)
		}
		card := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Écrire 🎉", "description": "Two pages"}).ID()
		check("create_card", "title ecrire ", "description two pages ")
		ada.Must("update_card", apptest.Fields{"cardId": card, "title": "🎉", "description": "Three pages"})
		check("update_card", "description three pages ")
		ada.Must("update_card", apptest.Fields{"cardId": card, "title": "Write", "description": "", "done": true})
		check("clearing the description", "title write ")
		ada.Must("update_card", apptest.Fields{"cardId": card, "done": false})
		ada.Must("set_card_due", apptest.Fields{"cardId": card, "dueDate": "2026-03-14"})
		check("changes that affect no text", "title write ")
		comment := ada.Must("add_comment", apptest.Fields{"cardId": card, "text": "Soon."}).ID()
		ada.Must("edit_comment", apptest.Fields{"commentId": comment, "text": "Sooner."})
		check("edit_comment", "title write ", "comment sooner ")
		checklist := ada.Must("add_checklist", apptest.Fields{"cardId": card, "title": "Before", "items": []string{"one", "two"}})
		check("add_checklist", "title write ", "comment sooner ", "checklist before ", "checklist one ", "checklist two ")
		item := ada.Must("add_checklist_item", apptest.Fields{"checklistId": checklist.ID(), "title": "three"}).ID()
		ada.Must("update_checklist", apptest.Fields{"checklistId": checklist.ID(), "title": "After"})
		ada.Must("update_checklist_item", apptest.Fields{"itemId": item, "title": "four", "done": true, "position": "top"})
		ada.Must("delete_checklist_item", apptest.Fields{"itemId": checklist.Text("items.0.id")})
		check("changes to checklist items", "title write ", "comment sooner ", "checklist after ", "checklist four ", "checklist two ")
		ada.Must("delete_checklist", apptest.Fields{"checklistId": checklist.ID()})
		check("delete_checklist", "title write ", "comment sooner ")
		ada.Must("delete_comment", apptest.Fields{"commentId": comment})
		check("delete_comment", "title write ")

		label := ada.Must("create_label", apptest.Fields{"boardId": b.ID(), "name": "Bug", "color": "red"}).ID()
		ada.Must("set_card_labels", apptest.Fields{"cardId": card, "add": []string{label}})
		ada.Must("delete_label", apptest.Fields{"labelId": label})
		ada.Must("add_comment", apptest.Fields{"cardId": card, "text": "Later."})
		ada.Must("add_checklist", apptest.Fields{"cardId": card, "title": "Before", "items": []string{"one", "two"}})
		other := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Other"}).ID()
		ada.Must("add_comment", apptest.Fields{"cardId": other, "text": "Stays"})
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Change(ctx, "DELETE FROM cards WHERE id = $1", card)
		})
		check("deleting the card's row", "title other ", "comment stays ")
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Change(ctx, "DELETE FROM boards WHERE id = $1", b.ID())
		})
		check("deleting the board's row")
	})
}

func TestRefusedWriteLeavesNoIndexEntries(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		b := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Launch"})
		list := ada.Must("create_list", apptest.Fields{"boardId": b.ID(), "name": "To do"}).ID()
		err := s.DB.Write(t.Context(), board.System(), func(tx *store.Tx) error {
			l, err := tx.List(t.Context(), list, board.Edit)
			if err != nil {
				return err
			}
			c := board.Card{ID: tx.NewID("crd_"), BoardID: l.BoardID, ListID: l.ID, Title: "Gone", Description: new(string)}
			if _, err := tx.InsertCard(t.Context(), &c, board.Position{}); err != nil {
				return err
			}
			return board.Invalid("no.")
		})
		if f, ok := board.AsFault(err); !ok || f.Code != board.CodeInvalidRequest {
			t.Fatalf("got error %v, want invalid_request", err)
		}
		if got := indexEntries(t, s); len(got) > 0 {
			t.Errorf("got index entries %q for a card that was never created, want none", got)
		}
		checkIndex(t, s)
	})
}

// BenchmarkInsertCard inserts cards with a short title that contains either some words
// for the search index or none.
func BenchmarkInsertCard(b *testing.B) {
	for name, title := range map[string]string{"words": "Write the press release %d", "none": "🎉 🎉 🎉 🎉 🎉"} {
		b.Run(name, func(b *testing.B) {
			db, list := benchStore(b, filepath.Join(b.TempDir(), "cardwall.db"))
			empty := ""
			n := 0
			b.ResetTimer()
			// Use one transaction, so that disk writes are not measured.
			write(b, db, func(ctx context.Context, tx *store.Tx) error {
				l, err := tx.List(ctx, list, board.Edit)
				if err != nil {
					return err
				}
				for b.Loop() {
					n++
					text := title
					if strings.Contains(title, "%d") {
						text = fmt.Sprintf(title, n)
					}
					c := board.Card{ID: tx.NewID("crd_"), BoardID: l.BoardID, ListID: l.ID, Title: text, Description: &empty}
					// Use a savepoint per card, as the writer does per request.
					err := tx.Subtransaction(ctx, func() error {
						_, err := tx.InsertCard(ctx, &c, board.Position{})
						return err
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

func write(tb testing.TB, db *store.DB, fn func(ctx context.Context, tx *store.Tx) error) {
	tb.Helper()
	if err := db.Write(tb.Context(), board.System(), func(tx *store.Tx) error { return fn(tb.Context(), tx) }); err != nil {
		tb.Fatal(err)
	}
}

func benchStore(b *testing.B, address string) (*store.DB, string) {
	s := apptest.New(b, address, apptest.Options{})
	ada := s.Person("Ada")
	boardID := ada.Must("create_board",
		apptest.Fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Launch"}).ID()
	return s.DB, ada.Must("create_list", apptest.Fields{"boardId": boardID, "name": "To do"}).ID()
}

// BenchmarkSearch reads the first page of a search over 100,000 cards on 50 boards: 50
// cards, most recently changed first. The goal for one word is 20 ms.
func BenchmarkSearch(b *testing.B) {
	for name, address := range map[string]func() string{
		"sqlite":   func() string { return filepath.Join(b.TempDir(), "cardwall.db") },
		"postgres": func() string { return apptest.PostgresURL(b) },
	} {
		b.Run(name, func(b *testing.B) {
			s := apptest.New(b, address(), apptest.Options{})
			ada := s.Person("Ada")
			fill(b, s, ada, 50, 2000)
			for _, q := range []string{
				"needle", "word7", "half", "every", "every half third", "rare1 every", "\"every card\"", "\"card every\"", "wor*", "needl*", "ev*",
				"-every", "-needle", "title:every,half", "nothere", "label:bug", "member:me", "label:bug every", "is:done", "has:comment",
				"due:2030-01-01", "sparse every", "sort:title every", "sort:due",
			} {
				err := s.DB.Read(b.Context(), board.Person(ada.ID), func(v *store.View) error {
					tree, err := query.ParseSearch(q, query.Env{Now: s.DB.Now(), Me: ada.ID})
					if tree.Sort.By == query.SortNone {
						tree.Sort = query.Sort{By: query.SortUpdated, Desc: true}
					}
					if err != nil {
						return err
					}
					plans, err := v.Explain(b.Context(), store.CardPage{Query: tree, Limit: 51})
					b.Log(strings.Join(plans, "\n"))
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				b.Run(strings.ReplaceAll(q, " ", "+"), func(b *testing.B) {
					tree, err := query.ParseSearch(q, query.Env{Now: s.DB.Now(), Me: ada.ID})
					if err != nil {
						b.Fatal(err)
					}
					if tree.Sort.By == query.SortNone {
						tree.Sort = query.Sort{By: query.SortUpdated, Desc: true}
					}
					found := 0
					for b.Loop() {
						err := s.DB.Read(b.Context(), board.Person(ada.ID), func(v *store.View) error {
							cards, _, err := v.Cards(b.Context(), store.CardPage{Query: tree, Limit: 51})
							found = len(cards)
							return err
						})
						if err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(found), "cards")
				})
			}
		})
	}
}

// fill creates boards and cards. Update times are one second apart and rotate through the
// boards.
func fill(tb testing.TB, s *apptest.Service, ada *apptest.Person, boards, cards int) {
	workspace := ada.Workspace("Engines", board.PlanTeam)
	type target struct{ list, board, label string }
	var targets []target
	for i := range boards {
		b := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": fmt.Sprint("Board ", i)}).ID()
		targets = append(targets, target{ada.Must("create_list", apptest.Fields{"boardId": b, "name": "To do"}).ID(), b,
			ada.Must("create_label", apptest.Fields{"boardId": b, "name": "Bug", "color": "red"}).ID()})
	}
	n := 0
	ranks, err := board.RanksAfter("", cards)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range cards / 20 {
		write(tb, s.DB, func(ctx context.Context, tx *store.Tx) error {
			for j := range 20 {
				for _, p := range targets {
					n++
					title := fmt.Sprintf("every card word%d", n%1000)
					if n%2 == 0 {
						title += " half"
					}
					if n%3 == 0 {
						title += " third"
					}
					if n%10000 == 77 {
						title += " needle"
					}
					if n%100 == 50 {
						title += " rare" + fmt.Sprint(n%3)
					}
					if n%45 == 0 {
						title += " sparse"
					}
					id := tx.NewID("crd_")
					if err := tx.Change(ctx, `INSERT INTO cards (id, board_id, list_id, rank, number, title, created_at, updated_at, description)
						VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, id, p.board, p.list, ranks[i*20+j], i*20+j+1, title, n*1000, n*1000,
						"a description of some length"); err != nil {
						return err
					}
					if err := tx.Change(ctx, "INSERT INTO texts (card_id, place, ref, words) VALUES ($1, 'title', '', $2)", id,
						" "+title+" "); err != nil {
						return err
					}
					if n%500 == 0 {
						if err := tx.AddCardLabel(ctx, id, p.label); err != nil {
							return err
						}
					}
					if n%300 == 0 {
						if err := tx.AddAssignee(ctx, id, ada.ID); err != nil {
							return err
						}
					}
				}
			}
			return nil
		})
	}
	write(tb, s.DB, func(ctx context.Context, tx *store.Tx) error {
		return tx.Change(ctx, "UPDATE boards SET all_cards = $1, open_cards = $1", cards)
	})
	if s.DB.Dialect() == "postgres" {
		write(tb, s.DB, func(ctx context.Context, tx *store.Tx) error { return tx.Change(ctx, "ANALYZE") })
	}
}
