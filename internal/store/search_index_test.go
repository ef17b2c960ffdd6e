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
	"cardwall/internal/store"
)

// findTitles returns the sorted titles of the cards that a search finds, and the number of
// entries that the search index returned for it. The number is 0 if the search does not
// use the index.
func findTitles(t *testing.T, db *store.DB, caller board.Caller, page store.CardPage, q string) (titles []string, indexed int) {
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
		if indexed, err = v.LeadCount(t.Context(), page); err != nil {
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
	return titles, indexed
}

// twoWorkspaces contains two workspaces that Ada owns. Bob is a member of the second. Each
// has more index entries than the backlog of SQLite's search index can hold.
type twoWorkspaces struct {
	*apptest.Service
	ada, bob           *apptest.Person
	workspaces, boards [2]string
	lists              [2]string
	cards              [2]string // the last card in each list
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

// rareTitles returns the titles with the word "thrustplate" in one of the workspaces.
func rareTitles(i int) (titles []string) {
	for n := 9; n < 70; n += 10 {
		titles = append(titles, fmt.Sprintf("%d-%02d paint thrustplate", i, n))
	}
	return titles
}

// A search reads only the index entries of the page's workspaces.
func TestIndexLookupStaysInWorkspaces(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newTwoWorkspaces(t, s)
		ada, bob := board.Person(w.ada.ID), board.Person(w.bob.ID)
		restricted := ada
		restricted.WorkspaceID = w.workspaces[0]
		check := func(name string, caller board.Caller, page store.CardPage, want []string) {
			t.Helper()
			checkIndex(t, s)
			for _, q := range []string{"thrustplate", "thrustpl*", "title:thrustplate,nowhere", "thrustplate paint"} {
				got, indexed := findTitles(t, s.DB, caller, page, q)
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s: got titles %q, want %q", name, q, got, want)
				}
				if indexed != len(want) {
					t.Errorf("%s, %s: got %d entries from the index, want %d", name, q, indexed, len(want))
				}
			}
		}
		both := append(rareTitles(0), rareTitles(1)...)
		check("both workspaces", ada, store.CardPage{}, both)
		check("first workspace", ada, store.CardPage{WorkspaceID: w.workspaces[0]}, rareTitles(0))
		check("board of the second workspace", ada, store.CardPage{BoardID: w.boards[1]}, rareTitles(1))
		check("restricted token", restricted, store.CardPage{}, rareTitles(0))
		check("restricted token, other workspace", restricted, store.CardPage{WorkspaceID: w.workspaces[1]}, nil)
		check("member of the second workspace", bob, store.CardPage{}, rareTitles(1))

		w.ada.Must("move_card_to_board", apptest.Fields{"cardId": w.cards[0], "listId": w.lists[1]})
		moved := append(rareTitles(0)[6:], rareTitles(1)...)
		check("new workspace of a moved card", bob, store.CardPage{}, moved)
		check("former workspace of a moved card", ada, store.CardPage{WorkspaceID: w.workspaces[0]}, rareTitles(0)[:6])
		w.ada.Must("add_comment", apptest.Fields{"cardId": w.cards[0], "text": "a wiredrum"})
		checkIndex(t, s)
		if got, indexed := findTitles(t, s.DB, bob, store.CardPage{}, "wiredrum"); !slices.Equal(got, moved[:1]) || indexed != 1 {
			t.Errorf("comment on a moved card: got titles %q and %d entries from the index, want %q and 1", got, indexed, moved[:1])
		}
		w.ada.Must("move_list_to_board", apptest.Fields{"listId": w.lists[0], "boardId": w.boards[1]})
		check("new workspace of a moved list", bob, store.CardPage{}, both)
		check("former workspace of a moved list", ada, store.CardPage{WorkspaceID: w.workspaces[0]}, nil)
		if found, err := dbtool.Examine(t.Context(), s.DB); err != nil || len(found) > 0 {
			t.Errorf("got findings %v (%v), want none", found, err)
		}
	})
}

// A search uses the index for a person in at most store.MaxWorkspaces workspaces. For a
// person in more workspaces, it scans the cards.
func TestSearchInManyWorkspaces(t *testing.T) {
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
		both := append(rareTitles(0), rareTitles(1)...)
		add(2, store.MaxWorkspaces)
		checkIndex(t, s)
		for _, q := range []string{"thrustplate", "thrustplate paint", "thrustpl*"} {
			if got, indexed := findTitles(t, s.DB, ada, store.CardPage{}, q); !slices.Equal(got, both) || indexed != len(both) {
				t.Errorf("%s: got %d cards and %d entries from the index, want %d of each", q, len(got), indexed, len(both))
			}
		}
		add(store.MaxWorkspaces, store.MaxWorkspaces+1)
		if got, indexed := findTitles(t, s.DB, ada, store.CardPage{}, "thrustplate"); !slices.Equal(got, both) || indexed != 0 {
			t.Errorf("one workspace too many: got %d cards and %d entries from the index, want %d and 0", len(got), indexed, len(both))
		}
		if got, indexed := findTitles(t, s.DB, ada, store.CardPage{WorkspaceID: w.workspaces[0]}, "thrustplate"); !slices.Equal(got,
			rareTitles(0)) || indexed != 7 {
			t.Errorf("one of many workspaces: got %q and %d entries from the index, want %q and 7", got, indexed, rareTitles(0))
		}
	})
}

// The database sets the workspace of an index entry, because the program does not.
func TestEntriesWithoutWorkspaceAreIndexed(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newTwoWorkspaces(t, s)
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Change(ctx, "INSERT INTO texts (card_id, place, ref, words) VALUES ($1, 'comment', 'cmt_x', ' a wiredrum ')", w.cards[1])
		})
		checkIndex(t, s)
		if got, indexed := findTitles(t, s.DB, board.Person(w.bob.ID), store.CardPage{}, "wiredrum"); len(got) != 1 || indexed != 1 {
			t.Errorf("got titles %q and %d entries from the index, want 1 of each", got, indexed)
		}
	})
}

// addFormerMembers assigns a card of each workspace to an import placeholder and to Carol,
// and deletes Carol's account. It returns the rows that former_members must have.
func (w *twoWorkspaces) addFormerMembers(t *testing.T) (want []string) {
	t.Helper()
	carol := w.Person("Carol")
	for i, workspace := range w.workspaces {
		w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			in, err := tx.Workspace(ctx, workspace, board.ViewWorkspace)
			if err != nil {
				return err
			}
			d := tx.NewDraft(in)
			placeholder, err := d.Placeholder(ctx, tx.NewID("usr_"), fmt.Sprint("Placeholder ", i))
			if err := errors.Join(err, d.Flush(ctx)); err != nil {
				return err
			}
			want = append(want, workspace+" "+placeholder, workspace+" "+carol.ID)
			for _, id := range []string{placeholder, carol.ID} {
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

// A report reads people without an email address only if cards in the report's
// workspace are assigned to them. It does not matter why they have no address or how
// the cards got into the workspace.
func TestReportPeopleStayInWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newTwoWorkspaces(t, s)
		former := w.addFormerMembers(t)
		if got := s.Column("SELECT workspace_id || ' ' || user_id FROM former_members ORDER BY 1"); !slices.Equal(got, former) {
			t.Errorf("got former members %q, want %q", got, former)
		}
		people := func(workspace string) (names []string) {
			t.Helper()
			if err := s.DB.Read(t.Context(), board.Person(w.ada.ID), func(v *store.View) error {
				return v.ReportPeople(t.Context(), workspace, func(u board.UserRef) { names = append(names, u.Name) })
			}); err != nil {
				t.Fatal(err)
			}
			slices.Sort(names)
			return names
		}
		if got, want := people(w.workspaces[0]), []string{"Ada", "Deleted user", "Placeholder 0"}; !slices.Equal(got, want) {
			t.Errorf("first workspace: got people %q, want %q", got, want)
		}
		if got, want := people(w.workspaces[1]), []string{"Ada", "Bob", "Deleted user", "Placeholder 1"}; !slices.Equal(got, want) {
			t.Errorf("second workspace: got people %q, want %q", got, want)
		}
		// The update has the effect of a move to another board that keeps the assignees.
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Change(ctx, "UPDATE cards SET board_id = $1, list_id = $2, rank = 'zz', number = 900 WHERE id = $3", w.boards[1],
				w.lists[1], w.cards[0])
		})
		if got, want := people(w.workspaces[1]), []string{"Ada", "Bob", "Deleted user", "Placeholder 0",
			"Placeholder 1"}; !slices.Equal(got, want) {
			t.Errorf("second workspace after a move: got people %q, want %q", got, want)
		}
		// A report reads a person with an address only if the person is a member.
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.Change(ctx, "UPDATE users SET email = 'back@example.com' WHERE name = 'Placeholder 0'")
		})
		if got, want := people(w.workspaces[1]), []string{"Ada", "Bob", "Deleted user", "Placeholder 1"}; !slices.Equal(got, want) {
			t.Errorf("second workspace after adding an address: got people %q, want %q", got, want)
		}
	})
}

// On SQLite, queries about a workspace or a person find their rows through an index on
// the workspace or the person. No query scans a whole table or all people without an
// email address.
func TestReadsStayInWorkspace(t *testing.T) {
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
		"boards":                func(v *store.View) error { _, err := v.Boards(ctx, "", true, "", 1000); return err },
		"boards of a workspace": func(v *store.View) error { _, err := v.Boards(ctx, workspace, false, "brd_0", 50); return err },
		"trashed boards":        func(v *store.View) error { _, err := v.TrashedBoards(ctx, workspace, "", 50); return err },
		"workspaces":            func(v *store.View) error { _, err := v.Workspaces(ctx, "", 1000); return err },
		"trashed workspaces":    func(v *store.View) error { _, err := v.TrashedWorkspaces(ctx); return err },
		"visits":                func(v *store.View) error { _, err := v.Visits(ctx); return err },
		"activity": func(v *store.View) error {
			_, err := v.RecentActivity(ctx, 0, store.ActivityCursor{At: v.Now(), BoardID: "brd_z"}, 50)
			return err
		},
		"my cards": func(v *store.View) error {
			_, _, err := v.Cards(ctx, store.CardPage{Assigned: true, Query: query.Query{Sort: query.Sort{By: query.SortDue}}, Limit: 51})
			return err
		},
		"report": func(v *store.View) error {
			_, err := v.Summaries(ctx, w.boards[:])
			return errors.Join(err, v.ReportBoards(ctx, workspace, func(store.ReportBoard) {}),
				v.ReportPeople(ctx, workspace, func(board.UserRef) {}))
		},
		"summaries": func(v *store.View) error {
			_, err := v.OutdatedSummaries(ctx, workspace, 8)
			return err
		},
		"calendar": func(v *store.View) error {
			_, err := v.CountUndated(ctx, workspace)
			_, boardsErr := v.CalendarBoards(ctx, workspace, "")
			_, cardsErr := v.Calendar(ctx, store.CalendarWindow{}, w.boards[:])
			return errors.Join(err, boardsErr, cardsErr)
		},
		"search":              search("thrustplate"),
		"search with a label": search("thrustplate label:bug"),
		"negated search":      search("-thrustplate"),
	} {
		if err := s.DB.Read(ctx, board.Person(w.ada.ID), func(v *store.View) error {
			plans, err := v.ExplainAll(fn)
			if len(plans) == 0 {
				t.Errorf("%s: got no query plans, want at least one", name)
			}
			for _, plan := range plans {
				for line := range strings.Lines(plan) {
					if step := strings.TrimSpace(line); scanned.MatchString(step) || strings.HasSuffix(step, "users_email (email=?)") {
						t.Errorf("%s: got the step %q, want no scan:\n%s", name, step, plan)
					}
				}
			}
			return err
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// scanned matches a step of a query plan that scans a table, or reads a table starting at
// an id. It does not match the full-text index or intermediate results, whose aliases are
// t, g, n, s, f, e and p.
var scanned = regexp.MustCompile(`^SCAN (?:[abcdhijklmoqruvwxyz]|[a-z]{2,})\b(?:$| USING (?:COVERING )?INDEX)|^SEARCH .*\(id>\?\)$`)

// The index returns only the entries that contain the words of a phrase next to each
// other, even if many entries contain the words. On PostgreSQL, it returns the entries
// that contain each pair of adjacent words.
func TestIndexFindsPhrases(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		fill(t, s, ada, 1, 300) // 50 titles end in "half third"
		b := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("Drums", board.PlanTeam), "name": "Launch"}).ID()
		list := ada.Must("create_list", apptest.Fields{"boardId": b, "name": "To do"}).ID()
		for _, title := range []string{"A third half", "Third: half a day", "Third, Half third"} {
			ada.Must("create_card", apptest.Fields{"listId": list, "title": title})
		}
		checkIndex(t, s)
		for q, want := range map[string][]string{
			`"third half"`:         {"A third half", "Third, Half third", "Third: half a day"},
			`"third half third"`:   {"Third, Half third"},
			`"a third half"`:       {"A third half"},
			`"half a day"`:         {"Third: half a day"},
			`"third half d"`:       nil,
			`"third half a" "day"`: {"Third: half a day"},
			`"card every"`:         nil,
		} {
			got, indexed := findTitles(t, s.DB, board.Person(ada.ID), store.CardPage{}, q)
			if !slices.Equal(got, want) || indexed != len(want) {
				t.Errorf("%s: got %q and %d entries from the index, want %q", q, got, indexed, want)
			}
		}
	})
}

// On PostgreSQL, writes append to a list of new entries, which MergeSearchIndex empties.
// Searches find the entries before and after the merge.
func TestNewEntriesAreMerged(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{})
	ada := s.Person("Ada")
	b := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Launch"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": b, "name": "To do"}).ID()
	s.Column("CREATE EXTENSION pageinspect")
	check := func(when string, pending bool, want ...string) {
		t.Helper()
		count := s.Column("SELECT n_pending_tuples::text FROM gin_metapage_info(get_raw_page('texts_by_terms', 0))")[0]
		if (count != "0") != pending {
			t.Errorf("%s: got %s pending entries, want pending entries: %v", when, count, pending)
		}
		got, indexed := findTitles(t, s.DB, board.Person(ada.ID), store.CardPage{}, "thrustplate")
		if !slices.Equal(got, want) || indexed != len(want) {
			t.Errorf("%s: got %q and %d entries from the index, want %q", when, got, indexed, want)
		}
	}
	merge := func() {
		t.Helper()
		if err := s.DB.MergeSearchIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ada.Must("create_card", apptest.Fields{"listId": list, "title": "Thrustplate one"})
	check("after a new card", true, "Thrustplate one")
	merge()
	check("after merging", false, "Thrustplate one")
	merge()
	ada.Must("create_card", apptest.Fields{"listId": list, "title": "Two", "description": "thrustplate"})
	check("after another card", true, "Thrustplate one", "Two")
	merge()
	check("after merging again", false, "Thrustplate one", "Two")
}
