package app

import (
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// ActivityFilterInput selects changes by kind and actor.
type ActivityFilterInput struct {
	Type  string `json:"type,omitempty" maxLength:"2048" doc:"Only changes of these kinds, separated by commas. With type, actor, from or until, a page may have fewer changes than limit, or none, although nextCursor names another page." kinds:"activity" example:"card.moved,card.completed"`
	Actor string `json:"actor,omitempty" maxLength:"2048" doc:"Only changes by one of these: user ids, me, automation, guest or system, separated by commas." example:"me"`
	PeriodInput
}

// PeriodInput selects changes by time.
type PeriodInput struct {
	From  *board.Instant `json:"from,omitempty" format:"date-time" doc:"Only changes at this time or later." example:"2026-03-02T09:00:00.000Z"`
	Until *board.Instant `json:"until,omitempty" format:"date-time" doc:"Only changes before this time." example:"2026-03-09T09:00:00.000Z"`
}

// bounds returns the start and the end of the period. 0 means no limit.
func (in PeriodInput) bounds() (from, until board.Instant, err error) {
	if in.From != nil {
		from = *in.From
	}
	if in.Until != nil {
		until = max(1, *in.Until) // there are no changes before 1970
	}
	if in.Until != nil && until <= from {
		return 0, 0, board.Invalid("until must be after from.").In("until", board.RuleValue)
	}
	return from, until, nil
}

// empty reports whether the filter selects all changes.
func (in ActivityFilterInput) empty() bool { return in == (ActivityFilterInput{}) }

// actorTypes are the types of actors that a filter can name. People are named by their ids.
var actorTypes = []string{string(board.ActorAutomation), string(board.ActorGuest), string(board.ActorSystem)}

// filter returns the input as a filter for the store.
func (in ActivityFilterInput) filter(v *store.View) (f store.ActivityFilter, err error) {
	for i, text := range separated(in.Type) {
		kind := board.Kind(text)
		if all := board.ActivityKinds(); !slices.Contains(all, kind) {
			return f, board.Invalid("type takes %s, separated by commas; value %d is not one of these.", joined(all), i+1).
				In("type", board.RuleValue)
		}
		f.Kinds = append(f.Kinds, kind)
	}
	for i, text := range separated(in.Actor) {
		switch {
		case text == "me":
			text = v.Caller().UserID
		case !slices.Contains(actorTypes, text) && !strings.HasPrefix(text, "usr_"):
			return f, board.Invalid("actor takes user ids, me, automation, guest or system, separated by commas; value %d is not one "+
				"of these.", i+1).In("actor", board.RuleValue)
		}
		f.Actors = append(f.Actors, text)
	}
	f.From, f.Until, err = in.bounds()
	return f, err
}

// separated returns the values in a list that is separated by commas. It returns none for "".
func separated(list string) []string {
	if list == "" {
		return nil
	}
	values := strings.Split(list, ",")
	for i := range values {
		values[i] = strings.TrimSpace(values[i])
	}
	return values
}

// joined returns kinds as text.
func joined(kinds []board.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}
