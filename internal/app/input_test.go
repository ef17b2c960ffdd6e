package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// badInput is an input with one mistake. The error message must contain name.
type badInput struct {
	what string
	in   fields
	name string
}

// badInputs returns inputs of an operation that each have one mistake, and covers every field.
func badInputs(o *op.Operation, good fields) (out []badInput) {
	unknown := badInput{"an unknown field", with(good, "nonsense", "x"), "nonsense"}
	if o.Input.Body == nil && !o.ReadOnly {
		unknown.name = "body"
	}
	if !o.TakesPart() && !o.TakesPicture() { // the body is not JSON
		out = append(out, unknown)
	}
	for _, f := range o.Input.Fields {
		add := func(what string, v any) {
			out = append(out, badInput{what, with(good, f.Name, v), f.Name})
		}
		if f.Required && f.In != op.InPath {
			without := with(good, "x", 0)
			delete(without, "x")
			delete(without, f.Name)
			out = append(out, badInput{"a required field missing", without, f.Name})
		}
		if f.In == op.InBody && f.Schema.Ref == "" {
			if !f.Schema.Nullable {
				add("null", nil)
			}
			add("a wrong type", wrongType(f.Schema))
			if f.Schema.Type == huma.TypeString {
				add("an object", fields{"a": 1})
				out = append(out, badInput{f.Name + " with a null character", with(good, f.Name, "a\x00b"), "U+0000"})
			}
		}
		if f.In == op.InBody && f.Schema.Ref != "" {
			add("null", nil)
			add("a number for an object", 7)
			add("an unknown field inside", fields{"nonsense": true})
		}
		if f.In == op.InQuery && f.Schema.Type != huma.TypeString {
			add("a word", "word")
		}
		if f.Schema.MinLength != nil && *f.Schema.MinLength == 1 {
			add("an empty string", "")
		}
		if f.In == op.InQuery {
			if f.Name != "cursor" { // an empty cursor means the first page
				add("no value", "")
			}
			add("only spaces", "  ")
		}
		if f.In == op.InQuery && f.Schema.Type == huma.TypeInteger {
			for _, v := range []string{"+5", "05", " 5", "5 ", "5.0", "5e0", "0x5"} {
				add("a number written as "+v, v)
			}
		}
		if f.Schema.MaxLength != nil {
			add("text over the maximum length", strings.Repeat("ä", *f.Schema.MaxLength+1))
		}
		if len(f.Schema.Enum) > 0 {
			add("a word that is not allowed", "nonsense")
		}
		if f.Schema.Format == "date-time" {
			add("a word for a time", "soon")
			add("a date for a time", "2026-03-02")
		}
		if f.Schema.Maximum != nil {
			add("a number over the maximum", int(*f.Schema.Maximum)+1)
			add("a number over 64 bits", "99999999999999999999")
		}
		if f.Schema.Minimum != nil {
			add("a number under the minimum", int(*f.Schema.Minimum)-1)
		}
		if f.Schema.MaxItems != nil {
			add("too many items", make([]string, *f.Schema.MaxItems+1))
			add("a number for an item", []any{7})
			add("null for an item", []any{nil})
		}
	}
	return out
}

func wrongType(s *huma.Schema) any {
	switch s.Type {
	case huma.TypeString:
		return 7
	case huma.TypeInteger:
		return 1.5
	case huma.TypeBoolean:
		return "true"
	case huma.TypeArray:
		return "text"
	}
	return 7
}

func TestBadInputIsRefusedWithItsField(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, o := range s.Registry.All() {
			good := w.sample(t, o)
			before := w.state()
			refuse := func(what string, a apptest.Response, name string) {
				if a.Status != http.StatusBadRequest || a.Code != board.CodeInvalidRequest || !strings.Contains(a.Message, name) {
					t.Errorf("%s with %s: got status %d, body %s; want invalid_request that names %s", o.Name, what, a.Status,
						a.Raw, name)
				}
				if len(a.Message) > 1200 || !strings.HasSuffix(a.Message, ".") {
					t.Errorf("%s with %s: got message %q, want at most 1200 bytes that end with a period", o.Name, what, a.Message)
				}
				if notForPeople.MatchString(a.Message) {
					t.Errorf("%s with %s: the message contains output of Go or of a library: %s", o.Name, what, a.Message)
				}
			}
			for _, bad := range badInputs(o, good) {
				refuse(fmt.Sprintf("%s in %s", bad.what, bad.name), w.owner.Call(o.Name, bad.in), bad.name)
			}
			r := w.owner.Request(o, good)
			query := r.URL.Query()
			query.Set("nonsense", "1")
			r.URL.RawQuery = query.Encode()
			refuse("an unknown parameter", w.owner.Do(r), "nonsense")
			r = w.owner.Request(o, good)
			r.URL.RawQuery = "a=%zz"
			refuse("a malformed query", w.owner.Do(r), "query")
			for _, f := range o.Input.Fields {
				if f.In == op.InQuery {
					r = w.owner.Request(o, good)
					query := r.URL.Query()
					query[f.Name] = []string{"1", "2"}
					r.URL.RawQuery = query.Encode()
					refuse("a parameter twice", w.owner.Do(r), f.Name)
				}
			}
			if w.state() != before {
				t.Errorf("a rejected %s changed something", o.Name)
			}
		}
	})
}

// Every query parameter takes the value in its example. That value need not exist.
func TestParametersTakeTheirExamples(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, o := range s.Registry.All() {
			for _, f := range o.Input.Fields {
				if f.In != op.InQuery || f.Name == "cursor" || len(f.Schema.Examples) == 0 {
					continue
				}
				a := w.as(o).Call(o.Name, with(w.sample(t, o), f.Name, f.Schema.Examples[0]))
				if a.Status >= http.StatusInternalServerError {
					t.Errorf("%s with %s=%v: got status %d, body %s", o.Name, f.Name, f.Schema.Examples[0], a.Status, a.Raw)
				}
			}
		}
	})
}

// An empty string is rejected in required fields, in fields that contain a URL and in array items,
// before the operation's function runs.
func TestEmptyTextIsRefused(t *testing.T) {
	t.Parallel()
	mayBeEmpty := map[string]bool{
		// an empty query has no terms
		"create_saved_filter query": true, "get_authorization_request query": true, "allow_authorization query": true,
		// an empty key gets a not_found error
		"get_guest_page key": true, "get_guest_card key": true, "submit_guest_card key": true,
		"add_guest_comment key": true,
	}
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		tried := 0
		for _, o := range s.Registry.All() {
			good := w.sample(t, o)
			for _, f := range o.Input.Fields {
				text, empty := f.Schema, any("")
				if text.Type == huma.TypeArray {
					text, empty = f.Schema.Items, []any{""}
				}
				if text.Type != huma.TypeString || len(text.Enum) > 0 || f.In == op.InPath || mayBeEmpty[o.Name+" "+f.Name] ||
					!f.Required && text == f.Schema && text.Format != "uri" {
					continue
				}
				tried++
				if a := w.as(o).Call(o.Name, with(good, f.Name, empty)); a.Code != board.CodeInvalidRequest ||
					!strings.Contains(a.Message, f.Name) ||
					!strings.Contains(a.Message, "must not be empty") {
					t.Errorf("%s with an empty string in %s: got status %d, body %s; want must not be empty", o.Name, f.Name, a.Status, a.Raw)
				}
			}
		}
		if tried < 40 {
			t.Errorf("only %d fields were tested, want at least 40", tried)
		}
		w.owner.Must("create_saved_filter", fields{"workspaceId": w.workspace, "name": "Everything", "query": ""})
	})
}

// Text of the maximum length is accepted. The length is counted in characters.
func TestLongestTextIsAccepted(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		title, description := strings.Repeat("𝄞", 512), strings.Repeat("語", 16384)
		a := w.owner.Must("create_card", fields{"listId": w.list, "title": title, "description": description})
		if a.Text("title") != title || a.Text("description") != description {
			t.Errorf("the title has %d bytes and the description %d, want both unchanged", len(a.Text("title")), len(a.Text("description")))
		}
		if got := w.owner.Must("get_card", fields{"cardId": a.ID()}); got.Text("title") != title ||
			got.Text("description") != description {
			t.Error("the stored text differs from the text that was sent")
		}
		w.owner.Must("add_comment", fields{"cardId": a.ID(), "text": description})
	})
}

// A name or title is rejected if it is blank or contains control characters.
func TestNamesAreOneLine(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, c := range []struct{ operation, field string }{
			{"create_board", "name"}, {"update_board", "name"}, {"create_list", "name"}, {"update_list", "name"},
			{"create_card", "title"},
			{"update_card", "title"}, {"add_checklist", "title"}, {"update_checklist", "title"}, {"add_checklist_item", "title"},
			{"update_checklist_item", "title"}, {"create_label", "name"}, {"update_label", "name"},
		} {
			in := w.sample(t, s.Registry.Named(c.operation))
			for _, bad := range []string{" \t ", "\u200b", "a\nb", "a\u0007b", "a\u0085b"} {
				a := w.owner.Refused(board.CodeInvalidRequest, c.operation, with(in, c.field, bad))
				if !strings.Contains(a.Message, c.field) {
					t.Errorf("%s with %q: %s; want it to contain %q", c.operation, bad, a.Message, c.field)
				}
			}
		}
	})
}

// A position is rejected if it has none of the four forms, or if it refers to the moved card or to
// anything but an open card in the list.
func TestInvalidPositionsAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		other := w.make("create_card", fields{"listId": w.doing, "title": "Elsewhere"})
		for _, bad := range []any{
			"middle", "TOP", "", 1, []string{}, fields{}, fields{"before": w.card, "after": w.card}, fields{"before": ""},
			fields{"after": nil},
			fields{"before": 3}, fields{"Before": w.card}, fields{"before": w.card, "x": 1}, fields{"before": "crd_none"},
			fields{"after": other},
			fields{"after": w.archivedCard}, fields{"before": w.list}, fields{"before": strings.Repeat("x", 65)},
		} {
			for _, c := range []struct {
				operation string
				in        fields
			}{{"create_card", fields{"listId": w.list, "title": "x"}},
				{"move_card", fields{"cardId": w.card, "listId": w.list}}} {
				a := w.owner.Refused(board.CodeInvalidRequest, c.operation, with(c.in, "position", bad))
				if !strings.Contains(a.Message, "position") {
					t.Errorf("%s at %v: %s; want it to contain %q", c.operation, bad, a.Message, "position")
				}
			}
		}
		w.owner.Refused(board.CodeInvalidRequest, "move_card",
			fields{"cardId": w.card, "listId": w.list, "position": fields{"before": w.card}})
	})
}
