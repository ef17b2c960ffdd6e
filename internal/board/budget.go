package board

import "time"

// Resource names a request budget. Every request counts against the general
// budget. Some requests, such as searches, also count against a budget of their kind.
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

// Rate is the state of a budget, as reported in the X-RateLimit headers.
type Rate struct {
	Resource  Resource
	Limit     int
	Remaining int       // as far as this server knows; each other server may have used about another 1% of the limit
	Reset     time.Time // end of the window
}

// Budget is the maximum number of requests by one person within a window.
type Budget struct {
	Most   int
	Window time.Duration
}

// Budget returns the budget that a person on the plan has for the resource.
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
