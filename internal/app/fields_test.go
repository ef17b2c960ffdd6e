package app_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// fieldsOf returns the names of the fields of each record in a response.
func fieldsOf(a apptest.Response) (names [][]string) {
	records, ok := a.Data.([]any)
	if !ok {
		records = []any{a.Data}
	}
	for _, r := range records {
		names = append(names, slices.Sorted(maps.Keys(r.(map[string]any))))
	}
	return names
}

// Every response to a GET contains only the fields that the caller chooses. Its entity tag is that of the whole
// response, so that If-Match works with it.
func TestChosenFields(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		count := 0
		for _, o := range s.Registry.All() {
			all := o.SelectableFields()
			if len(all) == 0 {
				continue
			}
			count++
			in := w.sample(t, o)
			whole := w.owner.Must(o.Name, in)
			for _, names := range fieldsOf(whole) {
				for _, name := range names {
					if !slices.Contains(all, name) {
						t.Errorf("%s: the field %s of the response cannot be chosen", o.Name, name)
					}
				}
			}
			chosen := w.owner.Must(o.Name, with(in, "fields", all[0]+", "+all[len(all)-1]))
			for i, names := range fieldsOf(chosen) {
				for _, name := range names {
					if name != all[0] && name != all[len(all)-1] {
						t.Errorf("%s: record %d has the field %s, want only %s and %s", o.Name, i, name, all[0], all[len(all)-1])
					}
				}
			}
			if chosen.Next != "" != (whole.Next != "") {
				t.Errorf("%s: got the cursor %q, want one only if the whole response has one", o.Name, chosen.Next)
			}
			a := w.owner.Refused(board.CodeInvalidRequest, o.Name, with(in, "fields", all[0]+",nothing"))
			if !strings.HasPrefix(a.Message, "fields takes "+all[0]) || !strings.Contains(a.Message, "value 2") {
				t.Errorf("%s: got %q, want the allowed fields", o.Name, a.Message)
			}
		}
		if count < 40 {
			t.Errorf("fields can be chosen for %d operations, want at least 40", count)
		}
		whole, title := w.owner.Must("get_card", fields{"cardId": w.card}), fields{"cardId": w.card, "fields": "title"}
		chosen := w.owner.Must("get_card", title)
		tag, want := whole.Header.Get("ETag"), `{"data":{"title":"`+whole.Text("title")+`"}}`
		if string(chosen.Raw) != want || chosen.Header.Get("ETag") != tag {
			t.Errorf("get_card: got %s with %s, want %s with %s", chosen.Raw, chosen.Header.Get("ETag"), want, tag)
		}
		if a := w.owner.CallWith("get_card", title, http.Header{"If-None-Match": {tag}}); a.Status != http.StatusNotModified {
			t.Errorf("with If-None-Match: got status %d, body %s; want 304", a.Status, a.Raw)
		}
		for name, in := range map[string]fields{"export_board": {"boardId": w.board}, "download_attachment": {"attachmentId": w.attachment}} {
			w.owner.Refused(board.CodeInvalidRequest, name, with(in, "fields", "id"))
		}
		page := fields{"boardId": w.board, "fields": "title", "limit": 1}
		next := w.owner.Must("list_cards", page).Next
		a := w.owner.Must("list_cards", with(with(page, "fields", "id,number"), "cursor", next))
		if !slices.Equal(fieldsOf(a)[0], []string{"id", "number"}) {
			t.Errorf("the next page with other fields: got %s", a.Raw)
		}
	})
}
