package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// BenchmarkReports measures four reports over REST in a workspace with 50 boards and 50,000 cards.
// The targets on SQLite are 150 ms for the dashboard and 30 ms for the calendar of one month.
func BenchmarkReports(b *testing.B) {
	for _, database := range []struct {
		name    string
		address func() string
	}{
		{"sqlite", func() string { return filepath.Join(b.TempDir(), "cardwall.db") }},
		{"postgres", func() string { return apptest.PostgresURL(b) }},
	} {
		b.Run(database.name, func(b *testing.B) {
			s := apptest.New(b, database.address(), apptest.Options{})
			ada := s.Person("Ada")
			workspace := ada.Workspace("Engines", board.PlanTeam)
			fillWorkspace(b, s, ada, workspace)
			from := s.Clock.Now().AddDate(0, 0, -15)
			month := fields{"workspaceId": workspace, "from": from.Format(board.DateLayout),
				"to": from.AddDate(0, 0, 30).Format(board.DateLayout)}
			for _, call := range []struct {
				name string
				in   fields
			}{
				{"get_workspace_dashboard", fields{"workspaceId": workspace}}, {"get_workspace_calendar", month},
				{"get_my_overview", nil}, {"list_recent_activity", nil},
			} {
				b.Run(call.name, func(b *testing.B) {
					size := 0
					for b.Loop() {
						r, w := ada.Request(s.Registry.Named(call.name), call.in), httptest.NewRecorder()
						r.Header.Set("Authorization", "Bearer "+ada.Token)
						if s.Handler.ServeHTTP(w, r); w.Code != http.StatusOK {
							b.Fatalf("got status %d, body %s; want 200", w.Code, w.Body)
						}
						size = w.Body.Len()
					}
					b.ReportMetric(float64(size), "bytes")
				})
			}
		})
	}
}

// fillWorkspace writes 50 boards with 1,000 cards each. About one third of the cards are done, two
// thirds have a due date within a year of today, most have a label, most have an assignee, and two
// thirds have been moved.
func fillWorkspace(b *testing.B, s *apptest.Service, ada *apptest.Person, workspace string) {
	people := []*apptest.Person{ada}
	for i := range 29 {
		people = append(people, s.Person(fmt.Sprint("Person", i)).Joins(workspace, board.WorkspaceMember))
	}
	random := rand.New(rand.NewPCG(1, 2))
	now := s.Clock.Now()
	ago := func(days int) board.Instant {
		return board.InstantOf(now.Add(-time.Duration(random.IntN(days*24*60)) * time.Minute))
	}
	ranks, err := board.RanksAfter("", 1000)
	if err != nil {
		b.Fatal(err)
	}
	text := "Two paragraphs that describe the work, as on a typical card. "
	text += text + text + text
	for range 50 {
		s.Write(board.Person(ada.ID), func(ctx context.Context, tx *store.Tx) error {
			in, err := tx.Workspace(ctx, workspace, board.ViewWorkspace)
			if err != nil {
				return err
			}
			w := board.Board{ID: tx.NewID("brd_"), WorkspaceID: workspace, Name: "Board", Visibility: board.VisibleToWorkspace,
				Features: board.NewBoardFeatures(), Version: 1000}
			d := tx.NewDraft(in)
			if err := d.Board(ctx, &w); err != nil {
				return err
			}
			var lists []string
			var labels []board.LabelRef
			limit := 150
			for i := range 6 {
				lists = append(lists, tx.NewID("lst_"))
				labels = append(labels, board.LabelRef{ID: tx.NewID("lbl_"), Name: fmt.Sprint("Label ", i), Color: "red"})
				if err := d.List(ctx, &board.List{ID: lists[i], BoardID: w.ID, Name: "List", Rank: ranks[i],
					WIPMode: "soft", WIPLimit: &limit}); err != nil {
					return err
				}
				if err := d.Label(ctx,
					&board.Label{ID: labels[i].ID, BoardID: w.ID, Name: labels[i].Name, Color: "red"}); err != nil {
					return err
				}
			}
			for i := range 1000 {
				c := board.Card{ID: tx.NewID("crd_"), BoardID: w.ID, ListID: lists[random.IntN(6)], Rank: ranks[i], Number: i + 1,
					Title: "A title of typical length", Description: &text, CreatedAt: ago(300), UpdatedAt: ago(60)}
				if random.IntN(3) == 0 {
					at := ago(200)
					c.DoneAt = &at
				}
				if random.IntN(3) > 0 {
					due := now.AddDate(0, 0, random.IntN(730)-365)
					in := board.DueInput{DueDate: due.Format(board.DateLayout), TimeZone: "Europe/Berlin",
						DueTime: []string{"", "17:00"}[random.IntN(2)]}
					if random.IntN(2) == 0 {
						in.StartDate = due.AddDate(0, 0, -random.IntN(14)).Format(board.DateLayout)
					}
					if c.Due, err = in.Resolve(); err != nil {
						return err
					}
				}
				if random.IntN(5) > 0 {
					c.Labels = append(c.Labels, labels[random.IntN(6)])
				}
				if random.IntN(3) > 0 {
					c.Assignees = append(c.Assignees, board.UserRef{ID: people[random.IntN(30)].ID})
				}
				if err := d.Card(ctx, &store.WholeCard{CardDetail: board.CardDetail{Card: c}}); err != nil {
					return err
				}
				e := board.Entry{ID: tx.NewID("act_"), Type: board.KindCardMoved, At: ago(200),
					Actor: board.EntryActor{Actor: board.Actor{Type: board.ActorSystem}}, BoardID: w.ID, CardID: &c.ID, BoardVersion: int64(i + 1),
					Changes: board.Changes{"listId": {From: c.ListID, To: c.ListID}}}
				if random.IntN(3) == 0 {
					e.Type = board.KindCardUpdated
				}
				if err := d.Entry(ctx, &e); err != nil {
					return err
				}
			}
			if err := d.EndBoard(ctx, w.ID, 1001); err != nil {
				return err
			}
			return d.Flush(ctx)
		})
	}
}
