package board

// Limits holds the limits of a board. All are configurable.
type Limits struct {
	OpenCards     int // open cards per board
	AllCards      int // all cards per board, including archived ones
	OpenLists     int // open lists per board
	Labels        int // labels per board
	Checklists    int // checklists per card
	Items         int // items per checklist
	Assignees     int // assignees per card
	Attachments   int // files and links per card
	BoardMembers  int // members of a board
	Title         int // characters of a title or name
	Text          int // characters of a description or comment
	BoardWebhooks int // webhooks per board
	Rules         int // automation rules per board
	RuleActions   int // actions per rule
}

// DefaultLimits returns the limits of a server without configured limits.
func DefaultLimits() Limits {
	return Limits{
		OpenCards: 5_000, AllCards: 200_000, OpenLists: 500, Labels: 1_000,
		Checklists: 100, Items: 200, Assignees: 50, Attachments: 200, BoardMembers: 500,
		Title: 512, Text: 16_384, BoardWebhooks: 10, Rules: 50, RuleActions: 10,
	}
}

// Usage is the current usage of a limit.
type Usage struct {
	Count  int `json:"count" doc:"The current number." example:"12"`
	WarnAt int `json:"warnAt" doc:"The number at which the application starts to show a warning." example:"4500"`
	Max    int `json:"max" doc:"The maximum number." example:"5000"`
}

// UsageOf returns the usage of a limit. The warning starts at 90% of the limit.
func UsageOf(count, limit int) Usage {
	return Usage{Count: count, WarnAt: limit * 9 / 10, Max: limit}
}

// CheckLimit returns a limit_reached error if count+adding exceeds limit. What names the
// objects in the plural.
func CheckLimit(what string, count, adding, limit int) error {
	if count+adding <= limit {
		return nil
	}
	return Refuse(CodeLimitReached, "There can be at most %d %s; there are %d.", limit, what, count)
}

// WIPMode determines the behavior of a list that has reached its WIP limit.
type WIPMode string

// The modes of a WIP limit.
const (
	WIPSoft WIPMode = "soft" // a warning is shown
	WIPHard WIPMode = "hard" // further cards are refused with capacity_full
)
