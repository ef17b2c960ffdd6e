package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// TestEntityTags makes changes that affect a card, and reads the card and the cards of its board again
// on another server. The response is 304 only if the body would be the same.
func TestEntityTags(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		reader := p.bob.At(s.Node())
		reads := map[string]fields{
			"get_card":   {"cardId": p.card},
			"list_cards": {"boardId": p.from, "view": "compact", "sort": "-updated"},
		}
		tags := map[string]string{}
		// read repeats a request with the entity tag of its last response, and returns the status and body.
		read := func(name string) (int, string) {
			t.Helper()
			a := reader.CallWith(name, reads[name], http.Header{"If-None-Match": {tags[name]}})
			switch tag := a.Header.Get("ETag"); {
			case a.Status == 304 && (tag != tags[name] || len(a.Raw) > 0):
				t.Errorf("%s: got 304 with tag %s and body %q, want tag %s and no body", name, tag, a.Raw, tags[name])
			case a.Status == 200:
				tags[name] = tag
			}
			return a.Status, string(a.Raw)
		}
		for name := range reads {
			if status, _ := read(name); status != 200 || strings.HasPrefix(tags[name], `W/`) != (name == "list_cards") {
				t.Fatalf("%s: got status %d, tag %s; want 200, and a weak tag only for the list", name, status, tags[name])
			}
		}
		comment := p.make("add_comment", fields{"cardId": p.card, "text": "First."})
		for _, change := range []struct {
			operation string
			in        fields
			want      string
		}{
			{"update_card", fields{"cardId": p.card, "title": "Press conference"}, "Press conference"},
			{"delete_comment", fields{"commentId": comment}, ""},
			{"update_label", fields{"labelId": p.bug, "name": "Defect"}, "Defect"},
			{"set_card_labels", fields{"cardId": p.card, "remove": []string{p.idea}}, ""},
			{"update_list", fields{"listId": p.here, "name": "Elsewhere"}, ""},
			{"update_profile", fields{"name": "Ada King"}, "Ada King"},
			{"archive_list", fields{"listId": p.here}, ""},
			{"restore_list", fields{"listId": p.here}, "Press conference"},
		} {
			p.ada.Must(change.operation, change.in)
			for name := range reads {
				want := 200
				if name == "get_card" && change.operation == "update_list" {
					want = 304 // a card does not contain the name of its list
				}
				if status, body := read(name); status != want || !strings.Contains(body, change.want) {
					t.Errorf("after %s, %s: got status %d, body %s; want %d and %q", change.operation, name, status, body, want, change.want)
				}
				if status, _ := read(name); status != 304 {
					t.Errorf("after %s, the second %s: got status %d, want 304", change.operation, name, status)
				}
			}
		}
		for filter, cached := range map[string]bool{"@me": true, "due:today": true, "is:overdue": false} {
			if a := reader.Must("list_cards", fields{"boardId": p.from, "q": filter}); strings.HasPrefix(a.Header.Get("ETag"), "W/") != cached {
				t.Errorf("list_cards with %s: got the entity tag %q, want a weak one: %v", filter, a.Header.Get("ETag"), cached)
			}
		}
		if a := reader.CallWith("get_card", reads["get_card"], http.Header{"If-None-Match": {`"other", ` + tags["get_card"]}}); a.Status != 304 {
			t.Errorf("several tags: got status %d, want 304", a.Status)
		}
		p.ada.Must("remove_board_member", fields{"boardId": p.from, "userId": p.bob.ID})
		for name := range reads {
			if status, body := read(name); status != 404 {
				t.Errorf("after the person lost access, %s: got status %d, body %s; want 404", name, status, body)
			}
		}
	})
}

// TestCachedResponsesAreBounded reads more responses than the memory for cached responses can hold.
func TestCachedResponsesAreBounded(t *testing.T) {
	t.Parallel()
	for name, memory := range map[string]board.Bytes{"little": 64 << 10, "none": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.BothWith(t, apptest.Options{CacheSize: memory}, func(t *testing.T, s *apptest.Service) {
				p := newPair(s, "private", "private")
				ids := []string{p.card}
				for i := range 30 {
					ids = append(ids, p.make("create_card", fields{"listId": p.here, "title": fmt.Sprint("Card ", i),
						"description": strings.Repeat("An okapi. ", 600)}))
				}
				for range 2 {
					for i, id := range ids[1:] {
						if got := p.bob.Must("get_card", fields{"cardId": id}).Text("title"); got != fmt.Sprint("Card ", i) {
							t.Errorf("card %d has the title %q, want Card %d", i, got, i)
						}
					}
				}
				if cached := s.DB.CachedBytes(); cached > max(0, memory) {
					t.Errorf("got %d bytes of cached responses, want at most %d", cached, memory)
				}
			})
		})
	}
}
