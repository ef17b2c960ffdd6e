package query

import "time"

// DayEdge returns the start of a date in a zone, as filters use it. Day must be
// midnight UTC of the date.
func DayEdge(day time.Time, zone *time.Location) Edge { return calendar{zone: zone}.edge(day) }
