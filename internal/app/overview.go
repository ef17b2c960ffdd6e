package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// recentlyAssigned is how long an assignment counts as recent.
const recentlyAssigned = board.Instant(7 * 24 * 60 * 60 * 1000)

// GetMyOverviewInput is the input of GetMyOverview.
type GetMyOverviewInput struct {
	TimeZone string `json:"timeZone,omitempty" doc:"The time zone that decides what today is, as an IANA name such as Europe/Zurich; your own when absent." example:"Europe/Zurich"`
}

// GetMyOverview summarizes the caller's work. Its groups hold the same cards as
// the filters of list_my_cards.
func GetMyOverview(ctx context.Context, v *store.View, in GetMyOverviewInput) (board.Overview, error) {
	days, err := reportDays(ctx, v, in.TimeZone)
	if err != nil {
		return board.Overview{}, err
	}
	out := board.Overview{AsOf: v.Now(), TimeZone: days.zone.String()}
	for _, g := range []struct {
		due   string
		group *board.CardGroup
	}{{"overdue", &out.Overdue}, {"today", &out.DueToday}, {"week", &out.DueThisWeek}} {
		q, err := query.Filter{Due: g.due, Done: "false", Sort: "due"}.Parse(query.Env{Now: v.Time(), Zone: days.zone, Me: v.Caller().UserID})
		if err != nil {
			return out, err
		}
		page := store.CardPage{Assigned: true, Query: q, Limit: groupSize}
		if g.group.Count, g.group.Cards, err = v.FirstCards(ctx, page); err != nil {
			return out, err
		}
	}
	recent := &out.RecentlyAssigned
	if recent.Count, recent.Cards, err = v.RecentlyAssigned(ctx, v.Now()-recentlyAssigned, groupSize); err != nil {
		return out, err
	}
	out.Boards.Count, out.Boards.Boards, err = v.BoardStates(ctx, groupSize)
	return out, err
}
