package query

import (
	"slices"
	"strings"
	"time"

	"cardwall/internal/board"
)

// maxWordsLength is the maximum length of a day or an instant in words, in bytes.
const maxWordsLength = 40

// DayInWords returns the date that text means, as midnight UTC: a date, or words such as
// "tomorrow", "next friday", "in 2 weeks" or "24 dec". A weekday is the first one after today,
// and a date without a year is the first one from today on. If past is true, they are the last
// ones before today and until today. DayInWords returns false for text that it does not know or
// that could mean another day.
func (e Env) DayInWords(text string, past bool) (day time.Time, ok bool) {
	if day, ok = newCalendar(e).words(splitWords(text), past); !ok {
		return day, false
	}
	_, err := board.ParseDate("", day.Format(board.DateLayout))
	return day, err == nil
}

// InstantInWords returns the instant that text means: "now", a time such as "3 hours ago", or
// the start of a day that DayInWords knows. If end is true, it returns the end of the day, which
// is the start of the next. Days are in the past.
func (e Env) InstantInWords(text string, end bool) (at board.Instant, ok bool) {
	words := splitWords(text)
	if slices.Equal(words, []string{"now"}) {
		return board.InstantOf(e.Now), true
	}
	if len(words) == 3 && words[2] == "ago" {
		n, unit, ok := quantity(words[:2])
		if length := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour}[unit]; ok && length > 0 {
			return board.InstantOf(e.Now.Add(-time.Duration(n) * length)), true
		}
	}
	day, ok := e.DayInWords(text, true)
	if !ok {
		return 0, false
	}
	if end {
		day = day.AddDate(0, 0, 1)
	}
	return newCalendar(e).edge(day).At, true
}

// splitWords returns the words of a text in lower case, without commas. It returns nil for a
// text that is too long.
func splitWords(text string) []string {
	if len(text) > maxWordsLength {
		return nil
	}
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(text, ",", " ")))
	if len(words) > 1 && slices.Contains([]string{"on", "by", "due"}, words[0]) {
		return words[1:]
	}
	return words
}

func (c calendar) words(words []string, past bool) (day time.Time, ok bool) {
	text := strings.Replace(strings.Join(words, " "), "of the month", "of month", 1)
	if day, ok = c.point(text); ok {
		return day, true
	}
	switch text {
	case "next week": // its Monday
		return c.weekday(1), true
	case "start of month":
		return c.today.AddDate(0, 0, 1-c.today.Day()), true
	case "end of month":
		return c.today.AddDate(0, 1, -c.today.Day()), true
	}
	name, isNext := strings.CutPrefix(text, "next ")
	if n, ok := named(name, weekdays); ok {
		if day = c.weekday(n); !past || isNext {
			return day, true
		}
		return day.AddDate(0, 0, -7), day.Weekday() != c.today.Weekday() // today or a week ago
	}
	if day, ok = c.distant(words, past); ok {
		return day, true
	}
	return c.dayOfMonth(words, past)
}

var (
	weekdays = strings.Fields("sunday monday tuesday wednesday thursday friday saturday")
	months   = strings.Fields("january february march april may june july august september october november december")
)

// named returns the index of the name that starts with a text of at least three characters.
func named(text string, names []string) (i int, ok bool) {
	i = slices.IndexFunc(names, func(name string) bool { return len(text) >= 3 && strings.HasPrefix(name, text) })
	return i, i >= 0
}

// weekday returns the first day after today that is the nth of a week that starts on Sunday.
func (c calendar) weekday(n int) time.Time {
	return c.today.AddDate(0, 0, 1+(n-int(c.today.Weekday())+6)%7)
}

// distant parses "in 3 days" and "2 weeks ago", and "3 days" unless past is true. A month that
// is too short for the day of today ends at its last day.
func (c calendar) distant(words []string, past bool) (day time.Time, ok bool) {
	sign := 1
	switch {
	case len(words) == 3 && words[0] == "in":
		words = words[1:]
	case len(words) == 3 && words[2] == "ago":
		words, sign = words[:2], -1
	case past:
		return day, false
	}
	n, unit, ok := quantity(words)
	switch n *= sign; unit {
	case "day":
		return c.today.AddDate(0, 0, n), ok
	case "week":
		return c.today.AddDate(0, 0, 7*n), ok
	case "month":
		last := c.today.AddDate(0, n+1, -c.today.Day())
		return last.AddDate(0, 0, min(c.today.Day()-last.Day(), 0)), ok
	}
	return day, false
}

// quantity parses a number and a unit, which it returns in the singular.
func quantity(words []string) (n int, unit string, ok bool) {
	if len(words) != 2 {
		return 0, "", false
	}
	n, ok = count(words[0])
	if slices.Contains([]string{"a", "an", "one"}, words[0]) {
		n, ok = 1, true
	}
	return n, strings.TrimSuffix(words[1], "s"), ok
}

// dayOfMonth parses "24 dec", "24th december 2026" and "dec 24".
func (c calendar) dayOfMonth(words []string, past bool) (day time.Time, ok bool) {
	if len(words) != 2 && len(words) != 3 {
		return day, false
	}
	number, name := words[0], words[1]
	month, ok := named(name, months)
	if !ok {
		number, name = name, number
		month, ok = named(name, months)
	}
	for _, suffix := range []string{"st", "nd", "rd", "th", "."} {
		if short, found := strings.CutSuffix(number, suffix); found {
			number = short
			break
		}
	}
	n, isNumber := count(number)
	if !ok || !isNumber {
		return day, false
	}
	in := func(year int) (time.Time, bool) {
		day := time.Date(year, time.Month(month+1), n, 0, 0, 0, 0, time.UTC)
		return day, day.Day() == n
	}
	if len(words) == 3 {
		year, ok := count(words[2])
		day, exists := in(year)
		return day, ok && exists && len(words[2]) == 4
	}
	day, ok = in(c.today.Year())
	switch {
	case past && (!ok || day.After(c.today)):
		return in(c.today.Year() - 1)
	case !past && (!ok || day.Before(c.today)):
		return in(c.today.Year() + 1)
	}
	return day, ok
}
