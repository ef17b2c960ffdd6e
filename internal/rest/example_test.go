package rest_test

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"cardwall/internal/catalog"
	"cardwall/internal/op"
	"cardwall/internal/rest"
)

// Every operation has an example response, and an example request if it takes a body.
// The examples match their schemas, and each document has at most 1 MiB.
func TestExamplesMatchTheirSchemas(t *testing.T) {
	t.Parallel()
	r := catalog.New(catalog.Parts{})
	for _, d := range []struct {
		document    *huma.OpenAPI
		application bool
	}{{rest.Document(r, "1"), false}, {rest.ApplicationDocument(r, "1"), true}} {
		text, err := rest.Encode(d.document)
		if err != nil {
			t.Fatal(err)
		}
		if limit := 1 << 20; len(text) > limit {
			t.Errorf("%s: got %d bytes, want at most %d", d.document.Info.Title, len(text), limit)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.AssertFormat()
		if err := c.AddResource("mem:openapi.json", doc); err != nil {
			t.Fatal(err)
		}
		for _, o := range r.All() {
			pictures := []string{"download_avatar", "download_background", "get_guest_background"}
			binary := o.TakesPart() || o.TakesPicture() || slices.Contains(pictures, o.Name)
			if (o.Audience != op.Public) == d.application && !binary {
				checkExamples(t, c, o, doc.(map[string]any))
			}
		}
	}
}

func checkExamples(t *testing.T, c *jsonschema.Compiler, o *op.Operation, doc map[string]any) {
	t.Helper()
	method := strings.ToLower(o.Method)
	at := "#/paths/" + strings.ReplaceAll(o.Path, "/", "~1") + "/" + method
	check := func(what, where, media string, content any) {
		kind, ok := content.(map[string]any)[media].(map[string]any)
		example, given := kind["example"]
		if !ok || !given {
			t.Errorf("%s has no example %s; run make golden", o.Name, what)
			return
		}
		s, err := c.Compile("mem:openapi.json" + where + "/content/" + strings.ReplaceAll(media, "/", "~1") + "/schema")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(example); err != nil {
			t.Errorf("example %s of %s does not match its schema: %v", what, o.Name, err)
		}
	}
	entry := doc["paths"].(map[string]any)[o.Path].(map[string]any)[method].(map[string]any)
	if body, ok := entry["requestBody"].(map[string]any); ok {
		check("request", at+"/requestBody", op.JSON, body["content"])
	}
	for status, response := range entry["responses"].(map[string]any) {
		if n, err := strconv.Atoi(status); err == nil && n < 300 {
			where, response := at+"/responses/"+status, response.(map[string]any)
			if ref, ok := response["$ref"].(string); ok {
				name := strings.TrimPrefix(ref, "#/components/responses/")
				where, response = ref, doc["components"].(map[string]any)["responses"].(map[string]any)[name].(map[string]any)
			}
			check("response", where, cmp.Or(o.Media, op.JSON), response["content"])
		}
	}
}
