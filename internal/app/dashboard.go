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
	dashboardTop   = 10 // groups of each breakdown, and lists over their limit
	firstFew       = 5  // cards or boards listed for a group
	staleAfter     = board.Instant(14 * 24 * 60 * 60 * 1000)
)

// GetWorkspaceDashboardInput is the input of GetWorkspaceDashboard.
type GetWorkspaceDashboardInput struct {
	WorkspaceInput
	TimeZone string `json:"timeZone,omitempty" doc:"The time zone of days and weeks, as an IANA name such as Europe/Zurich; your own when absent." example:"Europe/Zurich"`
}

// GetWorkspaceDashboard returns the figures of a workspace, counted over the
// open boards that the caller can see.
func GetWorkspaceDashboard(ctx context.Context, v *store.View, in GetWorkspaceDashboardInput) (board.Dashboard, error) {
	if _, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
		return board.Dashboard{}, err
	}
	days, err := reportDays(ctx, v, in.TimeZone)
	if err != nil {
		return board.Dashboard{}, err
	}
	out := board.Dashboard{WorkspaceID: in.WorkspaceID, AsOf: v.Now(), TimeZone: days.zone.String()}
	boards, err := v.ReportBoards(ctx, in.WorkspaceID)
	if err != nil {
		return out, err
	}
	count := newDashboardCount(boards, days)
	if err := beside(func(then func(func() error)) error {
		return readDashboard(ctx, v, in.WorkspaceID, days.cut(v.Now()), count, then)
	}); err != nil {
		return out, err
	}
	count.sum(&out)
	out.Stale.Cards, err = v.CardsByID(ctx, count.longestStale())
	return out, err
}

// readDashboard reads the records of a dashboard and passes functions that
// count them to then.
func readDashboard(ctx context.Context, v *store.View, workspaceID string, cut store.ReportCut, count *dashboardCount,
	then func(func() error)) error {
	oldest, newest := "", ""
	err := v.ReportLists(ctx, workspaceID, cut, func(l store.ReportList) {
		if first, last := l.Between(); first != "" {
			oldest, newest = min(cmp.Or(oldest, first), first), max(newest, last)
		}
		then(func() error { return count.list(l) })
	})
	if err != nil {
		return err
	}
	err = v.ReportLabels(ctx, workspaceID, func(name string, color board.Color, cards string) {
		then(func() error { count.label(name, color, cards); return nil })
	})
	if err != nil {
		return err
	}
	err = v.ReportPeople(ctx, workspaceID, oldest, newest, func(u board.UserRef, cards string) {
		then(func() error { count.member(u, cards); return nil })
	})
	if err != nil {
		return err
	}
	return v.ReportFlows(ctx, workspaceID, count.weeks.edges[0], func(f store.ReportFlow) {
		then(func() error { return f.Each(count.weeks.card) })
	})
}

// dashboardCount sums up a dashboard: first the lists, then the rest.
type dashboardCount struct {
	boards   []store.ReportBoard
	features map[string]board.Features // by board id, like byBoard
	byBoard  map[string]*board.Tally
	byList   []part[board.ListTally]
	byMember []part[board.MemberTally]
	byLabel  map[labelKind]*board.Tally
	cards    map[string]*counted // by card id
	breaches []board.Breach
	stale    int
	longest  []store.ReportCard // the first few stale cards, longest unchanged first
	weeks    weeks
}

// labelKind is what labels of several boards have in common.
type labelKind struct {
	name  string
	color board.Color
}

// counted is a card of the report.
type counted struct {
	board.Standing
	assigned bool
}

func newDashboardCount(boards []store.ReportBoard, d days) *dashboardCount {
	n := &dashboardCount{
		boards: boards, features: map[string]board.Features{}, byBoard: map[string]*board.Tally{}, byLabel: map[labelKind]*board.Tally{},
		cards: map[string]*counted{}, breaches: []board.Breach{}, weeks: weeksOf(d),
	}
	for _, b := range boards {
		n.features[b.ID], n.byBoard[b.ID] = b.Features, &board.Tally{}
	}
	return n
}

// list counts the cards of a list.
func (n *dashboardCount) list(l store.ReportList) error {
	cards, err := l.Cards()
	if err != nil {
		return err
	}
	t, all := &board.Tally{}, make([]counted, len(cards))
	for i, c := range cards {
		t.Count(c.Standing)
		all[i] = counted{Standing: c.Standing}
		n.cards[c.ID] = &all[i]
		if c.Stale {
			n.keepStale(c)
		}
	}
	n.byBoard[l.BoardID].Add(*t)
	n.byList = append(n.byList, part[board.ListTally]{board.ListTally{ListID: l.ID, BoardID: l.BoardID, Name: l.Name,
		Tally: *t}, t, l.Name, l.ID})
	if n.features[l.BoardID].WIPLimits && l.WIPLimit != nil && len(cards) > *l.WIPLimit {
		n.breaches = append(n.breaches, board.Breach{ListID: l.ID, BoardID: l.BoardID, Name: l.Name, OpenCards: len(cards),
			WIPLimit: *l.WIPLimit, WIPMode: l.WIPMode})
	}
	return nil
}

// keepStale counts a stale card, and keeps it if it is among the first few.
func (n *dashboardCount) keepStale(c store.ReportCard) {
	n.stale++
	if len(n.longest) == firstFew && n.longest[firstFew-1].UpdatedAt < c.UpdatedAt {
		return
	}
	at, _ := slices.BinarySearchFunc(n.longest, c, func(a, b store.ReportCard) int {
		return cmp.Or(cmp.Compare(a.UpdatedAt, b.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	n.longest = slices.Insert(n.longest, at, c)
	n.longest = n.longest[:min(len(n.longest), firstFew)]
}

func (n *dashboardCount) longestStale() (ids []string) {
	for _, c := range n.longest {
		ids = append(ids, c.ID)
	}
	return ids
}

// tally counts the cards of the report among the ids.
func (n *dashboardCount) tally(ids string, each func(*counted)) (t board.Tally) {
	for id := range strings.SplitSeq(ids, " ") {
		if c := n.cards[id]; c != nil {
			t.Count(c.Standing)
			each(c)
		}
	}
	return t
}

// member counts a person's cards.
func (n *dashboardCount) member(u board.UserRef, ids string) {
	t := n.tally(ids, func(c *counted) { c.assigned = true })
	if t.Open+t.Done > 0 {
		n.byMember = append(n.byMember, part[board.MemberTally]{board.MemberTally{UserID: u.ID, Name: u.Name, Tally: t}, &t, u.Name, u.ID})
	}
}

// label counts the cards with a label of one board.
func (n *dashboardCount) label(name string, color board.Color, ids string) {
	t := n.tally(ids, func(*counted) {})
	if t.Open+t.Done == 0 {
		return
	}
	k := labelKind{name, color}
	if n.byLabel[k] == nil {
		n.byLabel[k] = &board.Tally{}
	}
	n.byLabel[k].Add(t)
}

// sum writes the result, except the stale cards themselves.
func (n *dashboardCount) sum(out *board.Dashboard) {
	var byBoard []part[board.BoardTally]
	for _, b := range n.boards {
		t := n.byBoard[b.ID]
		byBoard = append(byBoard, part[board.BoardTally]{board.BoardTally{BoardID: b.ID, Name: b.Name, Tally: *t}, t, b.Name, b.ID})
	}
	var byLabel []part[board.LabelTally]
	for k, t := range n.byLabel {
		byLabel = append(byLabel, part[board.LabelTally]{board.LabelTally{Name: k.name, Color: k.color, Tally: *t}, t, k.name, string(k.color)})
	}
	out.ByBoard.Top, out.ByBoard.Rest = topOf(byBoard)
	out.ByList.Top, out.ByList.Rest = topOf(n.byList)
	out.ByMember.Top, out.ByMember.Rest = topOf(n.byMember)
	out.ByLabel.Top, out.ByLabel.Rest = topOf(byLabel)
	for _, c := range n.cards {
		out.Count(c.Standing, c.assigned, 1)
	}
	slices.SortFunc(n.breaches, func(a, b board.Breach) int {
		return cmp.Or(cmp.Compare(b.OpenCards-b.WIPLimit, a.OpenCards-a.WIPLimit), cmp.Compare(a.ListID, b.ListID))
	})
	out.Breaches = board.Breaches{Count: len(n.breaches), Lists: n.breaches[:min(len(n.breaches), dashboardTop)]}
	out.Stale.Count = n.stale
	out.Weeks, out.LeadTime, out.CycleTime = n.weeks.of, board.MedianOf(n.weeks.lead), board.MedianOf(n.weeks.cycle)
}

// part is a group of a breakdown.
type part[T any] struct {
	record T
	tally  *board.Tally // points into the record
	name   string
	id     string
}

// topOf returns the groups with the most open cards, then the most overdue
// cards, then by name and id. It returns the sum of all other groups as the
// rest.
func topOf[T any](parts []part[T]) ([]T, board.Rest) {
	slices.SortFunc(parts, func(a, b part[T]) int {
		return cmp.Or(cmp.Compare(b.tally.Open, a.tally.Open), cmp.Compare(b.tally.Overdue, a.tally.Overdue),
			cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
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

// weeks counts created and completed cards by week, and how long they took.
type weeks struct {
	edges       []board.Instant // the start of each week, and the end of the last
	of          []board.Week
	lead, cycle []int64 // milliseconds
}

// weeksOf returns the last twelve weeks, ending with the current one.
func weeksOf(d days) weeks {
	w := weeks{edges: make([]board.Instant, dashboardWeeks+1), of: make([]board.Week, dashboardWeeks)}
	monday := -(int(d.today.Weekday()) + 6) % 7
	for i := range w.edges {
		at := monday - 7*(dashboardWeeks-1-i)
		w.edges[i] = d.edge(at).At
		if i < dashboardWeeks {
			day := d.today.AddDate(0, 0, at)
			year, week := day.ISOWeek()
			w.of[i] = board.Week{Week: fmt.Sprintf("%d-W%02d", year, week), From: day.Format(board.DateLayout)}
		}
	}
	return w
}

// at returns the index of the week that contains an instant, or -1 before the
// first.
func (w *weeks) at(at board.Instant) int {
	return min(sort.Search(len(w.edges), func(i int) bool { return w.edges[i] > at })-1, dashboardWeeks-1)
}

func (w *weeks) card(created, done, moved board.Instant) {
	if i := w.at(created); i >= 0 {
		w.of[i].Created++
	}
	if w.at(done) < 0 {
		return
	}
	w.of[w.at(done)].Completed++
	w.lead = append(w.lead, max(0, int64(done-created)))
	if moved > 0 && moved <= done {
		w.cycle = append(w.cycle, int64(done-moved))
	}
}
