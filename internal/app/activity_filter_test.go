package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// filteredOperations are the lists with filters on kinds, actors and times.
var filteredOperations = []string{"list_board_activity", "list_board_changes"}

// filterHistory makes a board with changes by Ada and Bob, an hour apart: Ada creates two cards, Bob
// moves one, Ada completes it, and Bob creates another. It returns the board, the first card, and the
// time of Bob's move.
func filterHistory(s *apptest.Service) (ada, bob *apptest.Person, boardID, card string, moved time.Time) {
	ada, bob = s.Person("Ada"), s.Person("Bob")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	bob.Joins(workspace, board.WorkspaceMember)
	boardID, lists, cards := newBoardWithCards(ada, workspace, 2, 1)
	card = cards[lists[0]][0]
	s.Clock.Advance(time.Hour)
	bob.Must("move_card", fields{"cardId": card, "listId": lists[1]})
	moved, err := time.Parse(time.RFC3339, bob.Must("list_board_activity", fields{"boardId": boardID, "limit": 1}).Text("0.at"))
	if err != nil {
		s.T.Fatal(err)
	}
	s.Clock.Advance(time.Hour)
	ada.Must("update_card", fields{"cardId": card, "done": true})
	s.Clock.Advance(time.Hour)
	bob.Must("create_card", fields{"listId": lists[0], "title": "By Bob"})
	return ada, bob, boardID, card, moved
}

// Filters on kinds, actors and times work alone and combined, in pages of any size.
func TestChangesAreFiltered(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, boardID, card, moved := filterHistory(s)
		at := func(after time.Duration) string {
			return board.InstantOf(moved.Add(after)).String()
		}
		for _, c := range []struct {
			filter fields
			want   string // oldest first
		}{
			{fields{"type": "card.moved"}, "card.moved"},
			{fields{"type": "card.completed, card.moved"}, "card.moved card.completed"},
			{fields{"type": "label.created"}, ""},
			{fields{"actor": bob.ID}, "card.moved card.created"},
			{fields{"actor": "automation,guest,system"}, ""},
			{fields{"actor": "me", "type": "card.created,card.completed"}, "card.created card.created card.completed"},
			{fields{"actor": "me," + bob.ID, "type": "card.created"}, "card.created card.created card.created"},
			{fields{"actor": "usr_00000000000000000000000000"}, ""},
			{fields{"from": at(0)}, "card.moved card.completed card.created"},
			{fields{"from": at(time.Millisecond)}, "card.completed card.created"},
			{fields{"until": at(0), "type": "card.created"}, "card.created card.created"},
			{fields{"until": at(0), "type": "card.moved"}, ""},
			{fields{"from": at(0), "until": at(time.Millisecond)}, "card.moved"},
			{fields{"from": at(0), "until": at(time.Hour)}, "card.moved"},
			{fields{"from": at(time.Minute), "until": at(time.Hour)}, ""},
			{fields{"from": at(0), "actor": "me", "until": at(3 * time.Hour)}, "card.completed"},
			{fields{"from": "2026-01-01T00:00:00+02:00", "until": "2026-01-02T00:00:00Z"}, ""},
		} {
			for _, name := range filteredOperations {
				want := strings.Fields(c.want)
				if name == "list_board_activity" {
					slices.Reverse(want)
				}
				for _, limit := range []int{1, 2, 50} {
					in := with(with(c.filter, "boardId", boardID), "limit", limit)
					if got := ada.All(name, "type", in); !slices.Equal(got, want) {
						t.Errorf("%s %v: got %q, want %q", name, in, got, want)
					}
				}
			}
		}
		in := fields{"boardId": boardID, "cardId": card, "actor": "me"}
		if got := ada.All("list_board_activity", "type", in); !slices.Equal(got, []string{"card.completed", "card.created"}) {
			t.Errorf("what Ada did to the card: got %q, want that she created and completed it", got)
		}
		if got := ada.Tool("list_board_changes", fields{"boardId": boardID, "type": "card.moved"}).Get("0.cardId"); got != card {
			t.Errorf("over MCP: got a move of %s, want %s", got, card)
		}
		version := ada.Must("list_board_changes", fields{"boardId": boardID, "type": "card.moved"}).Get("0.boardVersion")
		since := fields{"boardId": boardID, "since": version, "type": "card.moved,card.completed"}
		if got := ada.All("list_board_changes", "type", since); !slices.Equal(got, []string{"card.completed"}) {
			t.Errorf("since the move: got %q, want only the completed card", got)
		}
	})
}

func TestFiltersOfChangesAreChecked(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, boardID, _, _ := filterHistory(s)
		stranger := s.Person("Eve")
		for _, name := range filteredOperations {
			here := fields{"boardId": boardID}
			for _, wrong := range []fields{
				{"type": "card.exploded"}, {"type": "card.moved,"}, {"type": "card.due"}, {"actor": "Ada"}, {"actor": "person"},
				{"from": "yesterday"}, {"from": "2026-03-02"},
				{"from": "2026-03-02T09:00:00Z", "until": "2026-03-02T09:00:00Z"},
			} {
				for field, value := range wrong {
					here = with(here, field, value)
				}
				ada.Refused(board.CodeInvalidRequest, name, here)
				here = fields{"boardId": boardID}
			}
			a := ada.Call(name, with(here, "type", "card.moved,card.exploded"))
			if !strings.Contains(a.Message, "card.created") || !strings.Contains(a.Message, "value 2") {
				t.Errorf("%s with an unknown kind: got %q, want the kinds that it takes", name, a.Message)
			}
			// A cursor is valid only with its own filters.
			next := ada.Must(name, fields{"boardId": boardID, "limit": 1, "type": "card.created"}).Next
			ada.Refused(board.CodeInvalidRequest, name, fields{"boardId": boardID, "limit": 1, "cursor": next})
			ada.Refused(board.CodeInvalidRequest, name, fields{"boardId": boardID, "limit": 1, "type": "card.moved", "cursor": next})
			stranger.Refused(board.CodeNotFound, name, with(here, "type", "card.moved"))
			if got := bob.All(name, "type", with(here, "actor", "me")); len(got) != 2 {
				t.Errorf("%s by Bob: got %q, want his two changes", name, got)
			}
		}
	})
}

func TestRecentActivityIsFilteredByTime(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, _, boardID, _, moved := filterHistory(s)
		s.Clock.Advance(time.Hour)
		ada.Must("update_board", fields{"boardId": boardID, "name": "Other"})
		from, until := board.InstantOf(moved).String(), board.InstantOf(moved.Add(2*time.Hour)).String()
		for _, limit := range []int{1, 2, 50} {
			got := ada.All("list_recent_activity", "type", fields{"from": from, "until": until, "limit": limit})
			if !slices.Equal(got, []string{"card.completed", "card.moved"}) {
				t.Errorf("in pages of %d: got %q, want the two changes between %s and %s", limit, got, from, until)
			}
		}
		ada.Refused(board.CodeInvalidRequest, "list_recent_activity", fields{"from": until, "until": from})
	})
}

// A page of a long history reads a limited number of changes, whatever its filters match. A time that
// few changes have is found at once.
func TestFiltersReadALongHistoryInParts(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		const added = 25_000
		ada, _, boardID, card, _ := filterHistory(s)
		version := int64(ada.Must("get_board", fields{"boardId": boardID}).Get("version").(float64))
		begin := int64(board.InstantOf(s.Clock.Now())) + 1000
		apptest.Change(t, s.DB, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO activity (board_id, version, id, type, at, actor_type, actor_id, card_id, changes)
			SELECT CAST($2 AS TEXT), CAST($3 AS BIGINT) + i, 'act_long_' || i, 'card.updated',
				CAST($4 AS BIGINT) + 1000 * i, 'person', CAST($5 AS TEXT), CAST($6 AS TEXT), '{}' FROM n`,
			added, boardID, version, begin, ada.ID, card)
		apptest.Change(t, s.DB, "UPDATE boards SET version = version + $1 WHERE id = $2", added, boardID)
		pages := func(name string, in fields) (n int, found []string) {
			in = with(in, "boardId", boardID)
			for {
				a := ada.Must(name, in)
				n, found = n+1, append(found, a.Each("type")...)
				if a.Next == "" {
					return n, found
				}
				in = with(in, "cursor", a.Next)
			}
		}
		last := board.Instant(begin + 1000*added)
		for _, c := range []struct {
			name  string
			in    fields
			pages int
			found int
		}{
			{"list_board_activity", fields{"type": "label.created"}, 3, 0},
			{"list_board_changes", fields{"type": "label.created"}, 3, 0},
			{"list_board_activity", fields{"type": "card.moved"}, 3, 1},
			{"list_board_activity", fields{"type": "card.moved", "cardId": card}, 3, 1},
			{"list_board_changes", fields{"type": "card.moved"}, 3, 1},
			{"list_board_changes", fields{"type": "card.moved", "since": version + added - 50}, 1, 0},
			{"list_board_activity", fields{"from": (last - 1000).String()}, 1, 2},
			{"list_board_activity", fields{"until": (board.Instant(begin)).String(), "type": "card.moved"}, 1, 1},
			{"list_board_activity", fields{"from": (last + 1).String()}, 1, 0},
		} {
			if n, found := pages(c.name, c.in); n != c.pages || len(found) != c.found {
				t.Errorf("%s %v: got %d records in %d pages, want %d in %d", c.name, c.in, len(found), n, c.found, c.pages)
			}
		}
	})
}

// Changes with filters are refused, too, if some of the changes that they read are no longer kept.
func TestFilteredChangesMissNone(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, _, boardID, _, _ := filterHistory(s)
		apptest.Change(t, s.DB, "DELETE FROM activity WHERE board_id = $1 AND version = 2", boardID)
		in := fields{"boardId": boardID, "type": "card.moved"}
		for since, refused := range map[int]bool{0: true, 1: true, 2: false, 3: false} {
			a := ada.Call("list_board_changes", with(in, "since", since))
			if got := strings.Contains(string(a.Raw), `"reason":"changes_removed"`); got != refused {
				t.Errorf("since %d: got %s; want reason changes_removed: %t", since, fmt.Sprint(a.Status, string(a.Raw)), refused)
			}
		}
		if got := ada.All("list_board_activity", "type", in); !slices.Equal(got, []string{"card.moved"}) {
			t.Errorf("the activity: got %q, want the move", got)
		}
	})
}

// A page of changes names the version up to which it is complete: that of its last change or, on the last page,
// that of the board.
func TestVersionOfChanges(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, _, boardID, _, _ := filterHistory(s)
		version := ada.Must("get_board", fields{"boardId": boardID}).Get("version").(float64)
		for _, in := range []fields{{"limit": 1}, {"limit": 2, "type": "card.moved,card.completed"}, {"type": "label.created"}, {"limit": 200}} {
			in = with(in, "boardId", boardID)
			for {
				a := ada.Must("list_board_changes", in)
				want := version
				if entries := a.Data.([]any); a.Next != "" {
					want = entries[len(entries)-1].(map[string]any)["boardVersion"].(float64)
				}
				if float64(a.Version) != want {
					t.Errorf("%v: got the version %d with %s, want %v", in, a.Version, a.Raw, want)
				}
				if a.Next == "" {
					break
				}
				in = with(in, "cursor", a.Next)
			}
		}
	})
}
