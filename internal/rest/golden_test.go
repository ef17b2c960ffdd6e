package rest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/connect"
	"cardwall/internal/rest"
	"cardwall/internal/transfer"
)

// TestGoldenOpenAPI compares the documents of all operations with those that
// were reviewed last; `make golden` writes them anew, and their difference is the
// review of the interface.
func TestGoldenOpenAPI(t *testing.T) {
	t.Parallel()
	r := connect.AddOperations(account.AddOperations(transfer.AddOperations(app.Operations()), nil), nil)
	golden(t, "openapi.json", rest.Document(r, "1"))
	golden(t, "openapi-app.json", rest.ApplicationDocument(r, "1"))
}

func golden(t *testing.T, name string, document *huma.OpenAPI) {
	t.Helper()
	got, err := rest.Encode(document)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run make golden", err)
	}
	if bytes.Equal(got, want) {
		return
	}
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			t.Fatalf("the interface is not what %s says, from line %d on: %s, was %s; if that is meant, run make golden and review the difference", file, i+1, bytes.TrimSpace(g[i]), bytes.TrimSpace(w[i]))
		}
	}
	t.Fatalf("the interface is not what %s says: %d lines, were %d; if that is meant, run make golden and review the difference", file, len(g), len(w))
}
