package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	dashboardWeeks = 12
	dashboardTop   = 10 // maximum number of groups in a breakdown, and of lists over their WIP limit
	groupSize      = 5  // maximum number of cards or boards listed for a group
	staleAfter     = board.Instant(14 * 24 * 60 * 60 * 1000)
)

// GetWorkspaceDashboardInput is the input of GetWorkspaceDashboard.
type GetWorkspaceDashboardInput struct {
	WorkspaceInput
	TimeZone string `json:"timeZone,omitempty" doc:"The time zone of days and weeks, as an IANA name such as Europe/Zurich. Defaults to the caller's time zone." example:"Europe/Zurich"`
}

// GetWorkspaceDashboard returns key figures of a workspace, counted over the open
// boards that the caller can see.
func GetWorkspaceDashboard(ctx context.Context, v *store.View, in GetWorkspaceDashboardInput) (board.Dashboard, error) {
	if _, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
		return board.Dashboard{}, err
	}
	days, err := reportDays(ctx, v, in.TimeZone)
	if err != nil {
		return board.Dashboard{}, err
	}
	out := board.Dashboard{WorkspaceID: in.WorkspaceID, AsOf: v.Now(), TimeZone: days.zone.String()}
	count := newDashboardCount(days, days.cut(v.Now()))
	if err := v.ReportPeople(ctx, in.WorkspaceID, func(u board.UserRef) { count.people[u.ID] = u.Name }); err != nil {
		return out, err
	}
	var uncounted []store.ReportBoard
	if err := pipeline(func(submit func(func() error)) error {
		return v.ReportBoards(ctx, in.WorkspaceID, func(b store.ReportBoard) {
			submit(func() error {
				if s := b.Summary(); s != nil {
					count.board(b, s)
				} else {
					uncounted = append(uncounted, b)
				}
				return nil
			})
		})
	}); err != nil {
		return out, err
	}
	if err := count.cardsOf(ctx, v, uncounted); err != nil {
		return out, err
	}
	count.sum(&out)
	out.Stale.Cards, err = v.CardsByID(ctx, count.longestStale())
	return out, err
}

// dashboardCount accumulates the figures of a dashboard, board by board.
type dashboardCount struct {
	board.Figures
	cut      store.ReportCut
	people   map[string]string // names of the people to count, by id
	byBoard  []part[board.BoardTally]
	byList   []part[board.ListTally]
	byMember map[string]*board.Tally
	byLabel  map[labelKind]*board.Tally
	breaches []board.Breach
	stale    int
	oldest   []store.OldCard
	weeks    weeks
}

// labelKind identifies labels of several boards that are counted together.
type labelKind struct {
	name  string
	color board.Color
}

func newDashboardCount(d days, cut store.ReportCut) *dashboardCount {
	return &dashboardCount{cut: cut, people: map[string]string{}, byMember: map[string]*board.Tally{}, byLabel: map[labelKind]*board.Tally{},
		breaches: []board.Breach{}, weeks: weeksOf(d)}
}

// cardsOf counts the cards of boards that have no summary.
func (n *dashboardCount) cardsOf(ctx context.Context, v *store.View, boards []store.ReportBoard) error {
	for some := range slices.Chunk(boards, 64) { // a board's counts take more memory than its summary
		ids := make([]string, len(some))
		for i, b := range some {
			ids[i] = b.ID
		}
		summaries, err := v.Summaries(ctx, ids)
		if err != nil {
			return err
		}
		for _, b := range some {
			n.board(b, summaries[b.ID])
		}
	}
	return nil
}

// board adds the cards of a board, as counted in its summary.
func (n *dashboardCount) board(b store.ReportBoard, s *store.Summary) {
	var sum board.Tally
	for i := range s.Lists {
		l := &s.Lists[i]
		t := l.Tally(n.cut)
		sum.Add(t)
		n.Undated += l.Undated
		n.DueIn7Days += l.Soon(n.cut)
		n.byList = append(n.byList, partOf(board.ListTally{ListID: l.ID, BoardID: b.ID, Name: l.Name, Tally: t}, t, l.Name, l.ID))
		if cards := l.Cards(); b.Features.WIPLimits && l.WIPLimit != nil && cards > *l.WIPLimit {
			n.breaches = append(n.breaches, board.Breach{ListID: l.ID, BoardID: b.ID, Name: l.Name, OpenCards: cards,
				WIPLimit: *l.WIPLimit, WIPMode: l.WIPMode})
		}
	}
	n.byBoard = append(n.byBoard, partOf(board.BoardTally{BoardID: b.ID, Name: b.Name, Tally: sum}, sum, b.Name, b.ID))
	n.Open, n.Done, n.Overdue = n.Open+sum.Open, n.Done+sum.Done, n.Overdue+sum.Overdue
	n.Unassigned += s.Unassigned
	for i := range s.People {
		addTally(n.byMember, s.People[i].UserID, s.People[i].Tally(n.cut))
	}
	for i := range s.Labels {
		addTally(n.byLabel, labelKind{s.Labels[i].Name, s.Labels[i].Color}, s.Labels[i].Tally(n.cut))
	}
	n.stale += s.Stale(n.cut)
	for _, c := range s.Oldest {
		n.oldest = store.AddOldCard(n.oldest, c)
	}
	n.weeks.add(s)
}

// addTally adds counts to those of a group.
func addTally[K comparable](groups map[K]*board.Tally, key K, t board.Tally) {
	if groups[key] == nil {
		groups[key] = &board.Tally{}
	}
	groups[key].Add(t)
}

// longestStale returns the ids of the stale cards to list, longest unchanged first.
func (n *dashboardCount) longestStale() (ids []string) {
	for _, c := range n.oldest {
		if c.UpdatedAt < n.cut.Stale {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// sum writes the figures to out. It writes the number of stale cards, but does not load
// the cards.
func (n *dashboardCount) sum(out *board.Dashboard) {
	var byMember []part[board.MemberTally]
	for id, t := range n.byMember {
		if name, ok := n.people[id]; ok {
			byMember = append(byMember, partOf(board.MemberTally{UserID: id, Name: name, Tally: *t}, *t, name, id))
		}
	}
	var byLabel []part[board.LabelTally]
	for k, t := range n.byLabel {
		byLabel = append(byLabel, partOf(board.LabelTally{Name: k.name, Color: k.color, Tally: *t}, *t, k.name, string(k.color)))
	}
	out.Figures = n.Figures
	out.ByBoard.Top, out.ByBoard.Rest = topOf(n.byBoard)
	out.ByList.Top, out.ByList.Rest = topOf(n.byList)
	out.ByMember.Top, out.ByMember.Rest = topOf(byMember)
	out.ByLabel.Top, out.ByLabel.Rest = topOf(byLabel)
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
	tally  board.Tally // the counts in the record
	name   string
	id     string
}

func partOf[T any](record T, t board.Tally, name, id string) part[T] {
	return part[T]{record, t, name, id}
}

// topOf returns the groups with the most open cards, and the sum of all other
// groups. Groups with the same number of open cards are ordered by overdue cards,
// name and id.
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
			rest.Add(p.tally)
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

// at returns the index of the week that contains an instant. It returns -1 for an
// instant before the first week, and the index of the last week for an instant after
// it.
func (w *weeks) at(at board.Instant) int {
	return min(sort.Search(len(w.edges), func(i int) bool { return w.edges[i] > at })-1, dashboardWeeks-1)
}

// add counts the cards of a board that were created or done in the weeks.
func (w *weeks) add(s *store.Summary) {
	for i := range w.counts {
		w.counts[i].Created += s.CreatedBefore(w.edges[i+1]) - s.CreatedBefore(w.edges[i])
	}
	// A server whose clock is ahead may have created cards after the last week.
	w.counts[dashboardWeeks-1].Created += len(s.Created) - s.CreatedBefore(w.edges[dashboardWeeks])
	for _, f := range s.Finished {
		i := w.at(f.At)
		if i < 0 {
			continue
		}
		w.counts[i].Completed++
		w.lead = append(w.lead, f.Lead)
		if f.Cycle >= 0 {
			w.cycle = append(w.cycle, f.Cycle)
		}
	}
}
