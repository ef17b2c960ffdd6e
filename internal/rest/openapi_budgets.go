package rest

import (
	"fmt"
	"strings"
	"time"

	"cardwall/internal/board"
)

// budgets describes the rate limits of every plan in Markdown.
func budgets() string {
	var b strings.Builder
	b.WriteString("\n\nEvery request counts against the caller's `general` budget. Some requests also count against a second " +
		"budget. A request that exceeds either budget counts against neither. The `X-RateLimit-…` headers describe the " +
		"budget that `X-RateLimit-Resource` names. The web app has budgets of its own, which " +
		"programs cannot use up; its `general`, `search` and `report` budgets are the same on every plan, and at least as large " +
		"as those for programs.\n\n| budget | for |")
	for _, p := range board.Plans() {
		fmt.Fprintf(&b, " %s |", p)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(board.Plans())))
	for _, r := range board.Resources() {
		fmt.Fprintf(&b, "\n| `%s` | %s |", r, map[board.Resource]string{
			board.ResourceGeneral: "all requests", board.ResourceSearch: "searches across boards",
			board.ResourceReport: "overviews, dashboards, calendars and saved filters",
			board.ResourceExport: "exports", board.ResourceUpload: "file imports",
			board.ResourceMail: "invitation emails",
		}[r])
		for _, p := range board.Plans() {
			budget := p.Budget(r)
			window := map[time.Duration]string{time.Minute: "minute", time.Hour: "hour", 24 * time.Hour: "day"}[budget.Window]
			fmt.Fprintf(&b, " %d per %s |", budget.Most, window)
		}
	}
	b.WriteString("\n\nOne person can run two exports and two imports at a time. Further requests fail with `rate_limited` and the " +
		"reason `too_many_at_once`.")
	return b.String()
}
