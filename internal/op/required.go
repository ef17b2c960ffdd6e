package op

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
)

// emptyText is the validator's message for an empty string that is not allowed.
var emptyText = huma.ErrorFormatter(validation.MsgExpectedMinLength, 1)

// refuseEmpty makes the schemas of an input's fields refuse the empty string
// where it is certainly a mistake: in required fields, in URLs, and in the
// items of an array. The tag minLength:"0" on a field allows the empty string.
// Path parameters are skipped, because no route matches an empty one.
func refuseEmpty(o *huma.Schema, paths []string) {
	one := 1
	for name, s := range o.Properties {
		text := s
		if s.Type == huma.TypeArray {
			text = s.Items
		}
		item := text != s
		if text.Type != huma.TypeString || len(text.Enum) > 0 || slices.Contains(paths, name) {
			continue
		}
		if text.MinLength == nil && (item || text.Format == "uri" || slices.Contains(o.Required, name)) {
			text.MinLength = &one
			text.PrecomputeMessages()
		}
	}
}
