package apptest

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"cardwall/internal/op"
	"cardwall/internal/rest"
)

// document checks answers against the OpenAPI document.
type document struct {
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

func newDocument(t testing.TB, r *op.Registry) *document {
	t.Helper()
	text, err := rest.Encode(rest.Document(r, "test"))
	if err != nil {
		t.Fatal(err)
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
	return &document{compiler: c, schemas: map[string]*jsonschema.Schema{}}
}

// check fails the test when the answer is not one that the document announces
// for the operation.
func (d *document) check(t testing.TB, o *op.Operation, a Answer) {
	t.Helper()
	pointer := "/paths/" + strings.ReplaceAll(o.Path, "/", "~1") + "/" + strings.ToLower(o.Method) + "/responses/" + strconv.Itoa(a.Status)
	if a.Status >= 400 {
		pointer = "/components/schemas/Error"
	} else {
		pointer += "/content/application~1json/schema"
	}
	s := d.schemas[pointer]
	if s == nil {
		var err error
		if s, err = d.compiler.Compile("mem:openapi.json#" + pointer); err != nil {
			t.Fatalf("the document has no %s: %v", pointer, err)
		}
		d.schemas[pointer] = s
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("the answer of %s is not what the document says: %v\n%s", o.Name, err, a.Raw)
	}
	for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Request-Id"} {
		if a.Header.Get(name) == "" {
			t.Errorf("the answer of %s has no header %s", o.Name, name)
		}
	}
}
