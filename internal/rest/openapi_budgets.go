package rest

import (
	"fmt"
	"strings"
	"time"

	"cardwall/internal/board"
)

// budgets describes the rate limits of every plan.
func budgets() string {
	var b strings.Builder
	b.WriteString("\n\nEvery request spends from the budget `general` of its caller. Some requests also spend from a budget of " +
		"their own. A request that one budget refuses spends nothing from any. The headers `X-RateLimit-…` describe the " +
		"budget. Pages have more of `general`, `search` and `report` than programs.\n\n| budget | for |")
	for _, p := range board.Plans() {
		fmt.Fprintf(&b, " %s |", p)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(board.Plans())))
	for _, r := range board.Resources() {
		fmt.Fprintf(&b, "\n| `%s` | %s |", r, map[board.Resource]string{
			board.ResourceGeneral: "all requests", board.ResourceSearch: "searches across boards",
			board.ResourceReport: "overviews, dashboards, calendars and saved filters",
			board.ResourceExport: "exports", board.ResourceUpload: "imports of a file",
			board.ResourceMail: "emails with an invitation",
		}[r])
		for _, p := range board.Plans() {
			budget := p.Budget(r)
			window := map[time.Duration]string{time.Minute: "minute", time.Hour: "hour", 24 * time.Hour: "day"}[budget.Window]
			fmt.Fprintf(&b, " %d per %s |", budget.Most, window)
		}
	}
	b.WriteString("\n\nOne person can run two exports and two imports at a time. Further ones get `rate_limited` with the reason " +
		"`too_many_at_once`.")
	return b.String()
}
