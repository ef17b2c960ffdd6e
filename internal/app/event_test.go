package app_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/rest"
)

// schemaOfEvent returns the name of the schema for the body of an event.
func schemaOfEvent(kind string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(kind, func(c rune) bool { return strings.ContainsRune("._", c) }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Event"
}

// Every kind of event is in the webhooks section of the public OpenAPI document. The example there
// and real deliveries match the schema of the event.
func TestEventsMatchTheDocument(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	text, err := rest.Encode(rest.Document(s.Registry, "1"))
	if err != nil {
		t.Fatal(err)
	}
	var doc node
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	kinds := board.WebhookKinds()
	if got := len(under(doc, doc, "webhooks")); got != len(kinds) {
		t.Errorf("the document has %d events, want %d", got, len(kinds))
	}
	for _, kind := range kinds {
		entry := under(doc, doc, "webhooks", string(kind), "post")
		media := under(doc, entry, "requestBody", "content", "application/json")
		if under(doc, entry) == nil || entry["summary"] != strings.TrimSuffix(kind.When(), ".") || entry["summary"] == "" {
			t.Errorf("the summary of %s in the document is %v, want %s", kind, entry["summary"], strings.TrimSuffix(kind.When(), "."))
			continue
		}
		example, err := json.Marshal(media["example"])
		if err != nil {
			t.Fatal(err)
		}
		s.Conforms(schemaOfEvent(string(kind)), example)
		parts := under(doc, media, "schema")["allOf"].([]any) // the fields of every delivery, and those of the kind
		data := under(doc, parts[1], "properties", "data")
		if data == nil || under(doc, parts[0], "properties", "boardVersion") == nil {
			t.Errorf("%s: the schema has no data or no boardVersion", kind)
		}
		for name, p := range under(doc, data, "properties") {
			if !hasExample(doc, p.(node)) || p.(node)["description"] == nil {
				t.Errorf("%s: data.%s has no description or no example", kind, name)
			}
		}
	}

	w := newWorld(s)
	all := make([]string, len(kinds))
	for i, k := range kinds {
		all[i] = string(k)
	}
	hook := w.make("create_webhook", fields{"url": receiver, "events": all, "workspaceId": w.workspace})
	card := w.make("create_card", fields{"listId": w.list, "title": "New"})
	item := w.make("add_checklist_item",
		fields{"checklistId": w.make("add_checklist", fields{"cardId": card, "title": "Before"}), "title": "Check"})
	for _, call := range []struct {
		name string
		in   fields
	}{
		{"update_card", fields{"cardId": card, "title": "Newer", "description": "Text", "done": true}},
		{"update_card", fields{"cardId": card, "done": false}},
		{"move_card", fields{"cardId": card, "listId": w.doing}},
		{"set_card_assignees", fields{"cardId": card, "add": []string{w.owner.ID}}},
		{"set_card_labels", fields{"cardId": card, "add": []string{w.label}}},
		{"set_card_due", fields{"cardId": card, "dueDate": "2026-12-24", "dueTime": "17:00", "timeZone": "Europe/Zurich",
			"startDate": "2026-12-20"}},
		{"set_card_due", fields{"cardId": card, "dueDate": "2026-12-25"}},
		{"clear_card_due", fields{"cardId": card}},
		{"add_comment", fields{"cardId": card, "text": "Soon."}},
		{"update_checklist_item", fields{"itemId": item, "done": true}},
		{"archive_card", fields{"cardId": card}},
		{"restore_card", fields{"cardId": card}},
		{"move_card_to_board", fields{"cardId": card, "listId": w.away}},
		{"post_status_update", fields{"boardId": w.board, "status": "on_track", "title": "Begun"}},
		{"archive_list", fields{"listId": w.make("create_list", fields{"boardId": w.board, "name": "Gone"})}},
		{"test_webhook", fields{"webhookId": hook}},
	} {
		w.owner.Must(call.name, call.in)
	}
	var seen []string
	for _, body := range s.Column("SELECT body FROM deliveries WHERE webhook_id = $1", hook) {
		var sent struct{ Type string }
		if err := json.Unmarshal([]byte(body), &sent); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, sent.Type)
		s.Conforms(schemaOfEvent(sent.Type), []byte(body))
	}
	for _, kind := range all {
		if !slices.Contains(seen, kind) {
			t.Errorf("no delivery of kind %s was written; the kinds written are %s", kind, fmt.Sprint(seen))
		}
	}
}
