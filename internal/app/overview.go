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
	TimeZone string `json:"timeZone,omitempty" doc:"The time zone that determines the current day, as an IANA name such as Europe/Zurich. Defaults to the caller's time zone." example:"Europe/Zurich"`
}

// GetMyOverview summarizes the caller's work. Its groups of due cards correspond to
// the due filters of list_my_cards.
func GetMyOverview(ctx context.Context, v *store.View, in GetMyOverviewInput) (board.Overview, error) {
	days, err := reportDays(ctx, v, in.TimeZone)
	if err != nil {
		return board.Overview{}, err
	}
	out := board.Overview{AsOf: v.Now(), TimeZone: days.zone.String()}
	mine, err := v.AssignedCards(ctx)
	if err != nil {
		return out, err
	}
	today := days.edge(0)
	for _, g := range []struct {
		due      string
		from, to query.Edge
		group    *board.CardGroup
	}{
		{"overdue", query.Edge{}, query.Edge{Day: today.Day, At: v.Now()}, &out.Overdue},
		{"today", today, days.edge(1), &out.DueToday}, {"week", today, days.edge(7), &out.DueThisWeek},
	} {
		q, err := query.Filter{Due: g.due, Done: "false", Sort: "due"}.Parse(query.Env{Now: v.Time(), Zone: days.zone, Me: v.Caller().UserID})
		if err != nil {
			return out, err
		}
		if g.group.Count, g.group.Cards, err = mine.First(ctx, q, g.from, g.to, groupSize); err != nil {
			return out, err
		}
	}
	recent := &out.RecentlyAssigned
	if recent.Count, recent.Cards, err = mine.Recent(ctx, v.Now()-recentlyAssigned, groupSize); err != nil {
		return out, err
	}
	out.Boards.Count, out.Boards.Boards, err = v.BoardStates(ctx, groupSize)
	return out, err
}
