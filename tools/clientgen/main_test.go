package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// A change of the OpenAPI document that is not generated fails this test.
func TestGoldenClients(t *testing.T) {
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := run(root); err != nil {
			t.Fatal(err)
		}
		return
	}
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
		} else if string(got) != string(want) {
			t.Errorf("%s is out of date: run make golden", path)
		}
	}
}

// sample returns a document with one schema and one operation.
func sample(schema, operation string) []byte {
	return []byte(`{"components": {"schemas": {"Thing": ` + schema + `}}, "paths": {"/things/{thingId}": {"post": ` +
		operation + `}}}`)
}

const (
	thing = `{"type": "object", "required": ["id", "from"], "properties": {
		"id": {"type": "string"}, "from": {"type": ["string", "null"]}, "size": {"type": "string", "enum": ["s", "m"]},
		"parts": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
		"other": {"anyOf": [{"$ref": "#/components/schemas/Thing"}, {"type": "null"}]}}}`
	update = `{"operationId": "update_thing", "summary": "Change", "description": "Change it. Or not.",
		"parameters": [{"name": "thingId", "in": "path", "required": true, "schema": {"type": "string"}},
			{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}],
		"requestBody": {"content": {"application/json": {"schema": {"type": "object", "required": ["newName"],
			"properties": {"newName": {"type": "string"}, "dueDate": {"type": ["string", "null"]}, "done": {"type": "boolean"}}}}}},
		"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}}`
)

func TestPythonModels(t *testing.T) {
	a, err := parse(sample(thing, update))
	if err != nil {
		t.Fatal(err)
	}
	got, err := pythonModels(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"_ThingReserved = TypedDict(\n    \"_ThingReserved\",\n    {\n        \"from\": \"str | None\",\n    },\n    total=True,\n)\n",
		"class _ThingRequired(TypedDict):\n    id: str\n",
		"class Thing(_ThingReserved, _ThingRequired, total=False):\n    other: Thing | None\n" +
			"    parts: list[ThingParts]\n    size: Literal[\"s\", \"m\"]\n",
		"class ThingParts(TypedDict, total=False):\n    n: int\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("missing:\n%s\nin:\n%s", want, got)
		}
	}
}

func TestPythonOperations(t *testing.T) {
	a, err := parse(sample(thing, update))
	if err != nil {
		t.Fatal(err)
	}
	got, err := pythonOperations(a)
	if err != nil {
		t.Fatal(err)
	}
	want := `    def update_thing(
        self,
        thing_id: str,
        new_name: str,
        *,
        done: bool | None = None,
        due_date: str | None | Omitted = OMITTED,
        idempotency_key: str | None = None,
    ) -> models.Thing:
        """Change it. Or not.

        Args:
            idempotency_key: The key of an earlier call, to repeat it. Defaults to a new key.
        """
        result: models.Thing = self.request(
            "POST",
            f"/things/{segment(thing_id)}",
            body={"newName": new_name, "done": given(done), "dueDate": due_date},
            key=idempotency_key or new_key(),
        )
        return result
`
	if !strings.Contains(string(got), want) {
		t.Errorf("missing:\n%s\nin:\n%s", want, got)
	}
}

func TestGo(t *testing.T) {
	a, err := parse(sample(thing, update))
	if err != nil {
		t.Fatal(err)
	}
	models, err := goModels(a)
	if err != nil {
		t.Fatal(err)
	}
	operations, err := goOperations(a)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(string(models)+string(operations)), " ")
	for _, want := range []string{
		"type Thing struct { ID string `json:\"id\"` From *string `json:\"from\"` Other Nullable[Thing] `json:\"other,omitzero\"` " +
			"Parts []ThingParts `json:\"parts,omitzero\"` Size *string `json:\"size,omitempty\"` }",
		"type UpdateThingParams struct { NewName string `json:\"newName\"` Done *bool `json:\"done,omitempty\"` " +
			"DueDate Nullable[string] `json:\"dueDate,omitzero\"` }",
		"func (c *Client) UpdateThing(ctx context.Context, thingID string, params UpdateThingParams, options ...Option) (*Thing, error) { " +
			`r := request{method: "POST", path: "/things/" + segment(thingID), keyed: true} r.body = params`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing:\n%s\nin:\n%s", want, got)
		}
	}
}

func TestUnknownConstructs(t *testing.T) {
	for name, document := range map[string][]byte{
		"a type":                  sample(`{"type": "tuple"}`, update),
		"an inline union":         sample(`{"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}]}}}`, update),
		"a missing schema":        sample(`{"type": "object", "properties": {"a": {"$ref": "#/components/schemas/None"}}}`, update),
		"a missing parameter":     sample(thing, strings.ReplaceAll(update, `"thingId"`, `"otherId"`)),
		"a parameter in a cookie": sample(thing, strings.ReplaceAll(update, `"in": "path"`, `"in": "cookie"`)),
		"two equal names":         sample(thing, strings.ReplaceAll(update, "newName", "thingId")),
	} {
		a, err := parse(document)
		if err == nil {
			_, err = pythonOperations(a)
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
