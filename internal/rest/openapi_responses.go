package rest

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/op"
)

// shareResponses replaces the successful responses that are equal in several operations, examples included, with
// references to a component, so that the document is shorter. A component has the name of its schema. If the
// responses with a schema differ, those with the most uses share it.
func shareResponses(doc *huma.OpenAPI) {
	type use struct {
		responses map[string]*huma.Response
		status    string
	}
	byName := map[string][][]use{}
	for _, o := range operationsOf(doc) {
		for status, response := range o.Responses {
			media := response.Content[op.JSON]
			if media == nil || media.Schema.Ref == "" {
				continue
			}
			name := sharedName(media.Schema, status)
			same := func(all []use) bool { return reflect.DeepEqual(all[0].responses[all[0].status], response) }
			if i := slices.IndexFunc(byName[name], same); i >= 0 {
				byName[name][i] = append(byName[name][i], use{o.Responses, status})
			} else {
				byName[name] = append(byName[name], []use{{o.Responses, status}})
			}
		}
	}
	for name, groups := range byName {
		most := slices.MaxFunc(groups, func(a, b []use) int { return len(a) - len(b) })
		if len(most) == 1 {
			continue
		}
		doc.Components.Responses[name] = most[0].responses[most[0].status]
		for _, u := range most {
			u.responses[u.status] = &huma.Response{Ref: responsePrefix + name}
		}
	}
}

// sharedName returns the name of a response with a schema and a status, such as CardPageWithStatus200. It differs
// from the name of the schema, because generators put both into one namespace.
func sharedName(s *huma.Schema, status string) string {
	return strings.TrimPrefix(s.Ref, op.SchemaPrefix) + "WithStatus" + status
}
