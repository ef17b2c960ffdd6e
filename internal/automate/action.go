package automate

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// facts holds the values of the placeholders in an action's input.
type facts struct {
	today  time.Time // in the time zone of the rule's owner
	card   board.Card
	list   string         // the name of the card's list
	person *board.UserRef // person who triggered the rule; nil if there is none
}

// placeholder matches a placeholder in braces. Offsets are limited to 999 days.
var placeholder = regexp.MustCompile(`\{(?:today(?:([+-])(\d{1,3}))?|card|number|list|actor)\}`)

// hasPlaceholder reports whether an input contains a placeholder.
func hasPlaceholder(v any) bool {
	switch v := v.(type) {
	case string:
		return placeholder.MatchString(v)
	case []any:
		for _, one := range v {
			if hasPlaceholder(one) {
				return true
			}
		}
	case map[string]any:
		for _, one := range v {
			if hasPlaceholder(one) {
				return true
			}
		}
	}
	return false
}

// fill replaces the placeholders in an input. {actor} in a list becomes an id,
// and is left out if the actor is not a person.
func (f *facts) fill(v any) any {
	switch v := v.(type) {
	case string:
		return placeholder.ReplaceAllStringFunc(v, f.valueOf)
	case []any:
		out := make([]any, 0, len(v))
		for _, one := range v {
			switch {
			case one != "{actor}":
				out = append(out, f.fill(one))
			case f.person != nil:
				out = append(out, f.person.ID)
			}
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, one := range v {
			out[name] = f.fill(one)
		}
		return out
	}
	return v
}

func (f *facts) valueOf(word string) string {
	switch word {
	case "{card}":
		return f.card.Title
	case "{number}":
		return strconv.Itoa(f.card.Number)
	case "{list}":
		return f.list
	case "{actor}":
		if f.person == nil {
			return "Automation"
		}
		return f.person.Name
	}
	days := 0
	if m := placeholder.FindStringSubmatch(word); m[2] != "" {
		days, _ = strconv.Atoi(m[1] + m[2]) // always valid, since the pattern limits it to three digits
	}
	return f.today.AddDate(0, 0, days).Format(board.DateLayout)
}

// input returns the operation's input for an action, as one flat object. If f is nil, it keeps
// the placeholders.
func input(a board.RuleAction, cardID string, f *facts) ([]byte, error) {
	in := maps.Clone(a.Input)
	if f != nil {
		in, _ = f.fill(in).(map[string]any)
	}
	if in == nil {
		in = map[string]any{}
	}
	if a.NeedsCard() {
		in["cardId"] = cardID
	}
	text, err := json.Marshal(in, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode input: %w", err)
	}
	return text, nil
}

// idsIn returns the ids in a field of an action's input.
func idsIn(a board.RuleAction, field string) []string {
	switch v := a.Input[field].(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, one := range v {
			if id, ok := one.(string); ok && !strings.HasPrefix(id, "{") {
				out = append(out, id)
			}
		}
		return out
	}
	return nil
}
