package board

import (
	"errors"
	"time"
)

// Instant is a point in time in Unix milliseconds, the precision of every
// instant that the service stores or shows.
type Instant int64

const instantLayout = "2006-01-02T15:04:05.000Z"

// InstantOf truncates t to the millisecond.
func InstantOf(t time.Time) Instant { return Instant(t.UnixMilli()) }

// Time returns the instant in UTC.
func (i Instant) Time() time.Time { return time.UnixMilli(int64(i)).UTC() }

func (i Instant) String() string { return i.Time().Format(instantLayout) }

// AppendText appends the instant in ISO 8601 format, in UTC with milliseconds.
func (i Instant) AppendText(b []byte) ([]byte, error) {
	return i.Time().AppendFormat(b, instantLayout), nil
}

// MarshalText returns the instant in ISO 8601 format, in UTC with milliseconds.
func (i Instant) MarshalText() ([]byte, error) { return i.AppendText(nil) }

// UnmarshalText parses an instant in RFC 3339 format.
func (i *Instant) UnmarshalText(b []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return errors.New("an instant must be an RFC 3339 time such as 2026-01-31T09:30:00.000Z")
	}
	*i = InstantOf(t)
	return nil
}

// DateLayout is the format of a calendar date.
const DateLayout = "2006-01-02"

// ParseDate parses a calendar date (YYYY-MM-DD, years 1900 to 2999).
func ParseDate(field, s string) (time.Time, error) {
	t, err := time.Parse(DateLayout, s)
	if err != nil || t.Year() < 1900 || t.Year() > 2999 {
		return time.Time{}, InvalidValue(field, "a date in the form YYYY-MM-DD between the years 1900 and 2999")
	}
	return t, nil
}
