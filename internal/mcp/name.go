package mcp

import (
	"context"
	"fmt"
	"maps"
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
	add := func(path, field string, values []string) {
		if t.names[field] == "" || len(values) == 0 {
			return
		}
		all[path] = values
		named = named || slices.ContainsFunc(values, func(v string) bool { return isName(t.Name, field, v) })
	}
	for _, f := range t.Input.Fields {
		switch f.In {
		case op.InPath:
			add(f.Name, f.Name, []string{args.Path(f.Name)})
		case op.InQuery:
			values := args.Query[f.Name]
			if values != nil && isFilter(t.Name, f.Name) {
				values = strings.Split(values[0], ",")
				for i, value := range values {
					values[i] = strings.TrimSpace(value)
				}
			}
			add(f.Name, f.Name, values)
		}
	}
	t.eachMember(args.Body, func(m member) { add(m.path, m.field, textsIn(m.value)) })
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
	given := call.Arguments
	if call.Arguments, err = t.replaced(given, found.Data); err != nil {
		return call, err
	}
	if stable := slices.DeleteFunc(slices.Clone(found.Data.Dates), dateWords.moves); len(stable) < len(dates) {
		found.Data.Dates = stable
		asked, err := t.replaced(given, found.Data)
		call.Asked = &asked
		return call, err
	}
	return call, nil
}

// replaced returns the arguments with ids instead of names, and with dates instead of words.
func (t *tool) replaced(args op.Arguments, found lookupInput) (op.Arguments, error) {
	path := args.Path
	args.Path = func(name string) string {
		if ids := found.References[name]; len(ids) > 0 {
			return ids[0]
		}
		return path(name)
	}
	args.Query = maps.Clone(args.Query)
	for name := range args.Query {
		if ids := found.References[name]; len(ids) > 0 {
			args.Query.Set(name, strings.Join(ids, ","))
		}
	}
	dates := map[string]string{}
	for _, d := range found.Dates {
		dates[d.Field] = d.Text
		if args.Query.Has(d.Field) {
			args.Query.Set(d.Field, d.Text)
		}
	}
	var err error
	args.Body, err = t.replaceMembers(args.Body, "", "", func(m member) any {
		ids := found.References[m.path]
		switch {
		case dates[m.path] != "":
			return dates[m.path]
		case len(ids) == 0:
			return nil
		case m.value.Kind() == '"':
			return ids[0]
		}
		return ids
	})
	return args, err
}
