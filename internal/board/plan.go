package board

// Plan is the set of limits that an organization has.
type Plan string

// The plans.
const (
	PlanFree     Plan = "free"
	PlanTeam     Plan = "team"
	PlanBusiness Plan = "business"
)

// DefaultPlan is the plan of new organizations unless the operator sets another.
const DefaultPlan = PlanBusiness

// PlanLimits holds the limits of a plan.
type PlanLimits struct {
	RequestsPerMinute int   // REST and MCP, per token owner
	SearchesPerMinute int   // per token owner; searches also count as requests
	ReportsPerMinute  int   // per token owner; reports also count as requests
	ExportsPerHour    int   // per person; exports also count as requests
	UploadsPerHour    int   // per person; uploads also count as requests
	Webhooks          int   // per organization
	DeliveriesPerDay  int   // per organization
	RunsPerDay        int   // runs of automation rules, per organization
	InvitationsPerDay int   // invitation emails sent by one person
	JobsPerPerson     int   // jobs of one person that have not ended
	RunningJobs       int   // concurrent jobs, per organization
	Storage           Bytes // text, activity, files and templates, per organization; a default that a server can override
	FileSize          Bytes // of one file
}

var planLimits = map[Plan]PlanLimits{
	PlanFree:     {60, 12, 30, 20, 20, 2, 500, 1_000, 50, 2, 1, 250e6, 25e6},
	PlanTeam:     {300, 60, 150, 60, 60, 25, 10_000, 20_000, 500, 5, 2, 25e9, 250e6},
	PlanBusiness: {1_200, 240, 600, 240, 240, 100, 50_000, 200_000, 2_000, 10, 2, 250e9, 2e9},
}

// Limits returns the limits of the plan. An unknown plan has those of the Free plan.
func (p Plan) Limits() PlanLimits {
	if l, ok := planLimits[p]; ok {
		return l
	}
	return planLimits[PlanFree]
}

// EmailsToAddress is the maximum number of emails of one kind that strangers can send to an
// address: of invitations and of emails about sign-ups in 24 hours, and of password resets in
// an hour. The links work at least as long, so an address that has reached the limit has a link
// that works.
const EmailsToAddress = 3

// Best returns p or other, whichever has the higher limits.
func (p Plan) Best(other Plan) Plan {
	if other.Limits().RequestsPerMinute > p.Limits().RequestsPerMinute {
		return other
	}
	return p
}

// Plans returns all plans, smallest first.
func Plans() []Plan { return []Plan{PlanFree, PlanTeam, PlanBusiness} }
