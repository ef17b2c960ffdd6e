package query

import "time"

// DayEdge is the beginning of a date in a zone, as filters mean it. Day is
// midnight UTC of the date.
func DayEdge(day time.Time, zone *time.Location) Edge { return calendar{zone: zone}.edge(day) }
