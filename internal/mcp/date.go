package mcp

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/query"
)

// Where an operation takes a date or an instant, a tool also accepts words, such as "friday" or
// "3 hours ago". Like names, they are replaced before the operation runs.

// dateKind is a kind of date that a field takes.
type dateKind string

const (
	aDay      dateKind = "day"      // usually in the future
	aPastDay  dateKind = "past day" // usually in the past
	anInstant dateKind = "instant"  // in the past; a day means its start
	anEnd     dateKind = "end"      // in the past; a day means its end
)

// dateKindOf returns the kind of date that a field takes, or "" if it takes none.
func dateKindOf(name string, s *huma.Schema) dateKind {
	switch {
	case s.Format == "date-time" && name == "until":
		return anEnd
	case s.Format == "date-time":
		return anInstant
	case !isDate(s):
		return ""
	case strings.HasPrefix(name, "created"), strings.HasPrefix(name, "updated"), strings.HasPrefix(name, "completed"):
		return aPastDay
	default:
		return aDay
	}
}

// isDate reports whether a schema is that of a date: its example is one.
func isDate(s *huma.Schema) bool {
	return slices.ContainsFunc(s.Examples, func(example any) bool {
		text, _ := example.(string)
		return aDay.isExact(text)
	})
}

// isExact reports whether a value is not in words.
func (k dateKind) isExact(value string) bool {
	if k == anInstant || k == anEnd {
		return new(board.Instant).UnmarshalText([]byte(value)) == nil
	}
	_, err := board.ParseDate("", value)
	return err == nil
}

// dateWords is a date or an instant in words.
type dateWords struct {
	Field    string   `json:"field"`
	Kind     dateKind `json:"kind"`
	Text     string   `json:"text"`
	TimeZone string   `json:"timeZone"` // of the call; "" means the caller's own
}

// moves reports whether the words, such as "an hour ago", mean another instant when the call is
// repeated or the next page is requested.
func (d dateWords) moves() bool { return d.Kind == anInstant || d.Kind == anEnd }

// dateWords returns the dates and instants in the arguments of a call that are in words. It omits
// blank values and values of a wrong type, which the engine explains.
func (t *tool) dateWords(args op.Arguments) (all []dateWords) {
	add := func(path, field, text, zone string) {
		if kind := t.dates[field]; kind != "" && strings.TrimSpace(text) != "" && !kind.isExact(text) {
			all = append(all, dateWords{path, kind, text, zone})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args.Query)) {
		add(name, name, args.Query.Get(name), args.Query.Get("timeZone"))
	}
	t.eachMember(args.Body, func(m member) { add(m.path, m.field, textIn(m.value), textIn(m.siblings["timeZone"])) })
	return all
}

// textIn returns a string, or "" for another value.
func textIn(v jsontext.Value) (text string) {
	if v.Kind() != '"' || json.Unmarshal(v, &text) != nil {
		return ""
	}
	return text
}

// forms are what errors teach.
const (
	dayForms     = `YYYY-MM-DD, or words such as "tomorrow", "friday", "in 3 days", "next week", "24 dec" or "end of month"`
	pastDayForms = `YYYY-MM-DD, or words such as "today", "yesterday", "7 days ago", "24 dec" or "start of month"`
	instantForms = `a time such as 2026-01-31T09:30:00Z, a date, or words such as "today", "yesterday", "7 days ago" or "3 hours ago"`
)

// date returns the date or the instant that words mean, or an error if they are not clear.
func (l *lookup) date(ctx context.Context, d dateWords) (string, error) {
	if d.TimeZone == "" && l.timeZone == "" {
		me, err := l.User(ctx)
		if err != nil {
			return "", err
		}
		l.timeZone = me.TimeZone
	}
	d.TimeZone = cmp.Or(d.TimeZone, l.timeZone)
	zone, err := board.LoadZone("timeZone", d.TimeZone)
	if err != nil {
		return "", err
	}
	env, forms := query.Env{Now: l.Time(), Zone: zone}, dayForms
	switch d.Kind {
	case anInstant, anEnd:
		if at, ok := env.InstantInWords(d.Text, d.Kind == anEnd); ok {
			return at.String(), nil
		}
		forms = instantForms
	case aPastDay:
		if day, ok := env.DayInWords(d.Text, true); ok {
			return day.Format(board.DateLayout), nil
		}
		forms = pastDayForms
	default:
		if day, ok := env.DayInWords(d.Text, false); ok {
			return day.Format(board.DateLayout), nil
		}
	}
	return "", board.Invalid("%s: %q is not a clear date. Write %s.", d.Field, op.Quoted(d.Text), forms).In(d.Field, board.RuleValue)
}
