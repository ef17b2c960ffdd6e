package op

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// FieldsParameter is the parameter with which a caller chooses the fields of the records in a response. It is not
// part of the inputs, and not of the arguments to which a cursor belongs.
const FieldsParameter = "fields"

// SelectableFields returns the fields from which a caller can choose with FieldsParameter. It returns none if the
// operation does not support the parameter.
func (o *Operation) SelectableFields() []string {
	if !o.Tagged() || o.Method != http.MethodGet || o.Output.Kind() != reflect.Struct {
		return nil
	}
	return fieldNames(o.Output)
}

// fieldNames returns the names in JSON of the fields of a struct.
func fieldNames(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); !f.Anonymous && f.IsExported() && name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// takeNames removes a parameter from the arguments, and returns the names in it. It returns an error unless all
// of them are allowed.
func (c *Call) takeNames(parameter string, names func(*Operation) []string) ([]string, error) {
	given, ok := c.Arguments.Query[parameter]
	if !ok {
		return nil, nil
	}
	allowed := names(c.Operation)
	if len(allowed) == 0 {
		return nil, nil // the input refuses the parameter
	}
	if len(given) > 1 {
		return nil, board.Invalid("%s is given more than once.", parameter).In(parameter, board.RuleValue)
	}
	chosen := strings.Split(given[0], ",")
	for i, name := range chosen {
		if chosen[i] = strings.TrimSpace(name); !slices.Contains(allowed, chosen[i]) {
			all := strings.Join(allowed, ", ")
			return nil, board.Invalid("%s takes %s, separated by commas; value %d is not one of these.", parameter, all, i+1).
				Allows(parameter, board.RuleValue, all)
		}
	}
	c.Arguments.Query = maps.Clone(c.Arguments.Query)
	delete(c.Arguments.Query, parameter)
	return chosen, nil
}

// selectFields returns a response with only the given fields of the record or the records in it.
func selectFields(body []byte, names []string) ([]byte, error) {
	var whole map[string]jsontext.Value
	err := json.Unmarshal(body, &whole)
	if data := whole["data"]; err == nil && data.Kind() == '[' {
		var records []jsontext.Value
		err = json.Unmarshal(data, &records)
		for i := range records {
			if err == nil {
				records[i], err = pick(records[i], names)
			}
		}
		if err == nil {
			whole["data"], err = json.Marshal(records)
		}
	} else if err == nil {
		whole["data"], err = pick(data, names)
	}
	if err == nil {
		body, err = json.Marshal(whole, json.Deterministic(true))
	}
	if err != nil {
		return nil, fmt.Errorf("select the fields of a response: %w", err)
	}
	return body, nil
}

// pick returns a copy of an object with only the given fields.
func pick(object jsontext.Value, names []string) (jsontext.Value, error) {
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, err
	}
	maps.DeleteFunc(fields, func(name string, _ jsontext.Value) bool { return !slices.Contains(names, name) })
	return json.Marshal(fields, json.Deterministic(true))
}
