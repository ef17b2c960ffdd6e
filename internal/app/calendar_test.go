package app_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// calendar returns the cards that a calendar must show, each as "firstDay lastDay id", and the
// number of cards that are not done and have no date.
func (w *reportWorld) calendar(userID, from, to string, zone *time.Location) (shown []string, undated int) {
	shown = []string{}
	w.reported(userID, func(b *reportBoard, _ *reportList, c *reportCard) {
		if !b.Features.Calendar {
			return
		}
		var days []string
		for _, end := range []struct {
			date *string
			at   *board.Instant
		}{{c.DueDate, c.DueAt}, {c.StartDate, c.StartAt}} {
			if end.at != nil {
				days = append(days, dayOf(*end.at, zone))
			} else if end.date != nil {
				days = append(days, *end.date)
			}
		}
		if len(days) == 0 {
			if c.DoneAt == nil {
				undated++
			}
			return
		}
		if first, last := slices.Min(days), slices.Max(days); first <= to && last >= from {
			shown = append(shown, first+" "+last+" "+c.ID)
		}
	})
	slices.Sort(shown)
	return shown, undated
}

func TestCalendarShowsCardsThatOverlapTheRange(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, gus, eve := s.Person("Ada"), s.Person("Bob"), s.Person("Gus"), s.Person("Eve")
		rapid.Check(t, func(rt *rapid.T) {
			w := newReportWorld(rt, s, ada, bob, gus)
			zoneName := rapid.SampledFrom(reportZones).Draw(rt, "zone")
			zone, err := time.LoadLocation(zoneName)
			if err != nil {
				t.Fatal(err)
			}
			first := s.Clock.Now().AddDate(0, 0, rapid.IntRange(-40, 12).Draw(rt, "first"))
			last := first.AddDate(0, 0, rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 91)).Draw(rt, "days"))
			in := fields{"workspaceId": w.id, "from": first.Format(board.DateLayout), "to": last.Format(board.DateLayout),
				"timeZone": zoneName}
			if rapid.Bool().Draw(rt, "summaries") {
				summarize(s)
			}
			for _, p := range []*apptest.Person{ada, bob, gus} {
				a := p.Must("get_workspace_calendar", in)
				var got struct {
					Data struct {
						Cards        []board.CalendarCard
						UndatedCount int
					}
				}
				if err := json.Unmarshal(a.Raw, &got, json.MatchCaseInsensitiveNames(true)); err != nil {
					t.Fatal(err)
				}
				// The operation uses its own encoder for the cards.
				if want, err := json.Marshal(got.Data.Cards); err != nil ||
					!bytes.Contains(a.Raw, append([]byte(`"cards":`), want...)) {
					rt.Errorf("the response is %s (error %v); want the cards encoded as %s", a.Raw, err, want)
				}
				shown := []string{}
				for _, c := range got.Data.Cards {
					shown = append(shown, c.FirstDay+" "+c.LastDay+" "+c.ID)
				}
				want, undated := w.calendar(p.ID, in["from"].(string), in["to"].(string), zone)
				if !slices.Equal(shown, want) || got.Data.UndatedCount != undated {
					rt.Errorf("%s sees %v and %d undated from %s to %s in %s, want %v and %d", p.Name, shown, got.Data.UndatedCount,
						in["from"], in["to"], zoneName, want, undated)
				}
			}
			eve.Refused(board.CodeNotFound, "get_workspace_calendar", in)
		})
	})
}

// On the day the clocks go forward in Newfoundland, a card due just before midnight is on that
// day there and on the next day in Kiribati. The day has 23 hours.
func TestCalendarAcrossZones(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		_, lists, _ := newBoardWithCards(ada, workspace, 1, 0)
		const allDay = `all "day" <ü> \ 😀`
		for _, due := range []string{"00:00", "23:59"} {
			ada.Must("create_card", fields{"listId": lists[0], "title": due,
				"due": fields{"dueDate": "2027-03-14", "dueTime": due, "timeZone": "America/St_Johns"}})
		}
		ada.Must("create_card", fields{"listId": lists[0], "title": allDay, "due": fields{"dueDate": "2027-03-14"}})
		for _, c := range []struct {
			zone, day, want string
		}{
			{"America/St_Johns", "2027-03-14", "00:00 23:59 " + allDay}, {"America/St_Johns", "2027-03-13", ""},
			{"America/St_Johns", "2027-03-15", ""},
			{"Pacific/Kiritimati", "2027-03-14", "00:00 " + allDay}, {"Pacific/Kiritimati", "2027-03-15", "23:59"},
			{"Pacific/Pago_Pago", "2027-03-13", "00:00"}, {"Pacific/Pago_Pago", "2027-03-14", "23:59 " + allDay},
		} {
			a := ada.Must("get_workspace_calendar",
				fields{"workspaceId": workspace, "from": c.day, "to": c.day, "timeZone": c.zone})
			var titles []string
			for _, card := range a.Get("cards").([]any) {
				titles = append(titles, card.(map[string]any)["title"].(string))
			}
			slices.Sort(titles)
			if got := strings.Join(titles, " "); got != c.want {
				t.Errorf("%s in %s: got %q, want %q", c.day, c.zone, got, c.want)
			}
		}
	})
}

func TestInvalidCalendarRangesAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		in := fields{"workspaceId": workspace, "from": "2026-01-01", "to": "2026-04-02"} // 92 days
		ada.Must("get_workspace_calendar", in)
		for _, c := range []struct {
			name string
			in   fields
		}{
			{"to", with(in, "to", "2026-04-03")}, {"to", with(in, "to", "2025-12-31")},
			{"to", fields{"workspaceId": workspace, "from": "2026-01-01"}},
			{"from", fields{"workspaceId": workspace, "to": "2026-01-01"}}, {"from", with(in, "from", "2026-02-30")},
			{"to", with(in, "to", "tomorrow")},
			{"to", with(in, "to", "2999-12-31")}, {"timeZone", with(in, "timeZone", "Mars/Olympus")},
			{"timeZone", with(in, "timeZone", "Local")},
		} {
			if a := ada.Refused(board.CodeInvalidRequest, "get_workspace_calendar", c.in); !strings.HasPrefix(a.Message,
				c.name+" ") {
				t.Errorf("%v is refused with %q; want the prefix %q", c.in, a.Message, c.name+" ")
			}
		}
		for _, name := range []string{"get_my_overview", "get_workspace_dashboard"} {
			in := fields{"timeZone": "Mars/Olympus"}
			if name == "get_workspace_dashboard" {
				in["workspaceId"] = workspace
			}
			if a := ada.Refused(board.CodeInvalidRequest, name, in); !strings.HasPrefix(a.Message, "timeZone ") {
				t.Errorf("%s: got message %q; want the prefix %q", name, a.Message, "timeZone ")
			}
		}
	})
}
