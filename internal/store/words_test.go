package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/dbtool"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// finds returns the titles that a person's search finds, and the number of texts
// that the search index led to. It fails the test unless all texts are in the
// index.
func finds(t *testing.T, db *store.DB, caller board.Caller, page store.CardPage, q string) (titles []string, led int) {
	t.Helper()
	tree, err := query.ParseSearch(q, query.Env{Now: db.Now(), Me: caller.UserID})
	if err != nil {
		t.Fatal(err)
	}
	page.Query, page.Limit = tree, 500
	if err := db.Read(t.Context(), caller, func(v *store.View) error {
		if page.BoardID != "" {
			if _, err := v.Board(t.Context(), page.BoardID, board.View); err != nil {
				return err
			}
		}
		if led, err = v.Led(t.Context(), page); err != nil {
			return err
		}
		cards, _, err := v.Cards(t.Context(), page)
		for _, c := range cards {
			titles = append(titles, c.Title)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(titles)
	return titles, led
}

// twoWorkspaces is two workspaces of Ada's; Bob is a member of the second. Each has
// more texts than the backlog of SQLite's index.
type twoWorkspaces struct {
	*apptest.Service
	ada, bob           *apptest.Person
	workspaces, boards [2]string
	lists              [2]string
	cards              [2]string // the last card of each
}

func newTwoWorkspaces(t *testing.T, s *apptest.Service) *twoWorkspaces {
	w := &twoWorkspaces{Service: s, ada: s.Person("Ada"), bob: s.Person("Bob")}
	for i := range w.workspaces {
		w.workspaces[i] = w.ada.Workspace(fmt.Sprint("Engines ", i), board.PlanTeam)
		w.boards[i] = w.ada.Must("create_board", apptest.Fields{"workspaceId": w.workspaces[i], "name": "Launch"}).ID()
		w.lists[i] = w.ada.Must("create_list", apptest.Fields{"boardId": w.boards[i], "name": "To do"}).ID()
		for n := range 70 {
			title := fmt.Sprintf("%d-%02d paint", i, n)
			if n%10 == 9 {
				title += " thrustplate"
			}
			w.cards[i] = w.ada.Must("create_card", apptest.Fields{"listId": w.lists[i], "title": title}).ID()
		}
	}
	w.bob.Joins(w.workspaces[1], board.WorkspaceMember)
	return w
}

// titled returns the titles in one of the workspaces that contain the rare word.
func titled(i int) (titles []string) {
	for n := 9; n < 70; n += 10 {
		titles = append(titles, fmt.Sprintf("%d-%02d paint thrustplate", i, n))
	}
	return titles
}

// A word is looked up only among the texts of the page's workspaces.
func TestWordLookupStaysInWorkspaces(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newTwoWorkspaces(t, s)
		ada, bob := board.Person(w.ada.ID), board.Person(w.bob.ID)
		limited := ada
		limited.WorkspaceID = w.workspaces[0]
		check := func(when string, caller board.Caller, page store.CardPage, want []string) {
			t.Helper()
			sound(t, s)
			for _, q := range []string{"thrustplate", "thrustpl*", "title:thrustplate,nowhere", "thrustplate paint"} {
				got, led := finds(t, s.DB, caller, page, q)
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s: found %q, want %q", when, q, got, want)
				}
				if led != len(want) {
					t.Errorf("%s, %s: the index led to %d texts, want %d", when, q, led, len(want))
				}
			}
		}
		both := append(titled(0), titled(1)...)
		check("in both", ada, store.CardPage{}, both)
		check("in the first", ada, store.CardPage{WorkspaceID: w.workspaces[0]}, titled(0))
		check("on a board of the second", ada, store.CardPage{BoardID: w.boards[1]}, titled(1))
		check("of a limited token", limited, store.CardPage{}, titled(0))
		check("of a limited token, elsewhere", limited, store.CardPage{WorkspaceID: w.workspaces[1]}, nil)
		check("of a member of the second", bob, store.CardPage{}, titled(1))

		w.ada.Must("move_card_to_board", apptest.Fields{"cardId": w.cards[0], "listId": w.lists[1]})
		moved := append(titled(0)[6:], titled(1)...)
		check("after a card's move", bob, store.CardPage{}, moved)
		check("after a card's move, where it was", ada, store.CardPage{WorkspaceID: w.workspaces[0]}, titled(0)[:6])
		w.ada.Must("add_comment", apptest.Fields{"cardId": w.cards[0], "text": "a wiredrum"})
		sound(t, s)
		if got, led := finds(t, s.DB, bob, store.CardPage{}, "wiredrum"); !slices.Equal(got, moved[:1]) || led != 1 {
			t.Errorf("a comment after the move is found on %q, through %d texts", got, led)
		}
		w.ada.Must("move_list_to_board", apptest.Fields{"listId": w.lists[0], "boardId": w.boards[1]})
		check("after a list's move", bob, store.CardPage{}, both)
		check("after a list's move, where it was", ada, store.CardPage{WorkspaceID: w.workspaces[0]}, nil)
		if found, err := dbtool.Examine(t.Context(), s.DB); err != nil || len(found) > 0 {
			t.Errorf("the doctor says %v %v", found, err)
		}
	})
}

// For a person in as many workspaces as one lookup covers, the index is used. For a
// person in more, the cards are searched.
func TestWordsOfManyWorkspaces(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newTwoWorkspaces(t, s)
		ada := board.Person(w.ada.ID)
		add := func(from, to int) {
			s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				for i := from; i < to; i++ {
					id := tx.NewID("wsp_")
					for _, text := range []string{
						"INSERT INTO workspaces (id, organization_id, name, created_at) SELECT $1, max(organization_id), $2, 1 FROM workspaces",
						"INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES ($1, $2, 'member', 1)",
					} {
						if err := tx.Change(ctx, text, id, w.ada.ID); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}
		both := append(titled(0), titled(1)...)
		add(2, store.MostWorkspaces)
		sound(t, s)
		for _, q := range []string{"thrustplate", "thrustplate paint", "thrustpl*"} {
			if got, led := finds(t, s.DB, ada, store.CardPage{}, q); !slices.Equal(got, both) || led != len(both) {
				t.Errorf("in %d workspaces, %s found %d cards through %d texts, want %d", store.MostWorkspaces, q, len(got), led, len(both))
			}
		}
		add(store.MostWorkspaces, store.MostWorkspaces+1)
		if got, led := finds(t, s.DB, ada, store.CardPage{}, "thrustplate"); !slices.Equal(got, both) || led != 0 {
			t.Errorf("in one more, it found %d cards through %d texts, want %d through none", len(got), led, len(both))
		}
		if got, led := finds(t, s.DB, ada, store.CardPage{WorkspaceID: w.workspaces[0]}, "thrustplate"); !slices.Equal(got,
			titled(0)) || led != 7 {
			t.Errorf("in one of them, it found %q through %d texts", got, led)
		}
	})
}

// Before migration 021, the index did not contain workspaces, and there was no list
// of people without an address.
func TestOpenReindexesOldWords(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		file := filepath.Join(t.TempDir(), "newer.db")
		s := apptest.New(t, file, apptest.Options{})
		w := newTwoWorkspaces(t, s)
		former := w.formerPeople(t)
		older := filepath.Join(t.TempDir(), "older.db")
		apptest.CopyAsOf(t, file, older, database, 20)
		if !sqldb.IsPostgres(database) {
			database = older
		}
		for range 2 { // the second start finds nothing to do
			db, err := store.Open(t.Context(), store.Options{Database: database, Migrate: true, Clock: s.Clock.Now})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range [][]string{titled(0), titled(1)} {
				got, led := finds(t, db, board.Person(w.ada.ID), store.CardPage{WorkspaceID: w.workspaces[i]}, "thrustplate")
				if !slices.Equal(got, want) || led != len(want) {
					t.Errorf("in workspace %d, it found %q through %d texts", i, got, led)
				}
			}
			if got := apptest.Select(t, db, "SELECT workspace_id || ' ' || user_id FROM former_members ORDER BY 1"); !slices.Equal(got, former) {
				t.Errorf("the former members are %q, want %q", got, former)
			}
			if sqldb.IsPostgres(database) {
				if left := apptest.Select(t, db, "SELECT words FROM texts WHERE workspace_id IS NULL"); len(left) > 0 {
					t.Errorf("%d texts have no workspace", len(left))
				}
				if left := apptest.Select(t, db, "SELECT value FROM settings WHERE key = 'texts_workspace'"); len(left) > 0 {
					t.Error("the next start would index again")
				}
			}
			if found, err := dbtool.Examine(t.Context(), db); err != nil || len(found) > 0 {
				t.Errorf("the doctor says %v %v", found, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A server of the previous version does not know the column for the workspace of a
// text.
func TestOlderServersTextsAreIndexed(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newTwoWorkspaces(t, s)
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Change(ctx, "INSERT INTO texts (card_id, place, ref, words) VALUES ($1, 'comment', 'cmt_x', ' a wiredrum ')", w.cards[1])
		})
		sound(t, s)
		if got, led := finds(t, s.DB, board.Person(w.bob.ID), store.CardPage{}, "wiredrum"); len(got) != 1 || led != 1 {
			t.Errorf("the text is found on %q, through %d texts", got, led)
		}
	})
}

// formerPeople assigns a card of each workspace to a person from elsewhere and to
// Carol, deletes Carol's account, and returns the expected former members.
func (w *twoWorkspaces) formerPeople(t *testing.T) (want []string) {
	t.Helper()
	carol := w.Person("Carol")
	for i, workspace := range w.workspaces {
		w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			in, err := tx.Workspace(ctx, workspace, board.ViewWorkspace)
			if err != nil {
				return err
			}
			d := tx.NewDraft(in)
			elsewhere, err := d.Placeholder(ctx, tx.NewID("usr_"), fmt.Sprint("Elsewhere ", i))
			if err := errors.Join(err, d.Flush(ctx)); err != nil {
				return err
			}
			want = append(want, workspace+" "+elsewhere, workspace+" "+carol.ID)
			for _, id := range []string{elsewhere, carol.ID} {
				if err := tx.AddAssignee(ctx, w.cards[i], id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, carol.ID) })
	slices.Sort(want)
	return want
}

// A report reads only those people without an address who belong to its workspace,
// however they lost the address and however the card got there.
func TestReportPeopleAreOfTheWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newTwoWorkspaces(t, s)
		former := w.formerPeople(t)
		if got := s.Column("SELECT workspace_id || ' ' || user_id FROM former_members ORDER BY 1"); !slices.Equal(got, former) {
			t.Errorf("the former members are %q, want %q", got, former)
		}
		people := func(workspace string) (names []string) {
			t.Helper()
			if err := s.DB.Read(t.Context(), board.Person(w.ada.ID), func(v *store.View) error {
				return v.ReportPeople(t.Context(), workspace, "crd_", "crd_z", func(u board.UserRef, cards string) {
					names = append(names, fmt.Sprint(u.Name, " ", len(strings.Fields(cards))))
				})
			}); err != nil {
				t.Fatal(err)
			}
			slices.Sort(names)
			return names
		}
		if got, want := people(w.workspaces[0]), []string{"Ada 0", "Deleted user 2", "Elsewhere 0 1"}; !slices.Equal(got, want) {
			t.Errorf("the people of the first are %q, want %q", got, want)
		}
		if got, want := people(w.workspaces[1]), []string{"Ada 0", "Bob 0", "Deleted user 2", "Elsewhere 1 1"}; !slices.Equal(got, want) {
			t.Errorf("the people of the second are %q, want %q", got, want)
		}
		// This has the same effect as a move to another board that keeps the
		// assignees.
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Change(ctx, "UPDATE cards SET board_id = $1, list_id = $2, rank = 'zz', number = 900 WHERE id = $3", w.boards[1],
				w.lists[1], w.cards[0])
		})
		if got, want := people(w.workspaces[1]), []string{"Ada 0", "Bob 0", "Deleted user 2", "Elsewhere 0 1",
			"Elsewhere 1 1"}; !slices.Equal(got, want) {
			t.Errorf("after a move the people of the second are %q, want %q", got, want)
		}
		// A person with an address is read only as a member.
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Change(ctx, "UPDATE users SET email = 'back@example.com' WHERE name = 'Elsewhere 0'")
		})
		if got, want := people(w.workspaces[1]), []string{"Ada 0", "Bob 0", "Deleted user 2", "Elsewhere 1 1"}; !slices.Equal(got, want) {
			t.Errorf("with an address the people of the second are %q, want %q", got, want)
		}
	})
}

// On SQLite, queries about one workspace or for one person find their rows through
// indexes that begin there. No query scans a whole table, or all people without an
// address.
func TestReadsStayInTheWorkspace(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	w := newTwoWorkspaces(t, s)
	ctx, workspace := t.Context(), w.workspaces[0]
	search := func(q string) func(v *store.View) error {
		return func(v *store.View) error {
			tree, err := query.ParseSearch(q, query.Env{Now: s.DB.Now(), Me: w.ada.ID})
			if err != nil {
				return err
			}
			tree.Sort = query.Sort{By: query.SortUpdated, Desc: true}
			_, _, err = v.Cards(ctx, store.CardPage{Query: tree, Limit: 51})
			return err
		}
	}
	for name, fn := range map[string]func(v *store.View) error{
		"boards":       func(v *store.View) error { _, err := v.Boards(ctx, "", true, "", 1000); return err },
		"boards of":    func(v *store.View) error { _, err := v.Boards(ctx, workspace, false, "brd_0", 50); return err },
		"in trash":     func(v *store.View) error { _, err := v.TrashedBoards(ctx, workspace, "", 50); return err },
		"workspaces":   func(v *store.View) error { _, err := v.Workspaces(ctx, "", 1000); return err },
		"in trash too": func(v *store.View) error { _, err := v.TrashedWorkspaces(ctx); return err },
		"visits":       func(v *store.View) error { _, err := v.Visits(ctx); return err },
		"activity": func(v *store.View) error {
			_, err := v.RecentActivity(ctx, store.ActivityCursor{At: v.Now(), BoardID: "brd_z"}, 50)
			return err
		},
		"my cards": func(v *store.View) error {
			_, _, err := v.Cards(ctx, store.CardPage{Assigned: true, Query: query.Query{Sort: query.Sort{By: query.SortDue}}, Limit: 51})
			return err
		},
		"report": func(v *store.View) error {
			_, err := v.ReportBoards(ctx, workspace)
			return errors.Join(err,
				v.ReportLists(ctx, workspace, store.ReportCut{}, func(store.ReportList) {}),
				v.ReportPeople(ctx, workspace, "crd_", "crd_z", func(board.UserRef, string) {}),
				v.ReportLabels(ctx, workspace, func(string, board.Color, string) {}),
				v.ReportFlows(ctx, workspace, 0, func(store.ReportFlow) {}))
		},
		"calendar": func(v *store.View) error {
			_, err := v.CountUndated(ctx, workspace)
			return errors.Join(err, v.Calendar(ctx, store.CalendarWindow{WorkspaceID: workspace}, func(store.CalendarBoard) error { return nil }))
		},
		"search":        search("thrustplate"),
		"search of two": search("thrustplate label:bug"),
		"no search":     search("-thrustplate"),
	} {
		if err := s.DB.Read(ctx, board.Person(w.ada.ID), func(v *store.View) error {
			plans, err := v.Explained(fn)
			if len(plans) == 0 {
				t.Errorf("%s ran no query", name)
			}
			for _, plan := range plans {
				for line := range strings.Lines(plan) {
					if step := strings.TrimSpace(line); scanned.MatchString(step) || strings.HasSuffix(step, "users_email (email=?)") {
						t.Errorf("%s: %s in\n%s", name, step, plan)
					}
				}
			}
			return err
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// scanned matches a step that scans a table, or reads it from an id on. It does not
// match the full-text index or intermediate results (t, g, n, s, f, e, p and
// subqueries).
var scanned = regexp.MustCompile(`^SCAN (?:[abcdhijklmoqruvwxyz]|[a-z]{2,})\b(?:$| USING (?:COVERING )?INDEX)|^SEARCH .*\(id>\?\)$`)
