package rest_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/catalog"
	"cardwall/internal/rest"
	"cardwall/internal/rest/docs"
)

// Every error code has a page in the reference, which explains its reasons.
func TestErrorsHavePages(t *testing.T) {
	t.Parallel()
	document := rest.Document(catalog.New(catalog.Parts{}), "1")
	pages, err := docs.New(document, "https://cards.example.com", "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := rest.Encode(document)
	if err != nil {
		t.Fatal(err)
	}
	var errors struct {
		Rows []struct {
			Code string `json:"code"`
		} `json:"x-errors"`
	}
	if err := json.Unmarshal(text, &errors); err != nil || len(errors.Rows) == 0 {
		t.Fatalf("read x-errors: %v", err)
	}
	var all strings.Builder
	for _, row := range errors.Rows {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequest("GET", "/docs/errors/"+row.Code, nil))
		if w.Code != 200 {
			t.Errorf("%s: got status %d, want a page", row.Code, w.Code)
		}
		all.WriteString(w.Body.String())
	}
	for _, reason := range board.Reasons() {
		if !strings.Contains(all.String(), "<code>"+string(reason)+"</code>") {
			t.Errorf("no page explains the reason %s", reason)
		}
	}
}
