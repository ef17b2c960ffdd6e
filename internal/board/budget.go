package board

import "time"

// Resource is a budget of requests. Every request spends from general. A request
// of another kind also spends from the budget of its kind.
type Resource string

// The budgets.
const (
	ResourceGeneral Resource = "general"
	ResourceSearch  Resource = "search"
	ResourceReport  Resource = "report"
	ResourceExport  Resource = "export"
	ResourceUpload  Resource = "upload"
	ResourceMail    Resource = "mail"
)

// Resources returns all budgets.
func Resources() []Resource {
	return []Resource{ResourceGeneral, ResourceSearch, ResourceReport, ResourceExport, ResourceUpload, ResourceMail}
}

// Rate is what is left of a budget: the content of the X-RateLimit headers.
type Rate struct {
	Resource  Resource
	Limit     int
	Remaining int       // as far as this server knows; other servers may have used up to a hundredth of the limit
	Reset     time.Time // end of the window
}

// Budget is the most that one person may spend from a budget within a window.
type Budget struct {
	Most   int
	Window time.Duration
}

// Budget returns the budget of a person on the plan.
func (p Plan) Budget(r Resource) Budget {
	l := p.Limits()
	switch r {
	case ResourceSearch:
		return Budget{l.SearchesPerMinute, time.Minute}
	case ResourceReport:
		return Budget{l.ReportsPerMinute, time.Minute}
	case ResourceExport:
		return Budget{l.ExportsPerHour, time.Hour}
	case ResourceUpload:
		return Budget{l.UploadsPerHour, time.Hour}
	case ResourceMail:
		return Budget{l.InvitationsPerDay, 24 * time.Hour}
	case ResourceGeneral:
	}
	return Budget{l.RequestsPerMinute, time.Minute}
}
