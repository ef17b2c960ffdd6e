package op

import (
	"context"
	"reflect"
	"regexp"
	"strings"

	"cardwall/internal/store"
)

// ExpandParameter is the parameter with which a caller chooses records that a response contains in addition to
// its data. Like FieldsParameter, it is not part of the inputs.
const ExpandParameter = "expand"

// MaxExpanded is the maximum number of additional records in a response.
const MaxExpanded = 500

// Expands lets callers of a query choose additional records by the names of the fields of E. Fn reads those with
// the given names, for the result of the query; the other fields of E stay nil.
func Expands[O, E any](fn func(ctx context.Context, v *store.View, out O, names []string) (E, error)) Option {
	return option(func(o *Operation) {
		o.Expanded = reflect.TypeFor[E]()
		o.expand = func(ctx context.Context, v *store.View, out any, names []string) (any, error) {
			return fn(ctx, v, out.(O), names)
		}
	})
}

// Expandable returns the names that a caller can choose with ExpandParameter.
func (o *Operation) Expandable() []string {
	if o.Expanded == nil {
		return nil
	}
	return fieldNames(o.Expanded)
}

// tagExpanded gives the response for a record with additional records an entity tag that consists of that of the
// record alone, a period, and that of the whole response. So it is valid in If-Match, which concerns the
// record alone.
func (r *Response) tagExpanded(record any) error {
	alone, err := envelope{Data: record}.write()
	if err != nil {
		return err
	}
	r.Tag = strings.TrimSuffix(contentTag(alone), `"`) + "." + strings.TrimPrefix(contentTag(r.Body), `"`)
	return nil
}

// wholeTag is the part of an entity tag in which a response with additional records differs from that without.
var wholeTag = regexp.MustCompile(`\.[^".]*"`)

// tagsOfRecords returns a list of entity tags without the parts that concern additional records.
func tagsOfRecords(tags string) string { return wholeTag.ReplaceAllString(tags, `"`) }
