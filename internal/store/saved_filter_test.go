package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// BenchmarkFilterCards reads the first page of 50 cards that match a filter, among
// 50,000 cards on 50 boards. The goal for a typical filter on SQLite is 30 ms.
func BenchmarkFilterCards(b *testing.B) {
	for name, address := range map[string]func() string{
		"sqlite":   func() string { return filepath.Join(b.TempDir(), "cardwall.db") },
		"postgres": func() string { return apptest.PostgresURL(b) },
	} {
		b.Run(name, func(b *testing.B) {
			s := apptest.New(b, address(), apptest.Options{})
			ada := s.Person("Ada")
			fill(b, s, ada, 50, 1000)
			workspace := ada.Must("list_workspaces", nil).Text("0.id")
			today := s.DB.Now().UTC()
			for day := range 40 { // of every 70 cards, six are overdue and four are due within a week
				write(b, s.DB, func(ctx context.Context, tx *store.Tx) error {
					return tx.Change(ctx, "UPDATE cards SET due_date = $1 WHERE number % 70 = $2",
						today.AddDate(0, 0, (day-6)*2).Format(time.DateOnly), day)
				})
			}
			if s.DB.Dialect() == "postgres" {
				write(b, s.DB, func(ctx context.Context, tx *store.Tx) error { return tx.Change(ctx, "ANALYZE") })
			}
			for _, q := range []string{
				"", "is:open", "is:open label:bug", "member:me", "member:me due:week", "is:overdue", "due:week", "is:overdue sort:due",
				"due:week sort:due", "due:none is:unassigned",
				"is:open has:label sort:-due", "created:7 sort:title", "every member:me sort:due", "is:archived", "label:nothere", "has:comment",
			} {
				tree, err := query.Filter{}.Within(q, query.Env{Now: s.DB.Now(), Me: ada.ID})
				if err != nil {
					b.Fatal(err)
				}
				if tree.Sort.By == query.SortNone {
					tree.Sort = query.Sort{By: query.SortUpdated, Desc: true}
				}
				page := store.CardPage{WorkspaceID: workspace, IncludeArchived: tree.Archived != query.ArchivedNo, Query: tree, Limit: 51}
				err = s.DB.Read(b.Context(), board.Person(ada.ID), func(v *store.View) error {
					plans, err := v.Explain(b.Context(), page)
					b.Log(strings.Join(plans, "\n"))
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%q", q), func(b *testing.B) {
					found := 0
					for b.Loop() {
						err := s.DB.Read(b.Context(), board.Person(ada.ID), func(v *store.View) error {
							cards, _, err := v.Cards(b.Context(), page)
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
