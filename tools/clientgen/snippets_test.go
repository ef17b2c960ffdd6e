package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// withExamples is an operation with an example of each kind of field.
const withExamples = `{"operationId": "update_thing", "summary": "Change", "description": "Change it.",
	"parameters": [{"name": "thingId", "in": "path", "required": true, "schema": {"type": "string", "examples": ["thg_1"]}}],
	"requestBody": {"content": {"application/json": {
		"example": {"newName": "It's \"new\"", "other": {"id": "thg_2", "from": null}, "dueDate": null, "done": true, "sizes": ["s"],
			"any": {"n": 7, "list": [null, false]}},
		"schema": {"type": "object", "required": ["newName"], "properties": {
			"newName": {"type": "string"}, "dueDate": {"type": ["string", "null"]}, "done": {"type": "boolean"},
			"other": {"anyOf": [{"$ref": "#/components/schemas/Thing"}, {"type": "null"}]},
			"sizes": {"type": "array", "items": {"type": "string"}},
			"any": {"type": "object", "additionalProperties": {}}}}}}},
	"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}}`

func TestSnippets(t *testing.T) {
	a, err := parse(sample(thing, withExamples))
	if err != nil {
		t.Fatal(err)
	}
	text, err := snippets(a)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]snippet
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := snippet{
		TypeScript: `const result = await client.POST('/things/{thingId}', {
  params: { path: { thingId: 'thg_1' } },
  body: {
    newName: "It's \"new\"",
    any: { list: [null, false], n: 7 },
    done: true,
    dueDate: null,
    other: { from: null, id: 'thg_2' },
    sizes: ['s'],
  },
})`,
		Python: `result = client.update_thing(
    "thg_1",
    new_name="It's \"new\"",
    any={"list": [None, False], "n": 7},
    done=True,
    due_date=None,
    other={"from": None, "id": "thg_2"},
    sizes=["s"],
)`,
		Go: `result, err := client.UpdateThing(ctx, "thg_1", cardwall.UpdateThingParams{
	NewName: "It's \"new\"",
	Any: map[string]any{
		"list": []any{nil, false},
		"n":    7,
	},
	Done:    cardwall.Ptr(true),
	DueDate: cardwall.Null[string](),
	Other: cardwall.Value(cardwall.Thing{
		ID:   "thg_2",
		From: nil,
	}),
	Sizes: []string{"s"},
})`,
	}
	if got["update_thing"] != want {
		t.Errorf("got %#v,\nwant %#v", got["update_thing"], want)
	}
}

func TestSnippetNeedsExamples(t *testing.T) {
	a, err := parse(sample(thing, strings.Replace(withExamples, `, "examples": ["thg_1"]`, "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snippets(a); err == nil || !strings.Contains(err.Error(), "update_thing: the parameter thingId has no example") {
		t.Errorf("got %v, want an error that names the parameter", err)
	}
}

func TestGoPosition(t *testing.T) {
	for want, position := range map[string]any{
		"cardwall.Top()": "top", `cardwall.Before("crd_1")`: map[string]any{"before": "crd_1"},
	} {
		f := argument{&field{typ: &typeRef{kind: namedKind, name: "Position"}}, position}
		if got := new(goValues).field(f).flat(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
