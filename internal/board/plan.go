package board

// Plan is what an organization has agreed on.
type Plan string

// The plans.
const (
	PlanFree     Plan = "free"
	PlanTeam     Plan = "team"
	PlanBusiness Plan = "business"
)

// DefaultPlan is the plan of new organizations unless the operator sets another.
const DefaultPlan = PlanBusiness

// PlanLimits are the numbers of a plan.
type PlanLimits struct {
	RequestsPerMinute int // REST and MCP, per token owner
	SearchesPerMinute int // per token owner, within the above
	Webhooks          int // per organization
	DeliveriesPerDay  int // per organization
	RunsPerDay        int // of automation rules, per organization
	InvitationsPerDay int // emails that one person sends to invite people
}

var planLimits = map[Plan]PlanLimits{
	PlanFree:     {60, 12, 2, 500, 1_000, 50},
	PlanTeam:     {300, 60, 25, 10_000, 20_000, 500},
	PlanBusiness: {1_200, 240, 100, 50_000, 200_000, 2_000},
}

// Limits are the numbers of the plan; an unknown plan has those of free.
func (p Plan) Limits() PlanLimits {
	if l, ok := planLimits[p]; ok {
		return l
	}
	return planLimits[PlanFree]
}

// InvitationsToAddress is how many invitations go to one address in 24 hours,
// whoever sends them.
const InvitationsToAddress = 3

// Best is the plan with the higher limits.
func (p Plan) Best(other Plan) Plan {
	if other.Limits().RequestsPerMinute > p.Limits().RequestsPerMinute {
		return other
	}
	return p
}

// Plans are all plans, smallest first.
func Plans() []Plan { return []Plan{PlanFree, PlanTeam, PlanBusiness} }

// ParsePlan refuses every word that is not a plan.
func ParsePlan(s string) (Plan, error) {
	if _, ok := planLimits[Plan(s)]; ok {
		return Plan(s), nil
	}
	return "", Invalid("plan must be one of free, team, business.")
}
