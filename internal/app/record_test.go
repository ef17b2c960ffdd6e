package app_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/apptest"
)

// No record of any operation omits a field: an empty string is "", and an absent value is null.
// The only exceptions are the description of a card, which the compact view omits, and the items
// of digests, which must be small.
func TestRecordsOmitNoField(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	checked := map[string]bool{}
	var check func(name string, schema *huma.Schema)
	check = func(name string, schema *huma.Schema) {
		if schema == nil {
			return
		}
		if schema.Ref != "" {
			name = schema.Ref[strings.LastIndex(schema.Ref, "/")+1:]
			if !checked[name] {
				checked[name] = true
				check(name, s.Registry.Schemas.SchemaFromRef(schema.Ref))
			}
			return
		}
		for field, property := range schema.Properties {
			compact := field == "description" && slices.Contains([]string{"Card", "CardDetail"}, name) || name == "DigestItem"
			accepted := slices.Contains([]string{"RuleWhen", "RuleAction"}, name) || // also input types; tested below
				strings.HasPrefix(name, "ErrorBody") // as in every error
			if !slices.Contains(schema.Required, field) && !compact && !accepted {
				t.Errorf("%s.%s is optional in the schema; it must be required", name, field)
			}
			check(name+"."+field, property)
		}
		check(name+"[]", schema.Items)
		for _, alternatives := range [][]*huma.Schema{schema.OneOf, schema.AnyOf, schema.AllOf} {
			for _, alternative := range alternatives {
				check(name, alternative)
			}
		}
	}
	for _, o := range s.Registry.All() {
		if !o.Streams() {
			check(o.Name, s.Registry.Schema(o))
		}
	}
	if len(checked) < 60 {
		t.Errorf("only %d record types were checked, want at least 60", len(checked))
	}
}

func TestEmptyFieldsAreInTheResponse(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		in := fields{"cardId": w.card}
		w.owner.Must("set_card_due", with(in, "dueDate", "2020-01-01"))
		checkField := func(operation string, a apptest.Response, path string, want any) {
			t.Helper()
			parent, field := "", path
			if i := strings.LastIndexByte(path, '.'); i >= 0 {
				parent, field = path[:i], path[i+1:]
			}
			record, _ := a.Data.(map[string]any)
			if parent != "" {
				record, _ = a.Get(parent).(map[string]any)
			}
			if got, present := record[field]; !present || got != want {
				t.Errorf("%s: got %s %v, present %t; want %v, present true", operation, path, got, present, want)
			}
		}
		checkField("get_card", w.owner.Must("get_card", in), "description", "")
		checkField("update_card", w.owner.Must("update_card", with(in, "title", "Other")), "description", "")
		checkField("list_cards", w.owner.Must("list_cards", fields{"boardId": w.board}), "0.description", "")
		checkField("list_my_cards", w.owner.Must("list_my_cards", nil), "0.description", "")
		checkField("search_cards", w.owner.Must("search_cards", fields{"q": "other"}), "0.description", "")
		checkField("get_my_overview", w.owner.Must("get_my_overview", nil), "overdue.cards.0.description", "")
		checkField("get_board", w.owner.Must("get_board", fields{"boardId": w.board}), "description", "")
		w.enableAutomation()
		rule := w.owner.Must("create_rule",
			fields{"boardId": w.board, "name": "Any", "when": fields{"event": "card_completed", "listId": nil},
				"then": []fields{{"operation": "archive_card"}}})
		for _, field := range []string{"when.listId", "when.labelId", "when.userId", "when.hours"} {
			checkField("create_rule", rule, field, nil)
		}
		if in, ok := rule.Get("then.0.input").(map[string]any); !ok || len(in) != 0 {
			t.Errorf("the input of the action is %v, want an empty object", rule.Get("then.0.input"))
		}
		compact := w.owner.Must("list_cards", fields{"boardId": w.board, "view": "compact"})
		if _, present := compact.Get("0").(map[string]any)["description"]; present {
			t.Errorf("the compact view contains a description: %s", compact.Raw)
		}
	})
}
