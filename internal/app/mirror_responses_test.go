package app_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
)

// boardState returns the responses of read operations about a board that a mirror must reproduce.
// Cards are grouped by list. Archived lists come last, ordered by ID.
func boardState(p *apptest.Person, boardID string) record {
	on := fields{"boardId": boardID}
	details, comments, attachments, open := record{}, record{}, record{}, record{}
	for _, c := range records(p, "list_cards", with(on, "archived", "true")) {
		id, list := c["id"].(string), c["listId"].(string)
		details[id] = p.Must("get_card", fields{"cardId": id}).Data
		comments[id] = records(p, "list_comments", fields{"cardId": id})
		attachments[id] = records(p, "list_attachments", fields{"cardId": id})
		if c["archivedBy"] != "card" { // a card of an archived list keeps its position in the list
			in, _ := open[list].([]record)
			open[list] = append(in, c)
		}
	}
	lists := records(p, "list_lists", with(on, "includeArchived", true))
	slices.SortStableFunc(lists, func(a, b record) int {
		switch aArchived, bArchived := a["archivedAt"] != nil, b["archivedAt"] != nil; {
		case aArchived && bArchived:
			return byID(a, b)
		case aArchived:
			return 1
		case bArchived:
			return -1
		}
		return 0
	})
	return record{
		"get_board": p.Must("get_board", on).Data, "list_lists": lists, "list_cards": open, "get_card": details,
		"list_comments": comments, "list_attachments": attachments,
		"list_labels": records(p, "list_labels", on), "list_board_members": records(p, "list_board_members", on),
		"list_status_updates": records(p, "list_status_updates", on),
	}
}

// records returns the records of all pages of a list operation.
func records(p *apptest.Person, name string, in fields) []record {
	out := []record{}
	for in = with(in, "limit", 200); ; {
		a := p.Must(name, in)
		for _, r := range a.Data.([]any) {
			out = append(out, r.(record))
			if name == "list_board_members" {
				delete(r.(record), "avatar") // people change it, like their names, without an event of a board
			}
		}
		if a.Next == "" {
			return out
		}
		in = with(in, "cursor", a.Next)
	}
}

func byID(a, b record) int { return cmp.Compare(a["id"].(string), b["id"].(string)) }

func byName(a, b record) int {
	return cmp.Or(cmp.Compare(a["name"].(string), b["name"].(string)), byID(a, b))
}

func newestFirst(a, b record) int {
	return cmp.Or(cmp.Compare(b["createdAt"].(string), a["createdAt"].(string)), byID(b, a))
}

// sorted returns the sorted records whose field where[0] has the value where[1], or all records if
// where is empty.
func sorted(all map[string]record, by func(a, b record) int, where ...string) []record {
	out := []record{}
	for _, r := range all {
		if len(where) == 0 || r[where[0]] == where[1] {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, by)
	return out
}

// plain encodes a value as JSON and decodes it again, so that equal values have equal Go types.
func plain(t failer, v any) (out any) {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return out
}

// difference describes the first difference between two values. It returns "" if they are equal.
func difference(at string, got, want any) string {
	switch g := got.(type) {
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok {
			break
		}
		both := maps.Clone(g)
		maps.Copy(both, w)
		for _, k := range slices.Sorted(maps.Keys(both)) {
			if d := difference(at+"/"+k, g[k], w[k]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		w, ok := want.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range g {
			if d := difference(fmt.Sprint(at, "/", i), g[i], w[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("%s: got %v, want %v", at, got, want)
}
