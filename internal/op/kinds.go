package op

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/board"
)

// listKinds adds the list of event kinds to the description of each field that
// contains an event kind. The field's kinds tag names the list; see board.KindList.
// The schema remains a plain string, because the list may grow within a version of
// the API.
func listKinds(s *huma.Schema, t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		list := board.KindList(f.Tag.Get("kinds"))
		if prop := s.Properties[jsonName(f)]; prop != nil && list != "" {
			prop.Description += " " + list
		}
	}
}
