package rest

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

// shareParameters replaces each parameter that several operations have with a reference to a component, so
// that the document is shorter. If the parameters of a name differ, those with the most uses share a component.
func shareParameters(doc *huma.OpenAPI) {
	type uses []**huma.Param // of equal parameters
	byName := map[string][]uses{}
	for _, o := range operationsOf(doc) {
		for i := range o.Parameters {
			p := &o.Parameters[i]
			all := byName[(*p).Name]
			equal := slices.IndexFunc(all, func(u uses) bool { return reflect.DeepEqual(*u[0], *p) })
			if equal < 0 {
				byName[(*p).Name] = append(all, uses{p})
				continue
			}
			all[equal] = append(all[equal], p)
		}
	}
	doc.Components.Parameters = map[string]*huma.Param{}
	for name, all := range byName {
		most := slices.MaxFunc(all, func(a, b uses) int { return len(a) - len(b) })
		if len(most) == 1 {
			continue
		}
		component := strings.ReplaceAll(name, "-", "") + "Parameter" // generators confuse it with a schema of its name
		doc.Components.Parameters[component] = *most[0]
		for _, use := range most {
			*use = &huma.Param{Ref: "#/components/parameters/" + component}
		}
	}
}

// operationsOf returns the operations in the paths of a document, in a fixed order.
func operationsOf(doc *huma.OpenAPI) (out []*huma.Operation) {
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if o != nil {
				out = append(out, o)
			}
		}
	}
	return out
}

// choices describes the parameters with which a caller chooses what a response contains.
func choices(o *op.Operation) (params []*huma.Param) {
	if len(o.SelectableFields()) > 0 {
		params = append(params, &huma.Param{
			Name: op.FieldsParameter, In: string(op.InQuery),
			Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{"id"}},
			Description: "The fields to return of the record, or of each record of a list, separated by commas. The response then lacks " +
				"all other fields of data, although its schema requires them. Defaults to all fields.",
		})
	}
	if names := o.Expandable(); len(names) > 0 {
		params = append(params, &huma.Param{
			Name: op.ExpandParameter, In: string(op.InQuery),
			Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{names[0]}},
			Description: "Records to return in expanded, separated by commas: " + board.JoinValues(names) + ". If there are more than " +
				strconv.Itoa(op.MaxExpanded) + ", the request fails with the reason expand_limit. Defaults to none.",
		})
	}
	return params
}
