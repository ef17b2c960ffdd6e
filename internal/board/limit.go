package board

// Limits holds the caps of a board. All are configurable.
type Limits struct {
	OpenCards     int // open cards per board
	AllCards      int // all cards per board, including archived ones
	OpenLists     int // open lists per board
	Labels        int // labels per board
	Checklists    int // checklists per card
	Items         int // items per checklist
	Assignees     int // assignees per card
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
		Checklists: 100, Items: 200, Assignees: 50, BoardMembers: 500,
		Title: 512, Text: 16_384, BoardWebhooks: 10, Rules: 50, RuleActions: 10,
	}
}

// Usage is the used part of a cap.
type Usage struct {
	Count  int `json:"count" doc:"The number." example:"12"`
	WarnAt int `json:"warnAt" doc:"The number from which the application shows a warning." example:"4500"`
	Max    int `json:"max" doc:"The limit." example:"5000"`
}

// UsageOf returns the usage of a cap. The warning starts at 90 % of it.
func UsageOf(count, limit int) Usage {
	return Usage{Count: count, WarnAt: limit * 9 / 10, Max: limit}
}

// Room returns limit_reached if count+adding exceeds limit. What names the
// objects in the plural.
func Room(what string, count, adding, limit int) error {
	if count+adding <= limit {
		return nil
	}
	return Refuse(CodeLimitReached, "There can be at most %d %s; there are %d.", limit, what, count)
}

// WIPMode is what happens when a list reaches its WIP limit.
type WIPMode string

// The modes of a WIP limit.
const (
	WIPSoft WIPMode = "soft" // a warning is shown
	WIPHard WIPMode = "hard" // further cards are refused with capacity_full
)
