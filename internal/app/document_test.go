package app_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/op"
	"cardwall/internal/query"
	"cardwall/internal/rest"
)

// node is an object in the OpenAPI document.
type node = map[string]any

// under returns the node at a path below another node. It resolves each $ref on the path.
func under(doc node, at any, path ...string) node {
	n, _ := at.(node)
	if ref, ok := n["$ref"].(string); ok {
		n = under(doc, doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	if len(path) == 0 {
		return n
	}
	return under(doc, n[path[0]], path[1:]...)
}

func TestEveryOperationIsDocumented(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	count := 0
	for prefix, application := range map[string]bool{rest.Prefix: false, rest.ApplicationPrefix: true} {
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, prefix+"/openapi.json", nil))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("openapi.json: got status %d, headers %v; want 200 and JSON", w.Code, w.Header())
		}
		var doc node
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if v, _ := doc["openapi"].(string); !strings.HasPrefix(v, "3.1") {
			t.Errorf("openapi version: got %q, want 3.1", v)
		}
		for _, methods := range doc["paths"].(node) {
			count += len(methods.(node))
		}
		for _, o := range s.Registry.All() {
			if (o.Audience != op.Public) == application {
				checkDocumentedOperation(t, doc, o)
			}
		}
	}
	if all := s.Registry.All(); count != len(all) {
		t.Errorf("got %d operations in the documents, want %d as in the registry", count, len(all))
	}
}

func checkDocumentedOperation(t *testing.T, doc node, o *op.Operation) {
	t.Helper()
	tags := map[string]bool{}
	for _, tag := range doc["tags"].([]any) {
		tags[tag.(node)["name"].(string)] = true
	}
	entry := under(doc, doc, "paths", o.Path, strings.ToLower(o.Method))
	if entry == nil {
		t.Errorf("%s is not in the document", o.Name)
		return
	}
	if entry["operationId"] != o.Name {
		t.Errorf("%s: got operationId %v, want the operation's name", o.Name, entry["operationId"])
	}
	if summary, _ := entry["summary"].(string); summary == "" || strings.HasSuffix(summary, ".") || len(summary) > 120 {
		t.Errorf("%s: got summary %q, want 1 to 120 bytes without a final period", o.Name, summary)
	}
	if list, _ := entry["tags"].([]any); len(list) != 1 || !tags[list[0].(string)] {
		t.Errorf("%s: got tags %v, want one that the document declares", o.Name, entry["tags"])
	}
	checkDocumentedFields(t, doc, o, entry)
	checkDocumentedResponses(t, doc, o, entry)
}

func checkDocumentedFields(t *testing.T, doc node, o *op.Operation, entry node) {
	seen := map[string]node{}
	params, _ := entry["parameters"].([]any)
	for _, p := range params {
		param := under(doc, p)
		schema := under(doc, param["schema"])
		seen[param["name"].(string)] = schema
		if text, _ := param["description"].(string); text == "" {
			t.Errorf("%s: parameter %s has no description", o.Name, param["name"])
		}
	}
	body := under(doc, entry["requestBody"], "content", "application/json", "schema")
	for name, p := range under(doc, body, "properties") {
		seen[name] = p.(node)
	}
	for _, f := range o.Input.Fields {
		schema := seen[f.Name]
		if schema == nil {
			t.Errorf("%s: field %s is not in the document", o.Name, f.Name)
			continue
		}
		// Filter fields need no example, because their descriptions list the values.
		_, filter := reflect.TypeFor[query.Filter]().FieldByNameFunc(func(name string) bool {
			return strings.EqualFold(name, f.Name)
		})
		if !hasExample(doc, schema) && !filter {
			t.Errorf("%s: field %s has no example; add `example:\"…\"` to its tag", o.Name, f.Name)
		}
		if text, _ := schema["description"].(string); text == "" && schema["$ref"] == nil {
			t.Errorf("%s: field %s has no description; add `doc:\"…\"` to its tag", o.Name, f.Name)
		}
	}
	if o.Keyed() && seen["Idempotency-Key"] == nil {
		t.Errorf("%s: the write has no Idempotency-Key parameter", o.Name)
	}
	if body != nil && body["additionalProperties"] != false {
		t.Errorf("%s: the request body allows additional properties", o.Name)
	}
}

// hasExample reports whether a schema has an example or an enumeration, either itself or in all of
// its alternatives or properties.
func hasExample(doc, schema node) bool {
	schema = under(doc, schema)
	if examples, _ := schema["examples"].([]any); len(examples) > 0 || schema["example"] != nil || schema["enum"] != nil {
		return true
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		parts, _ := schema[keyword].([]any)
		if len(parts) > 0 && !slices.ContainsFunc(parts, func(p any) bool { return !hasExample(doc, p.(node)) }) {
			return true
		}
	}
	props, _ := schema["properties"].(node)
	for p := range maps.Values(props) {
		if !hasExample(doc, p.(node)) {
			return false
		}
	}
	return len(props) > 0
}

func checkDocumentedResponses(t *testing.T, doc node, o *op.Operation, entry node) {
	success := "200"
	if o.Creates {
		success = "201"
	}
	if !o.Streams() && !o.HasContent() && !o.TakesPart() &&
		under(doc, entry, "responses", success, "content", "application/json", "schema", "properties", "data") == nil {
		t.Errorf("%s: response %s has no data", o.Name, success)
	}
	want := []string{"400", "401", "403", "404", "429", "500", "503"}
	if !o.ReadOnly {
		want = append(want, "402", "409")
	}
	if o.Input.Body != nil {
		want = append(want, "413", "415")
	}
	for _, status := range want {
		response := under(doc, entry, "responses", status)
		schema := under(doc, response, "content", "application/json", "schema")
		if under(doc, schema, "properties", "error", "properties", "code") == nil {
			t.Errorf("%s: the schema of response %s is not the error envelope", o.Name, status)
		}
		for _, header := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
			if under(doc, response, "headers", header) == nil {
				t.Errorf("%s: response %s has no %s header", o.Name, status, header)
			}
		}
		if (status == "429" || status == "503") && under(doc, response, "headers", "Retry-After") == nil {
			t.Errorf("%s: response %s has no Retry-After header", o.Name, status)
		}
	}
}

// The document does not depend on map order, so a diff of it shows only real changes to the API.
func TestDocumentIsStable(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	var before []byte
	for range 3 {
		text, err := rest.Encode(rest.Document(s.Registry, "1"))
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !bytes.Equal(before, text) {
			t.Fatal("two OpenAPI documents of the same registry differ")
		}
		before = text
	}
}
