package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	dashboardWeeks = 12
	dashboardTop   = 10 // parts of each breakdown, and lists over their limit
	firstFew       = 5  // cards or boards of a group
	staleAfter     = board.Instant(14 * 24 * 60 * 60 * 1000)
)

// GetWorkspaceDashboardInput names the workspace.
type GetWorkspaceDashboardInput struct {
	WorkspaceInput
	TimeZone string `json:"timeZone,omitempty" doc:"The time zone of days and weeks (IANA name such as Europe/Zurich); your own when absent." example:"Europe/Zurich"`
}

// GetWorkspaceDashboard tells how the open boards of a workspace that the
// caller sees are doing.
func GetWorkspaceDashboard(ctx context.Context, v *store.View, in GetWorkspaceDashboardInput) (board.Dashboard, error) {
	if _, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
		return board.Dashboard{}, err
	}
	days, err := reportDays(ctx, v, in.TimeZone)
	if err != nil {
		return board.Dashboard{}, err
	}
	out := board.Dashboard{WorkspaceID: in.WorkspaceID, AsOf: v.Now(), TimeZone: days.zone.String()}
	cut := days.cut(v.Now())
	boards, err := v.ReportBoards(ctx, in.WorkspaceID)
	if err != nil {
		return out, err
	}
	lists, err := v.ReportLists(ctx, in.WorkspaceID, cut)
	if err != nil {
		return out, err
	}
	cards := cardsOf(lists)
	byBoard, byList := tallies(boards, lists)
	out.ByBoard.Top, out.ByBoard.Rest = topOf(byBoard)
	out.ByList.Top, out.ByList.Rest = topOf(byList)
	out.Breaches = breaches(boards, lists)
	if err := byMember(ctx, v, in.WorkspaceID, lists, cards, &out); err != nil {
		return out, err
	}
	for _, c := range cards {
		out.Count(c.Standing, c.assigned, 1)
	}
	if err := byLabel(ctx, v, in.WorkspaceID, cards, &out); err != nil {
		return out, err
	}
	var longest []string
	out.Stale.Count, longest = stale(lists)
	if out.Stale.Cards, err = v.CardsByID(ctx, longest); err != nil {
		return out, err
	}
	return out, flow(ctx, v, in.WorkspaceID, days, &out)
}

// counted is a card of the report.
type counted struct {
	board.Standing
	assigned bool
}

// cardsOf are the cards of the lists by id.
func cardsOf(lists []store.ReportList) map[string]*counted {
	n := 0
	for _, l := range lists {
		n += len(l.Cards)
	}
	cards, all := make(map[string]*counted, n), make([]counted, 0, n)
	for _, l := range lists {
		for _, c := range l.Cards {
			all = append(all, counted{Standing: c.Standing})
			cards[c.ID] = &all[len(all)-1]
		}
	}
	return cards
}

// stale counts the stale cards of the lists; longest are the ids of the first
// few of them, longest unchanged first.
func stale(lists []store.ReportList) (count int, longest []string) {
	var first []store.ReportCard
	for _, l := range lists {
		for _, c := range l.Cards {
			if !c.Stale {
				continue
			}
			count++
			if len(first) == firstFew && first[firstFew-1].UpdatedAt < c.UpdatedAt {
				continue
			}
			at, _ := slices.BinarySearchFunc(first, c, func(a, b store.ReportCard) int {
				return cmp.Or(cmp.Compare(a.UpdatedAt, b.UpdatedAt), cmp.Compare(a.ID, b.ID))
			})
			first = slices.Insert(first, at, c)
			first = first[:min(len(first), firstFew)]
		}
	}
	for _, c := range first {
		longest = append(longest, c.ID)
	}
	return count, longest
}

// part is a record of a breakdown.
type part[T any] struct {
	record T
	tally  *board.Tally // the record's own
	name   string
	id     string
}

// topOf are the parts with the most open cards, then the most overdue ones,
// then by name and id; and all others in one.
func topOf[T any](parts []part[T]) ([]T, board.Rest) {
	slices.SortFunc(parts, func(a, b part[T]) int {
		return cmp.Or(cmp.Compare(b.tally.Open, a.tally.Open), cmp.Compare(b.tally.Overdue, a.tally.Overdue), cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
	})
	top, rest := []T{}, board.Rest{}
	for i, p := range parts {
		if i < dashboardTop {
			top = append(top, p.record)
		} else {
			rest.Count++
			rest.Add(*p.tally)
		}
	}
	return top, rest
}

func tallies(boards []store.ReportBoard, lists []store.ReportList) (byBoard []part[board.BoardTally], byList []part[board.ListTally]) {
	of := map[string]*board.Tally{}
	for _, b := range boards {
		of[b.ID] = &board.Tally{}
	}
	for _, l := range lists {
		t := &board.Tally{}
		for _, c := range l.Cards {
			t.Count(c.Standing)
		}
		of[l.BoardID].Add(*t)
		byList = append(byList, part[board.ListTally]{board.ListTally{ListID: l.ID, BoardID: l.BoardID, Name: l.Name, Tally: *t}, t, l.Name, l.ID})
	}
	for _, b := range boards {
		byBoard = append(byBoard, part[board.BoardTally]{board.BoardTally{BoardID: b.ID, Name: b.Name, Tally: *of[b.ID]}, of[b.ID], b.Name, b.ID})
	}
	return byBoard, byList
}

func breaches(boards []store.ReportBoard, lists []store.ReportList) board.Breaches {
	limits := map[string]bool{}
	for _, b := range boards {
		limits[b.ID] = b.Features.WIPLimits
	}
	out := board.Breaches{Lists: []board.Breach{}}
	for _, l := range lists {
		if limits[l.BoardID] && l.WIPLimit != nil && len(l.Cards) > *l.WIPLimit {
			out.Lists = append(out.Lists, board.Breach{ListID: l.ID, BoardID: l.BoardID, Name: l.Name, OpenCards: len(l.Cards), WIPLimit: *l.WIPLimit, WIPMode: l.WIPMode})
		}
	}
	slices.SortFunc(out.Lists, func(a, b board.Breach) int {
		return cmp.Or(cmp.Compare(b.OpenCards-b.WIPLimit, a.OpenCards-a.WIPLimit), cmp.Compare(a.ListID, b.ListID))
	})
	out.Count = len(out.Lists)
	out.Lists = out.Lists[:min(out.Count, dashboardTop)]
	return out
}

// tallyOf counts those of the ids that are cards of the report.
func tallyOf(ids string, cards map[string]*counted, each func(*counted)) (t board.Tally) {
	for id := range strings.SplitSeq(ids, " ") {
		if c := cards[id]; c != nil {
			t.Count(c.Standing)
			each(c)
		}
	}
	return t
}

func byMember(ctx context.Context, v *store.View, workspaceID string, lists []store.ReportList, cards map[string]*counted, out *board.Dashboard) error {
	var parts []part[board.MemberTally]
	err := v.ReportPeople(ctx, workspaceID, lists, func(u board.UserRef, ids string) {
		t := tallyOf(ids, cards, func(c *counted) { c.assigned = true })
		if t.Open+t.Done > 0 {
			parts = append(parts, part[board.MemberTally]{board.MemberTally{UserID: u.ID, Name: u.Name, Tally: t}, &t, u.Name, u.ID})
		}
	})
	out.ByMember.Top, out.ByMember.Rest = topOf(parts)
	return err
}

func byLabel(ctx context.Context, v *store.View, workspaceID string, cards map[string]*counted, out *board.Dashboard) error {
	type kind struct {
		name  string
		color board.Color
	}
	of := map[kind]*board.Tally{}
	err := v.ReportLabels(ctx, workspaceID, func(name string, color board.Color, ids string) {
		if t := tallyOf(ids, cards, func(*counted) {}); t.Open+t.Done > 0 {
			k := kind{name, color}
			if of[k] == nil {
				of[k] = &board.Tally{}
			}
			of[k].Add(t)
		}
	})
	var parts []part[board.LabelTally]
	for k, t := range of {
		parts = append(parts, part[board.LabelTally]{board.LabelTally{Name: k.name, Color: k.color, Tally: *t}, t, k.name, string(k.color)})
	}
	out.ByLabel.Top, out.ByLabel.Rest = topOf(parts)
	return err
}

// flow counts what came and what went, week by week, and how long it took.
func flow(ctx context.Context, v *store.View, workspaceID string, d days, out *board.Dashboard) error {
	monday := -(int(d.today.Weekday()) + 6) % 7
	edges := make([]board.Instant, dashboardWeeks+1)
	out.Weeks = make([]board.Week, dashboardWeeks)
	for i := range edges {
		at := monday - 7*(dashboardWeeks-1-i)
		edges[i] = d.edge(at).At
		if i < dashboardWeeks {
			day := d.today.AddDate(0, 0, at)
			year, week := day.ISOWeek()
			out.Weeks[i] = board.Week{Week: fmt.Sprintf("%d-W%02d", year, week), From: day.Format(board.DateLayout)}
		}
	}
	week := func(at board.Instant) int { // -1 before the first
		return min(sort.Search(len(edges), func(i int) bool { return edges[i] > at })-1, dashboardWeeks-1)
	}
	var lead, cycle []int64
	err := v.ReportFlow(ctx, workspaceID, edges[0], func(created, done, moved board.Instant) {
		if i := week(created); i >= 0 {
			out.Weeks[i].Created++
		}
		if week(done) < 0 {
			return
		}
		out.Weeks[week(done)].Completed++
		lead = append(lead, max(0, int64(done-created)))
		if moved > 0 && moved <= done {
			cycle = append(cycle, int64(done-moved))
		}
	})
	out.LeadTime, out.CycleTime = board.MedianOf(lead), board.MedianOf(cycle)
	return err
}
