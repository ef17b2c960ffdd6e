package mcp_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/apptest"
	"cardwall/internal/mcp"
)

func TestEveryDateAcceptsWords(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	got := map[string]string{}
	for _, o := range w.Registry.All() {
		if !o.IsTool() {
			continue
		}
		kinds := mcp.Dates(t, w.Registry, o)
		for name, kind := range kinds {
			if name == "from" && kind == "instant" { // elsewhere, from is a day
				name = "from (time)"
			}
			got[name] = kind
		}
		var walk func(s *huma.Schema, name string)
		walk = func(s *huma.Schema, name string) {
			if s.Ref != "" {
				s = w.Registry.Schemas.SchemaFromRef(s.Ref)
			}
			isDate := strings.HasPrefix(s.Format, "date") || strings.Contains(s.Description, "YYYY-MM-DD")
			if _, ok := kinds[name]; ok != isDate {
				t.Errorf("%s of %s: got words %v, want %v", name, o.Name, ok, isDate)
			}
			for property, s := range s.Properties {
				walk(s, name+"."+property)
			}
			if s.Items != nil {
				walk(s.Items, name+"[]")
			}
			for _, s := range s.OneOf {
				walk(s, name+"|")
			}
		}
		for _, f := range o.Input.Fields {
			walk(f.Schema, f.Name)
		}
	}
	want := map[string]string{"since": "instant", "from (time)": "instant", "until": "end"}
	for _, name := range strings.Fields("from to dueDate startDate targetDate due.dueDate due.startDate changes[].dueDate " +
		"changes[].startDate cards[].due.dueDate cards[].due.startDate dueFrom dueTo startFrom startTo") {
		want[name] = "day"
	}
	for _, name := range strings.Fields("createdFrom createdTo updatedFrom updatedTo completedFrom completedTo") {
		want[name] = "past day"
	}
	if !maps.Equal(got, want) {
		t.Errorf("got the kinds %v, want %v", got, want)
	}
}

// Exact dates cost no lookup.
func TestExactDatesNeedNoLookup(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	for tool, bodies := range map[string][2]string{
		"create_card":  {`{"due":{"dueDate":"2026-03-14","startDate":""}}`, `{"due":{"dueDate":"2026-03-14","startDate":"today"}}`},
		"set_card_due": {`{"dueDate":null,"startDate":"2026-03-14"}`, `{"startDate":"2026-02-30"}`},
		"update_cards": {`{"changes":[{"dueDate":null},{"dueDate":"2026-03-14"}]}`, `{"changes":[{},{"dueDate":"today"}]}`},
		"undo_changes": {`{"since":"2026-03-14T09:30:00+01:00"}`, `{"since":"2026-03-14"}`},
	} {
		for i, body := range bodies {
			if got := mcp.NeedsLookup(t, w.Registry, w.Registry.Named(tool), body); got != (i == 1) {
				t.Errorf("%s %s: got a lookup %v, want %v", tool, body, got, i == 1)
			}
		}
	}
}

// inTokyo runs fn on a Wednesday evening, when it is Thursday in Ada's time zone. Two cards are due,
// on Wednesday and on Thursday.
func inTokyo(t *testing.T, fn func(t *testing.T, n *named)) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		s.Clock.Advance(officeTime.Add(11 * time.Hour).Sub(s.Clock.Now()))
		n := newNamed(newWorld(s))
		n.ada.Must("update_profile", fields{"timeZone": "Asia/Tokyo"})
		n.ada.Must("set_card_due", fields{"cardId": n.card, "dueDate": "2026-11-25"})
		n.ada.Must("set_card_due", fields{"cardId": n.card2, "dueDate": "2026-11-26"})
		fn(t, n)
	})
}

func TestToolsTakeDatesInWords(t *testing.T) {
	inTokyo(t, func(t *testing.T, n *named) {
		s := n.ada.Must("create_card", fields{"listId": n.list, "title": "Third"}).ID()
		for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
			for _, c := range []struct {
				tool string
				in   fields
				want fields // by path
			}{
				{"create_card", fields{"listId": n.doing, "title": "A", "due": fields{"startDate": "today", "dueDate": "Next Friday"}},
					fields{"startDate": "2026-11-26", "dueDate": "2026-11-27"}},
				{"create_card", fields{"listId": "Launch / Doing", "title": "A",
					"due": fields{"dueDate": "tomorrow", "dueTime": "09:30", "timeZone": "Europe/Berlin"}},
					fields{"dueDate": "2026-11-26", "dueAt": "2026-11-26T08:30:00.000Z"}},
				{"set_card_due", fields{"cardId": s, "startDate": nil, "dueDate": "in  2 weeks"}, fields{"dueDate": "2026-12-10"}},
				{"set_card_due", fields{"cardId": s, "startDate": "yesterday", "timeZone": "UTC"},
					fields{"startDate": "2026-11-24", "dueDate": "2026-12-10"}},
				{"update_cards", fields{"boardId": "Launch", "cardIds": []string{"#3"}, "dueDate": "24 dec", "startDate": "3 days ago"}, nil},
				{"update_cards", fields{"boardId": "Launch", "changes": []fields{{"cardIds": []string{"#1"}, "dueDate": "today"},
					{"cardIds": []string{"#2"}, "dueDate": "today", "timeZone": "UTC"}}},
					fields{"rows.0.5": "2026-11-26", "rows.1.5": "2026-11-25"}},
				{"create_cards", fields{"boardId": "Launch", "cards": []fields{{"listId": "Doing", "title": "A"},
					{"listId": "Doing", "title": "B", "due": fields{"dueDate": "next week"}}}}, fields{"rows.1.5": "2026-11-30"}},
				{"get_card", fields{"cardId": s}, fields{"startDate": "2026-11-23", "dueDate": "2026-12-24"}},
				{"post_status_update", fields{"boardId": n.board, "title": "A", "status": "on_track", "text": "tomorrow",
					"startDate": "start of month", "targetDate": "End of Month"},
					fields{"startDate": "2026-11-01", "targetDate": "2026-11-30", "text": "tomorrow"}},
				{"get_board_digest", fields{"boardId": "Launch", "since": "monday", "until": "yesterday"},
					fields{"since": "2026-11-22T15:00:00.000Z", "until": "2026-11-25T15:00:00.000Z"}},
				{"get_workspace_digest", fields{"workspaceId": n.workspace, "since": "3 hours ago", "until": "now"},
					fields{"since": "2026-11-25T17:00:00.000Z", "until": "2026-11-25T20:00:00.000Z"}},
				{"get_board_digest", fields{"boardId": n.board, "since": "2026-11-25", "until": "2026-11-25T20:00:00+01:00"},
					fields{"since": "2026-11-24T15:00:00.000Z", "until": "2026-11-25T19:00:00.000Z"}},
			} {
				r := n.call(revision, c.tool, c.in)
				for path, want := range c.want {
					if got := r.Get(path); got != want {
						t.Errorf("%s %v: got %s %v, want %v", c.tool, c.in, path, got, want)
					}
				}
			}
			for _, c := range []struct {
				tool         string
				words, exact fields
			}{
				{"list_cards", fields{"boardId": n.board, "dueFrom": "yesterday", "dueTo": "today"},
					fields{"boardId": n.board, "dueFrom": "2026-11-25", "dueTo": "2026-11-26"}},
				{"list_cards", fields{"boardId": n.board, "dueTo": "today", "timeZone": "UTC"}, fields{"boardId": n.board, "dueTo": "2026-11-25"}},
				{"list_my_cards", fields{"createdFrom": "wednesday"}, fields{"createdFrom": "2026-11-25"}},
				{"get_workspace_calendar", fields{"workspaceId": "Engines", "from": "today", "to": "end of month"},
					fields{"workspaceId": n.workspace, "from": "2026-11-26", "to": "2026-11-30"}},
				{"list_my_changes", fields{"since": "an hour ago", "limit": 100}, fields{"since": "2026-11-25T19:00:00Z", "limit": 100}},
			} {
				words, exact := n.call(revision, c.tool, c.words).Text, n.call(revision, c.tool, c.exact).Text
				if words != exact || words == "" {
					t.Errorf("%s %v: got %s, want %s", c.tool, c.words, words, exact)
				}
			}
		}
	})
}
