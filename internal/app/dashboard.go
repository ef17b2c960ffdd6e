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
	groupSize      = 5  // cards or boards listed for a group
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
	if err := pipeline(func(submit func(func() error)) error {
		return readDashboard(ctx, v, in.WorkspaceID, days.cut(v.Now()), count, submit)
	}); err != nil {
		return out, err
	}
	count.sum(&out)
	out.Stale.Cards, err = v.CardsByID(ctx, count.longestStale())
	return out, err
}

// readDashboard reads the records of a dashboard. To count them, it passes
// functions to submit.
func readDashboard(ctx context.Context, v *store.View, workspaceID string, cut store.ReportCut, count *dashboardCount,
	submit func(func() error)) error {
	oldest, newest := "", ""
	err := v.ReportLists(ctx, workspaceID, cut, func(l store.ReportList) {
		if first, last := l.Between(); first != "" {
			oldest, newest = min(cmp.Or(oldest, first), first), max(newest, last)
		}
		submit(func() error { return count.list(l) })
	})
	if err != nil {
		return err
	}
	err = v.ReportLabels(ctx, workspaceID, func(name string, color board.Color, cards string) {
		submit(func() error { count.label(name, color, cards); return nil })
	})
	if err != nil {
		return err
	}
	err = v.ReportPeople(ctx, workspaceID, oldest, newest, func(u board.UserRef, cards string) {
		submit(func() error { count.member(u, cards); return nil })
	})
	if err != nil {
		return err
	}
	return v.ReportFlows(ctx, workspaceID, count.weeks.edges[0], func(f store.ReportFlow) {
		submit(func() error { return f.Each(count.weeks.card) })
	})
}

// dashboardCount accumulates the figures of a dashboard. All lists must be counted
// before labels and members, which refer to the cards in them.
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
	longest  []store.ReportCard // the stale cards to list, longest unchanged first
	weeks    weeks
}

// labelKind identifies labels of several boards that are counted together.
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

// keepStale counts a stale card, and keeps it if it is one of those unchanged
// for longest.
func (n *dashboardCount) keepStale(c store.ReportCard) {
	n.stale++
	if len(n.longest) == groupSize && n.longest[groupSize-1].UpdatedAt < c.UpdatedAt {
		return
	}
	at, _ := slices.BinarySearchFunc(n.longest, c, func(a, b store.ReportCard) int {
		return cmp.Or(cmp.Compare(a.UpdatedAt, b.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	n.longest = slices.Insert(n.longest, at, c)
	n.longest = n.longest[:min(len(n.longest), groupSize)]
}

func (n *dashboardCount) longestStale() (ids []string) {
	for _, c := range n.longest {
		ids = append(ids, c.ID)
	}
	return ids
}

// tally counts the cards with the given ids, separated by spaces. It ignores cards
// that are not in the report, and calls each for the others.
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

// sum writes the figures to out. It counts the stale cards but does not load them.
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
	out.Weeks, out.LeadTime, out.CycleTime = n.weeks.counts, board.MedianOf(n.weeks.lead), board.MedianOf(n.weeks.cycle)
}

// part is a group of a breakdown.
type part[T any] struct {
	record T
	tally  *board.Tally // points into the record
	name   string
	id     string
}

// topOf returns the groups with the most open cards, and the sum of all other
// groups. Groups with equally many are ordered by overdue cards, name and id.
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

// weeks counts created and completed cards by week. It also collects the lead and
// cycle times of completed cards.
type weeks struct {
	edges       []board.Instant // the start of each week, and the end of the last
	counts      []board.Week
	lead, cycle []int64 // milliseconds
}

// weeksOf returns the last twelve weeks, ending with the current one.
func weeksOf(d days) weeks {
	w := weeks{edges: make([]board.Instant, dashboardWeeks+1), counts: make([]board.Week, dashboardWeeks)}
	monday := -(int(d.today.Weekday()) + 6) % 7
	for i := range w.edges {
		at := monday - 7*(dashboardWeeks-1-i)
		w.edges[i] = d.edge(at).At
		if i < dashboardWeeks {
			day := d.today.AddDate(0, 0, at)
			year, week := day.ISOWeek()
			w.counts[i] = board.Week{Week: fmt.Sprintf("%d-W%02d", year, week), From: day.Format(board.DateLayout)}
		}
	}
	return w
}

// at returns the index of the week that contains an instant, or -1 if it is
// before the first week.
func (w *weeks) at(at board.Instant) int {
	return min(sort.Search(len(w.edges), func(i int) bool { return w.edges[i] > at })-1, dashboardWeeks-1)
}

func (w *weeks) card(created, done, moved board.Instant) {
	if i := w.at(created); i >= 0 {
		w.counts[i].Created++
	}
	if w.at(done) < 0 {
		return
	}
	w.counts[w.at(done)].Completed++
	w.lead = append(w.lead, max(0, int64(done-created)))
	if moved > 0 && moved <= done {
		w.cycle = append(w.cycle, int64(done-moved))
	}
}
