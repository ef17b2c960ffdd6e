package mcp

import (
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

// dateField is a field of a tool that takes a date or an instant.
type dateField struct {
	path []string // names of the objects around it, and its own name
	in   op.Location
	kind dateKind
}

// datesIn returns the fields that take dates and instants in a field with a schema.
func datesIn(r *op.Registry, in op.Location, s *huma.Schema, path ...string) (fields []dateField) {
	if s.Ref != "" {
		s = r.Schemas.SchemaFromRef(s.Ref)
	}
	switch name := path[len(path)-1]; {
	case s.Format == "date-time" && name == "until":
		return []dateField{{path, in, anEnd}}
	case s.Format == "date-time":
		return []dateField{{path, in, anInstant}}
	case !isDate(s):
	case strings.HasPrefix(name, "created"), strings.HasPrefix(name, "updated"), strings.HasPrefix(name, "completed"):
		return []dateField{{path, in, aPastDay}}
	default:
		return []dateField{{path, in, aDay}}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		fields = append(fields, datesIn(r, in, s.Properties[name], append(slices.Clone(path), name)...)...)
	}
	return fields
}

// isDate reports whether a schema is that of a date: its example is one.
func isDate(s *huma.Schema) bool {
	return slices.ContainsFunc(s.Examples, func(example any) bool {
		text, _ := example.(string)
		return aDay.isExact(text)
	})
}

// name returns the names in the path, joined by dots.
func (f dateField) name() string { return strings.Join(f.path, ".") }

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

// dateWords returns the dates and instants in the arguments of a call that are in words. It omits
// blank values and values of a wrong type, which the engine explains.
func (t *tool) dateWords(args op.Arguments) (all []dateWords) {
	for _, f := range t.dates {
		get := func(path []string) string {
			if f.in == op.InQuery {
				return args.Query.Get(path[0])
			}
			return textAt(args.Body, path)
		}
		if text := get(f.path); strings.TrimSpace(text) != "" && !f.kind.isExact(text) {
			zone := append(slices.Clone(f.path[:len(f.path)-1]), "timeZone")
			all = append(all, dateWords{f.name(), f.kind, text, get(zone)})
		}
	}
	return all
}

// withDates returns the arguments with other dates.
func (t *tool) withDates(args op.Arguments, dates []dateWords) (op.Arguments, error) {
	for _, f := range t.dates {
		i := slices.IndexFunc(dates, func(d dateWords) bool { return d.Field == f.name() })
		var err error
		switch {
		case i < 0:
		case f.in == op.InQuery:
			args.Query.Set(f.name(), dates[i].Text)
		default:
			args.Body, err = withText(args.Body, f.path, dates[i].Text)
		}
		if err != nil {
			return args, err
		}
	}
	return args, nil
}

// textAt returns the string at a path of a JSON object, or "" if there is none.
func textAt(object jsontext.Value, path []string) (text string) {
	var members map[string]jsontext.Value
	if len(object) == 0 || json.Unmarshal(object, &members) != nil {
		return ""
	}
	value := members[path[0]]
	if len(path) > 1 {
		return textAt(value, path[1:])
	}
	if value.Kind() != '"' || json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// withText returns a JSON object with a string at a path.
func withText(object jsontext.Value, path []string, text string) (_ jsontext.Value, err error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	if len(path) > 1 {
		members[path[0]], err = withText(members[path[0]], path[1:], text)
	} else {
		members[path[0]], err = json.Marshal(text)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(members, json.Deterministic(true))
}

// forms are what errors teach.
const (
	dayForms     = `YYYY-MM-DD, or words such as "tomorrow", "friday", "in 3 days", "next week", "24 dec" or "end of month"`
	pastDayForms = `YYYY-MM-DD, or words such as "today", "yesterday", "7 days ago", "24 dec" or "start of month"`
	instantForms = `a time such as 2026-01-31T09:30:00Z, a date, or words such as "today", "yesterday", "7 days ago" or "3 hours ago"`
)

// date returns the date or the instant that words mean, or an error if they are not clear.
func (l *lookup) date(ctx context.Context, d dateWords) (string, error) {
	if d.TimeZone == "" {
		me, err := l.User(ctx)
		if err != nil {
			return "", err
		}
		d.TimeZone = me.TimeZone
	}
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
