package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/op"
)

// Where an operation takes an id, a tool also accepts a name. Names are replaced with ids
// before the operation runs, so that it checks and records the ids, and an idempotency key
// belongs to the ids. A name that does not match exactly one record is an error.

// noun is a kind of record that a field refers to.
type noun string

const (
	aWorkspace noun = "workspace"
	aBoard     noun = "board"
	aList      noun = "list"
	aCard      noun = "card"
	aLabel     noun = "label"
	aPerson    noun = "person"
)

// nouns are the fields that accept names. A key with the name of a tool takes precedence.
var nouns = map[string]noun{
	"workspaceId": aWorkspace, "boardId": aBoard, "listId": aList, "cardId": aCard, "cardIds": aCard,
	"labelId": aLabel, "labels": aLabel, "addLabels": aLabel, "removeLabels": aLabel,
	"set_card_labels.add": aLabel, "set_card_labels.remove": aLabel,
	"userId": aPerson, "assignees": aPerson, "addAssignees": aPerson, "removeAssignees": aPerson,
	"set_card_assignees.add": aPerson, "set_card_assignees.remove": aPerson,
	"list_cards.list": aList, "list_cards.listNot": aList,
	"list_cards.label": aLabel, "list_cards.labelAll": aLabel, "list_cards.labelNot": aLabel,
}

func nounOf(tool, field string) noun {
	if n, ok := nouns[tool+"."+field]; ok {
		return n
	}
	return nouns[field]
}

// isID reports whether a text has the form of an id: a prefix and 26 characters of lower-case
// Crockford base32.
func isID(text string) bool {
	return len(text) == 30 && text[3] == '_' && strings.Trim(text[:3], "abcdefghijklmnopqrstuvwxyz") == "" &&
		strings.Trim(text[4:], "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

// isFilter reports whether a field contains values separated by commas.
func isFilter(tool, field string) bool { return tool == filtered && !strings.HasSuffix(field, "Id") }

// isName reports whether a value of a field is a name. The engine explains empty values.
func isName(tool, field, value string) bool {
	return !isID(value) && strings.TrimSpace(value) != "" && (!isFilter(tool, field) || value != "none" && value != "any")
}

// references are the values of the fields in nouns, by the name of the field.
type references map[string][]string

// references returns the references in the arguments of a call, or nil if none is a name.
// It omits values of a wrong type, which the engine explains.
func (t *tool) references(args op.Arguments) references {
	all, named := references{}, false
	var body map[string]jsontext.Value
	for _, f := range t.Input.Fields {
		if nounOf(t.Name, f.Name) == "" {
			continue
		}
		var values []string
		switch f.In {
		case op.InPath:
			values = []string{args.Path(f.Name)}
		case op.InQuery:
			values = args.Query[f.Name]
			if values != nil && isFilter(t.Name, f.Name) {
				values = strings.Split(values[0], ",")
				for i, value := range values {
					values[i] = strings.TrimSpace(value)
				}
			}
		default:
			if body == nil && json.Unmarshal(args.Body, &body) != nil {
				return nil
			}
			values = textsIn(body[f.Name])
		}
		if len(values) > 0 {
			all[f.Name] = values
			named = named || slices.ContainsFunc(values, func(v string) bool { return isName(t.Name, f.Name, v) })
		}
	}
	if !named {
		return nil
	}
	return all
}

// textsIn returns a string, or the strings of an array. It returns nil for other values.
func textsIn(v jsontext.Value) (texts []string) {
	all := []jsontext.Value{v}
	if v.Kind() == '[' && json.Unmarshal(v, &all) != nil {
		return nil
	}
	for _, v := range all {
		var text string
		if v.Kind() != '"' || json.Unmarshal(v, &text) != nil {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// resolve replaces the names in the arguments of a call with ids, and dates in words with dates.
// It needs one read, and none if there are only exact values.
func (e *Endpoint) resolve(ctx context.Context, t *tool, call op.Call) (op.Call, error) {
	if call.Arguments.Path == nil {
		return call, nil // the caller lacks the scope
	}
	refs, dates := t.references(call.Arguments), t.dateWords(call.Arguments)
	if refs == nil && dates == nil {
		return call, nil
	}
	in, err := json.Marshal(lookupInput{t.Name, refs, dates})
	if err != nil {
		return call, fmt.Errorf("encode the names: %w", err)
	}
	result, err := e.Engine.Do(ctx, op.Call{Operation: e.lookup, Caller: call.Caller, Arguments: op.Arguments{Body: in}})
	if err != nil {
		return call, err
	}
	var found struct {
		Data lookupInput `json:"data"`
	}
	if err := json.Unmarshal(result.Body, &found); err != nil {
		return call, fmt.Errorf("decode the ids: %w", err)
	}
	if call.Arguments, err = t.replaced(call.Arguments, found.Data.References); err != nil {
		return call, err
	}
	call.Arguments, err = t.withDates(call.Arguments, found.Data.Dates)
	return call, err
}

// replaced returns the arguments with other references.
func (t *tool) replaced(args op.Arguments, refs references) (op.Arguments, error) {
	path := args.Path
	args.Path = func(name string) string {
		if ids := refs[name]; len(ids) > 0 {
			return ids[0]
		}
		return path(name)
	}
	var body map[string]jsontext.Value
	if args.Body != nil {
		if err := json.Unmarshal(args.Body, &body); err != nil {
			return args, fmt.Errorf("decode the body: %w", err)
		}
	}
	for _, f := range t.Input.Fields {
		ids := refs[f.Name]
		switch {
		case len(ids) == 0, f.In == op.InPath:
		case f.In == op.InQuery:
			args.Query.Set(f.Name, strings.Join(ids, ","))
		default:
			var value any = ids
			if body[f.Name].Kind() == '"' {
				value = ids[0]
			}
			text, err := json.Marshal(value)
			if err != nil {
				return args, fmt.Errorf("encode %s: %w", f.Name, err)
			}
			body[f.Name] = text
		}
	}
	if args.Body == nil {
		return args, nil
	}
	var err error
	args.Body, err = json.Marshal(body, json.Deterministic(true))
	return args, err
}
