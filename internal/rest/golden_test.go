package rest_test

import (
	"path/filepath"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/apptest"
	"cardwall/internal/catalog"
	"cardwall/internal/rest"
)

// TestGoldenOpenAPI compares the OpenAPI documents with the golden files. `make golden`
// rewrites them; their diff shows how the API changes.
func TestGoldenOpenAPI(t *testing.T) {
	t.Parallel()
	r := catalog.New(catalog.Parts{})
	golden(t, "openapi.json", rest.Document(r, "1"))
	golden(t, "openapi-app.json", rest.ApplicationDocument(r, "1"))
}

func golden(t *testing.T, name string, document *huma.OpenAPI) {
	t.Helper()
	got, err := rest.Encode(document)
	if err != nil {
		t.Fatal(err)
	}
	apptest.Golden(t, filepath.Join("testdata", name), "the interface", got)
}
