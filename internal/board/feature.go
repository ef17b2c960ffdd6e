package board

// Feature is an optional part of a board that can be enabled or disabled (a
// power-up).
type Feature string

// The features of a board.
const (
	StatusUpdates Feature = "statusUpdates"
	WIPLimits     Feature = "wipLimits"
	Automation    Feature = "automation"
	PublicPage    Feature = "publicPage"
	StartDates    Feature = "startDates"
	Calendar      Feature = "calendar"
)

// Features holds which features of a board are enabled.
type Features struct {
	StatusUpdates bool `json:"statusUpdates" doc:"Whether people can post status updates." example:"true"`
	WIPLimits     bool `json:"wipLimits" doc:"Whether lists can have WIP limits." example:"true"`
	Automation    bool `json:"automation" doc:"Whether automation rules run on the board." example:"false"`
	PublicPage    bool `json:"publicPage" doc:"Whether the board has a public page for people without an account." example:"false"`
	StartDates    bool `json:"startDates" doc:"Whether cards can have a start date." example:"true"`
	Calendar      bool `json:"calendar" doc:"Whether calendars show the board." example:"true"`
}

// NewBoardFeatures returns the features of a new board.
func NewBoardFeatures() Features {
	return Features{StatusUpdates: true, WIPLimits: true, StartDates: true, Calendar: true}
}

// Has reports whether the given feature is enabled.
func (f Features) Has(which Feature) bool {
	switch which {
	case StatusUpdates:
		return f.StatusUpdates
	case WIPLimits:
		return f.WIPLimits
	case Automation:
		return f.Automation
	case PublicPage:
		return f.PublicPage
	case StartDates:
		return f.StartDates
	case Calendar:
		return f.Calendar
	}
	return false
}

// Bits encodes the features as the number stored in the database.
func (f Features) Bits() int64 {
	var bits int64
	for i, on := range []bool{f.StatusUpdates, f.WIPLimits, f.Automation, f.PublicPage, f.StartDates, f.Calendar} {
		if on {
			bits |= 1 << i
		}
	}
	return bits
}

// FeaturesOf decodes a number from Bits.
func FeaturesOf(bits int64) Features {
	on := func(i int) bool { return bits&(1<<i) != 0 }
	return Features{on(0), on(1), on(2), on(3), on(4), on(5)}
}
