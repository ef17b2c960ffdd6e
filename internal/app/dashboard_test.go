package app_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func expectedTally(t *board.Tally, c *reportCard, now time.Time, zone *time.Location) {
	if c.DoneAt != nil {
		t.Done++
		return
	}
	t.Open++
	if expectedOverdue(c, now, zone) {
		t.Overdue++
	}
}

// expectedTop sorts a breakdown. It returns the first ten groups and the sum of the others.
func expectedTop[T any](all []T, tally func(T) board.Tally, name func(T) string) (top []T, rest board.Rest) {
	top = []T{}
	slices.SortStableFunc(all, func(a, b T) int {
		return cmp.Or(tally(b).Open-tally(a).Open, tally(b).Overdue-tally(a).Overdue, cmp.Compare(name(a), name(b)))
	})
	for i, r := range all {
		if i < 10 {
			top = append(top, r)
			continue
		}
		rest.Count++
		rest.Open, rest.Done, rest.Overdue = rest.Open+tally(r).Open, rest.Done+tally(r).Done, rest.Overdue+tally(r).Overdue
	}
	return top, rest
}

func expectedMedian(all []time.Duration) board.Duration {
	if len(all) == 0 {
		return board.Duration{}
	}
	slices.Sort(all)
	middle := all[len(all)/2]
	if len(all)%2 == 0 {
		middle = (all[len(all)/2-1] + middle) / 2
	}
	seconds := int64(middle / time.Second)
	return board.Duration{Cards: len(all), MedianSeconds: &seconds}
}

// dashboard returns the dashboard that a person must see, and the ids of the stale cards that it lists.
func (w *reportWorld) dashboard(userID string, now time.Time, zone *time.Location) (d board.Dashboard, stale []string) {
	d = board.Dashboard{WorkspaceID: w.id, AsOf: board.InstantOf(now), TimeZone: zone.String()}
	var staleCards []*reportCard
	boards, lists, members, labels := map[string]*board.BoardTally{}, map[string]*board.ListTally{},
		map[string]*board.MemberTally{}, map[string]*board.LabelTally{}
	d.Breaches.Lists = []board.Breach{}
	for _, b := range w.boards {
		if !b.seenBy[userID] || b.ArchivedAt != nil || b.TrashedAt != nil {
			continue
		}
		boards[b.ID] = &board.BoardTally{BoardID: b.ID, Name: b.Name}
		for _, l := range b.lists {
			if l.ArchivedAt == nil {
				lists[l.ID] = &board.ListTally{ListID: l.ID, BoardID: b.ID, Name: l.Name}
			}
		}
	}
	held := map[*reportList]int{}
	w.reported(userID, func(b *reportBoard, l *reportList, c *reportCard) {
		held[l]++
		expectedTally(&boards[b.ID].Tally, c, now, zone)
		expectedTally(&lists[l.ID].Tally, c, now, zone)
		for _, p := range c.Assignees {
			if members[p.ID] == nil {
				members[p.ID] = &board.MemberTally{UserID: p.ID, Name: p.Name}
			}
			expectedTally(&members[p.ID].Tally, c, now, zone)
		}
		for _, k := range c.Labels {
			key := k.Name + "/" + string(k.Color)
			if labels[key] == nil {
				labels[key] = &board.LabelTally{Name: k.Name, Color: k.Color}
			}
			expectedTally(&labels[key].Tally, c, now, zone)
		}
		if c.DoneAt != nil {
			d.Done++
			return
		}
		d.Open++
		for is, figure := range map[*int]bool{&d.Overdue: expectedOverdue(c, now, zone), &d.DueIn7Days: expectedSoon(c, now, zone),
			&d.Unassigned: len(c.Assignees) == 0, &d.Undated: c.DueDate == nil} {
			if figure {
				*is++
			}
		}
		if now.Sub(c.UpdatedAt.Time()) > 14*dayLong {
			staleCards = append(staleCards, c)
		}
	})
	for _, b := range w.boards {
		for _, l := range b.lists {
			if b.Features.WIPLimits && l.WIPLimit != nil && held[l] > *l.WIPLimit {
				d.Breaches.Lists = append(d.Breaches.Lists, board.Breach{ListID: l.ID, BoardID: b.ID, Name: l.Name,
					OpenCards: held[l], WIPLimit: *l.WIPLimit, WIPMode: l.WIPMode})
			}
		}
	}
	slices.SortFunc(d.Breaches.Lists, func(a, b board.Breach) int {
		return cmp.Or((b.OpenCards-b.WIPLimit)-(a.OpenCards-a.WIPLimit), cmp.Compare(a.ListID, b.ListID))
	})
	d.Breaches.Count = len(d.Breaches.Lists)
	d.Breaches.Lists = d.Breaches.Lists[:min(10, d.Breaches.Count)]
	slices.SortFunc(staleCards, func(a, b *reportCard) int {
		return cmp.Or(cmp.Compare(a.UpdatedAt, b.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	d.Stale.Count = len(staleCards)
	for _, c := range staleCards[:min(5, len(staleCards))] {
		stale = append(stale, c.ID)
	}
	d.ByBoard.Top, d.ByBoard.Rest = expectedTop(valuesByKey(boards), func(r board.BoardTally) board.Tally {
		return r.Tally
	}, func(r board.BoardTally) string { return r.Name })
	d.ByList.Top, d.ByList.Rest = expectedTop(valuesByKey(lists), func(r board.ListTally) board.Tally {
		return r.Tally
	}, func(r board.ListTally) string { return r.Name })
	d.ByMember.Top, d.ByMember.Rest = expectedTop(valuesByKey(members), func(r board.MemberTally) board.Tally {
		return r.Tally
	}, func(r board.MemberTally) string { return r.Name })
	d.ByLabel.Top, d.ByLabel.Rest = expectedTop(valuesByKey(labels), func(r board.LabelTally) board.Tally {
		return r.Tally
	}, func(r board.LabelTally) string { return r.Name })
	w.flow(userID, now, zone, &d)
	return d, stale
}

// valuesByKey returns the values ordered by their keys.
func valuesByKey[T any](m map[string]*T) (out []T) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, *m[k])
	}
	return out
}

// flow computes the weekly counts from ISO week numbers, and the lead and cycle times.
func (w *reportWorld) flow(userID string, now time.Time, zone *time.Location, d *board.Dashboard) {
	name := func(at time.Time) string {
		year, week := at.ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	}
	noon, _ := time.Parse(board.DateLayout, now.In(zone).Format(board.DateLayout))
	for i := 11; i >= 0; i-- {
		day := noon.AddDate(0, 0, -7*i)
		week := board.Week{Week: name(day)}
		for day.Weekday() != time.Monday {
			day = day.AddDate(0, 0, -1)
		}
		week.From = day.Format(board.DateLayout)
		d.Weeks = append(d.Weeks, week)
	}
	find := func(at board.Instant) *board.Week {
		for i := range d.Weeks {
			if d.Weeks[i].Week == name(at.Time().In(zone)) {
				return &d.Weeks[i]
			}
		}
		return nil
	}
	var lead, cycle []time.Duration
	for _, b := range w.boards {
		if !b.seenBy[userID] || b.ArchivedAt != nil || b.TrashedAt != nil {
			continue
		}
		for _, l := range b.lists {
			for _, c := range l.cards {
				if week := find(c.CreatedAt); week != nil {
					week.Created++
				}
				if c.DoneAt == nil || find(*c.DoneAt) == nil {
					continue
				}
				find(*c.DoneAt).Completed++
				done := c.DoneAt.Time()
				lead = append(lead, max(0, done.Sub(c.CreatedAt.Time())))
				if len(c.moves) > 0 && !slices.Min(c.moves).Time().After(done) {
					cycle = append(cycle, done.Sub(slices.Min(c.moves).Time()))
				}
			}
		}
	}
	d.LeadTime, d.CycleTime = expectedMedian(lead), expectedMedian(cycle)
}

// checkDashboard compares the dashboard that a person sees with the model.
func checkDashboard(rt *rapid.T, w *reportWorld, p *apptest.Person, zone *time.Location, when string) {
	a := p.Must("get_workspace_dashboard", fields{"workspaceId": w.id, "timeZone": zone.String()})
	var got struct{ Data board.Dashboard }
	if err := json.Unmarshal(a.Raw, &got, json.MatchCaseInsensitiveNames(true)); err != nil {
		rt.Fatal(err)
	}
	want, stale := w.dashboard(p.ID, got.Data.AsOf.Time(), zone)
	var ids []string
	for _, c := range got.Data.Stale.Cards {
		ids = append(ids, c.ID)
	}
	got.Data.Stale.Cards = nil
	if !slices.Equal(ids, stale) {
		rt.Errorf("%[1]s, counted %[4]s: the stale cards are %[2]v, want %[3]v", p.Name, ids, stale, when)
	}
	if !reflect.DeepEqual(got.Data, want) {
		have, _ := json.Marshal(got.Data)
		wanted, _ := json.Marshal(want)
		rt.Errorf("%[1]s in %[2]s, counted %[5]s, sees\n%[3]s, want\n%[4]s", p.Name, zone, have, wanted, when)
	}
}

// TestDashboardCounts compares the dashboard of random workspaces with counts made card by card,
// for an owner, a member and a guest.
func TestDashboardCounts(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, gus, eve := s.Person("Ada"), s.Person("Bob"), s.Person("Gus"), s.Person("Eve")
		rapid.Check(t, func(rt *rapid.T) {
			s.Clock.Advance(time.Duration(rapid.IntRange(0, 30*24*60).Draw(rt, "later")) * time.Minute)
			w := newReportWorld(rt, s, ada, bob, gus)
			zoneName := rapid.SampledFrom(reportZones).Draw(rt, "zone")
			zone, err := time.LoadLocation(zoneName)
			if err != nil {
				t.Fatal(err)
			}
			check := func(when string) {
				for _, p := range []*apptest.Person{ada, bob, gus} {
					checkDashboard(rt, w, p, zone, when)
				}
			}
			check("from cards")
			summarize(s)
			check("from summaries")
			s.Clock.Advance(time.Duration(rapid.IntRange(0, 40*24*60).Draw(rt, "summaries grow old")) * time.Minute)
			check("from old summaries")
			checkOverviews(rt, s, ada, bob)
			eve.Refused(board.CodeNotFound, "get_workspace_dashboard", fields{"workspaceId": w.id})
		})
	})
}

// The cycle time of a card begins with its first move to another list, on the same board or on
// another one.
func TestCycleTimeBeginsWithTheFirstMove(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop() // the running time of the test must not count
		ada := s.Person("Ada")
		for _, first := range []string{"move_card", "move_card_to_board"} {
			workspace := ada.Workspace("Engines", board.PlanTeam)
			var lists [2][2]string // of two boards
			for i := range lists {
				b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Board"}).ID()
				for j := range lists[i] {
					lists[i][j] = ada.Must("create_list", fields{"boardId": b, "name": "List"}).ID()
				}
			}
			card := ada.Must("create_card", fields{"listId": lists[0][0], "title": "Travel"}).ID()
			s.Clock.Advance(time.Hour)
			ada.Must("create_card", fields{"listId": lists[0][0], "title": "Second"})
			ada.Must("move_card", fields{"cardId": card, "listId": lists[0][0], "position": "bottom"}) // same list, not a move between lists
			s.Clock.Advance(time.Hour)
			target := map[string]string{"move_card": lists[0][1], "move_card_to_board": lists[1][0]}
			ada.Must(first, fields{"cardId": card, "listId": target[first]})
			s.Clock.Advance(time.Hour)
			then := lists[0][0]
			if first == "move_card_to_board" {
				then = lists[1][1]
			}
			ada.Must("move_card", fields{"cardId": card, "listId": then})
			s.Clock.Advance(time.Hour)
			ada.Must("update_card", fields{"cardId": card, "done": true})
			d := ada.Must("get_workspace_dashboard", fields{"workspaceId": workspace})
			if lead, cycle := d.Get("leadTime.medianSeconds"), d.Get("cycleTime.medianSeconds"); lead != 4*3600.0 ||
				cycle != 2*3600.0 {
				t.Errorf("%s first: lead time %v, cycle time %v; want 4 h and 2 h", first, lead, cycle)
			}
		}
	})
}
