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
		var real map[string]any
		if err := json.Unmarshal([]byte(body), &real); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		kind := real["type"].(string)
		sample := w.owner.Must("get_webhook_sample", fields{"event": kind}).Data.(map[string]any)
		seen[kind] = true
		if a, b := keys(real), keys(sample); a != b {
			t.Errorf("a delivery of %s has the fields %s, its sample has %s", kind, a, b)
		}
		if a, b := prefixes("", real), prefixes("", sample); a != b {
			t.Errorf("the prefixes of ids in a delivery of %s are %s, in its sample %s", kind, a, b)
		}
		if version, ok := real["boardVersion"].(float64); real["format"] != "service-webhook/1" ||
			real["workspaceId"] != w.workspace || real["boardId"] == nil || !ok || version < 1 {
			t.Errorf("a delivery of %s has wrong values: %s", kind, body)
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
		t.Errorf("an unknown kind: got status %d, body %s", a.Status, a.Raw)
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
		for _, one := range v {
			out = append(out, prefixes(path, one))
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
