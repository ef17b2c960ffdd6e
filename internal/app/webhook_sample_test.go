package app_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"github.com/go-json-experiment/json"
)

// The sample of each kind has exactly the fields of a real delivery.
func TestSamplesMatchDeliveries(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	w := newWorld(s)
	hook := w.make("create_webhook", fields{"url": receiver, "events": kinds(), "workspaceId": w.workspace})
	w.make("create_list", fields{"boardId": w.board, "name": "New"})
	w.owner.Must("archive_list", fields{"listId": w.make("create_list", fields{"boardId": w.board, "name": "Gone"})})
	card := w.newCard()
	for name, in := range map[string]fields{
		"move_card": {"listId": w.doing}, "set_card_labels": {"add": []string{w.label}},
		"set_card_assignees": {"add": []string{w.owner.ID}},
		"set_card_due":       {"dueDate": "2026-12-24"}, "add_comment": {"text": "Said."},
	} {
		w.owner.Must(name, with(in, "cardId", card))
	}
	w.owner.Must("update_card", fields{"cardId": card, "title": "Another"})
	w.owner.Must("update_card", fields{"cardId": card, "done": true})
	w.owner.Must("update_card", fields{"cardId": card, "done": false})
	w.owner.Must("archive_card", fields{"cardId": card})
	w.owner.Must("restore_card", fields{"cardId": card})
	w.owner.Must("update_checklist_item", fields{"itemId": w.item, "done": true})
	w.owner.Must("post_status_update", fields{"boardId": w.board, "status": "on_track", "title": "Fine"})
	w.owner.Must("test_webhook", fields{"webhookId": hook})
	seen := map[string]bool{}
	for _, body := range s.Column("SELECT body FROM deliveries WHERE webhook_id = $1", hook) {
		var delivery map[string]any
		if err := json.Unmarshal([]byte(body), &delivery); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		kind := delivery["type"].(string)
		sample := w.owner.Must("get_webhook_sample", fields{"event": kind}).Data.(map[string]any)
		seen[kind] = true
		if a, b := keys(delivery), keys(sample); a != b {
			t.Errorf("a delivery of %s has the fields %s, want those of its sample: %s", kind, a, b)
		}
		if a, b := prefixes("", delivery), prefixes("", sample); a != b {
			t.Errorf("a delivery of %s has ids with the prefixes %s, want those of its sample: %s", kind, a, b)
		}
		if version, ok := delivery["boardVersion"].(float64); delivery["format"] != "service-webhook/1" ||
			delivery["workspaceId"] != w.workspace || delivery["boardId"] == nil || !ok || version < 1 {
			t.Errorf("a delivery of %s is %s, want the format, the workspace, a board and its version", kind, body)
		}
		if strings.Contains(body, "Another") || strings.Contains(body, "Said") || strings.Contains(body, "Fine") {
			t.Errorf("a delivery of %s contains text that people wrote: %s", kind, body)
		}
	}
	for _, k := range kinds() {
		if !seen[k] {
			t.Errorf("no delivery of kind %s was sent", k)
		}
	}
	if a := w.owner.Call("get_webhook_sample", fields{"event": "card.eaten"}); a.Code != board.CodeInvalidRequest {
		t.Errorf("an unknown kind: got status %d, body %s; want invalid_request", a.Status, a.Raw)
	}
}

func kinds() (out []string) {
	for _, k := range board.WebhookKinds() {
		out = append(out, string(k))
	}
	return out
}

// prefixes returns the path and prefix of each id in a value.
func prefixes(path string, v any) string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, prefixes(path+"."+name, v[name]))
		}
	case []any:
		for _, item := range v {
			out = append(out, prefixes(path, item))
		}
	case string:
		if prefix, _, found := strings.Cut(v, "_"); found && len(prefix) == 3 {
			out = append(out, path+"="+prefix)
		}
	}
	return strings.Join(slices.DeleteFunc(out, func(s string) bool { return s == "" }), " ")
}

// keys returns the sorted names of an object's fields, including those of nested objects.
func keys(o map[string]any) string {
	var out []string
	for k, v := range o {
		if inner, ok := v.(map[string]any); ok {
			k += ":" + keys(inner)
		}
		out = append(out, k)
	}
	slices.Sort(out)
	return "{" + strings.Join(out, " ") + "}"
}
