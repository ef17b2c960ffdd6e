package board

import (
	"path"
	"strings"
	"time"
)

// LoadZone returns the IANA time zone with the given name. It returns an error for
// names that depend on the machine or its installation, and for names that are not
// time zones of the IANA database: Local, localtime, posixrules, Factory, the posix/
// and right/ trees, and offsets such as +02:00.
func LoadZone(field, name string) (*time.Location, error) {
	invalid := InvalidValue(field, "an IANA time zone name such as Europe/Berlin or UTC")
	switch name {
	case "", "Local", "localtime", "posixrules", "Factory":
		return nil, invalid
	}
	if len(name) > 64 || path.Clean(name) != name || strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/") ||
		!strings.ContainsAny(name[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return nil, invalid
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, invalid
	}
	return zone, nil
}

// ZoneOffset is a period in which a time zone has one UTC offset.
type ZoneOffset struct {
	From    Instant `json:"from" format:"date-time" doc:"The start of the period." example:"2026-03-29T01:00:00.000Z"`
	Until   Instant `json:"until" format:"date-time" doc:"The end of the period, exclusive." example:"2026-10-25T01:00:00.000Z"`
	Seconds int     `json:"seconds" doc:"The offset from UTC in seconds." example:"3600"`
}

// ZoneOffsets returns the consecutive UTC offsets of zone between two instants.
func ZoneOffsets(zone *time.Location, from, until time.Time) []ZoneOffset {
	var all []ZoneOffset
	for from.Before(until) {
		local := from.In(zone)
		_, seconds := local.Zone()
		_, end := local.ZoneBounds() // zero if the last period never ends
		if end.IsZero() || end.After(until) {
			end = until
		}
		all = append(all, ZoneOffset{From: InstantOf(from), Until: InstantOf(end), Seconds: seconds})
		from = end
	}
	return all
}
