package apptest

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"cardwall/internal/account"
	"cardwall/internal/catalog"
	"cardwall/internal/connect"
	"cardwall/internal/op"
	"cardwall/internal/rest"
)

// document validates responses against the OpenAPI documents of the public and the application
// interfaces. It is safe for concurrent use.
type document struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
	shared   map[string]string // the address of the component by that of a response that refers to it
}

// programDocument is the document of the program's own operations. It is shared by all services
// of a test process, because creating it takes longer than most tests.
var programDocument = sync.OnceValues(func() (*document, error) {
	accounts, err := account.New(account.Options{BaseURL: BaseURL})
	if err != nil {
		return nil, err
	}
	return newDocument(catalog.New(catalog.Parts{Accounts: accounts, Programs: connect.New(connect.Options{})}))
})

func newDocument(r *op.Registry) (*document, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	d := &document{compiler: c, schemas: map[string]*jsonschema.Schema{}, shared: map[string]string{}}
	for address, document := range map[string]*huma.OpenAPI{
		addressOf(false): rest.Document(r, "test"), addressOf(true): rest.ApplicationDocument(r, "test"),
	} {
		text, err := rest.Encode(document)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		if err := c.AddResource(address, doc); err != nil {
			return nil, err
		}
		for path, item := range document.Paths {
			for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
				if o == nil {
					continue
				}
				for status, response := range o.Responses {
					d.shared[address+responsePointer(path, o.Method, status)] = response.Ref
				}
			}
		}
	}
	return d, nil
}

// addressOf returns the address under which the compiler knows the document of the application
// or the public interface.
func addressOf(application bool) string { return "mem:" + strconv.FormatBool(application) + ".json" }

// check fails the test if the response of an operation does not match the document.
func (d *document) check(t testing.TB, o *op.Operation, a Response) {
	t.Helper()
	address := addressOf(o.Audience != op.Public)
	pointer := responsePointer(o.Path, o.Method, strconv.Itoa(a.Status))
	pointer = cmp.Or(d.shared[address+pointer], pointer)
	switch {
	case a.Status >= 400:
		pointer = "#/components/schemas/Error"
	case o.HasContent():
		pointer += "/content/*~1*/schema" // the media type is that of the file
	default:
		pointer += "/content/" + strings.ReplaceAll(a.Media(), "/", "~1") + "/schema"
	}
	if a.Status != http.StatusNotModified && a.Status != http.StatusNoContent { // such responses have no body
		s, err := d.schema(address + pointer)
		if err != nil {
			t.Fatalf("the document has no %s: %v", pointer, err)
		}
		if err := s.Validate(a.whole); err != nil {
			t.Errorf("the response of %s does not match the document: %v\n%s", o.Name, err, a.Raw)
		}
	}
	for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Ratelimit-Resource",
		"X-Request-Id"} {
		if a.Header.Get(name) == "" {
			t.Errorf("the response of %s has no header %s", o.Name, name)
		}
	}
}

// responsePointer returns the JSON pointer of a response in a document, as a fragment of an address.
func responsePointer(path, method, status string) string {
	return "#/paths/" + strings.ReplaceAll(path, "/", "~1") + "/" + strings.ToLower(method) + "/responses/" + status
}

func (d *document) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(pointer)
	if err == nil {
		d.schemas[pointer] = s
	}
	return s, err
}

// Conforms fails the test if a JSON value does not match a schema of the public document.
func (s *Service) Conforms(schema string, text []byte) {
	s.T.Helper()
	compiled, err := s.document.schema(addressOf(false) + "#/components/schemas/" + schema)
	if err != nil {
		s.T.Fatalf("the document has no schema %s: %v", schema, err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		s.T.Fatal(err)
	}
	if err := compiled.Validate(v); err != nil {
		s.T.Errorf("the JSON does not match the schema %s: %v\n%s", schema, err, text)
	}
}
