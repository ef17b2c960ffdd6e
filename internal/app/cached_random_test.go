package app_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"cardwall/internal/apptest"
)

// cacheWorld makes random changes on three servers that cache responses, and compares their responses
// with those of a server without a cache.
type cacheWorld struct {
	*pair
	t       *testing.T
	random  *rand.Rand
	servers []*apptest.Service
	fresh   *apptest.Service
	people  []*apptest.Person
	cards   []string
	labels  [2][]string // of the two boards
	lists   [2]string
	boards  [2]string
	comment string            // the last comment that was added
	link    string            // the last link that was added
	tags    map[string]string // entity tags by server, person and request
	same    int               // responses with status 304
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func newCacheWorld(t *testing.T, s *apptest.Service, others ...*apptest.Service) *cacheWorld {
	w := &cacheWorld{pair: newPair(s, "private", "private"), t: t, random: rand.New(rand.NewPCG(7, 11)),
		servers: append(others, s), tags: map[string]string{}}
	w.people = []*apptest.Person{w.ada, w.bob, w.cyd}
	w.boards, w.lists = [2]string{w.from, w.to}, [2]string{w.here, w.there}
	w.labels = [2][]string{{w.bug, w.idea}, {w.bugThere}}
	w.cards = []string{w.card, w.listed, w.behind}
	return w
}

// change makes a random change on a random server. The server may reject the change, for example
// because a card is archived.
func (w *cacheWorld) change() {
	at := pick(w.random, w.servers)
	ada, bob := w.ada.At(at), w.bob.At(at)
	card, side := pick(w.random, w.cards), w.random.IntN(2)
	name := string(rune('a'+w.random.IntN(5))) + "-name"
	switch w.random.IntN(26) {
	case 0:
		ada.Call("update_card", fields{"cardId": card, "title": name, "done": w.random.IntN(2) == 0})
	case 1:
		if a := bob.Call("add_comment", fields{"cardId": card, "text": name}); a.Status == http.StatusCreated {
			w.comment = a.ID()
		}
	case 2:
		ada.Call("set_card_labels", fields{"cardId": card, "add": []string{pick(w.random, w.labels[side])}})
	case 3:
		ada.Call("set_card_labels", fields{"cardId": card, "remove": []string{pick(w.random, w.labels[side])}})
	case 4:
		ada.Call("set_card_assignees", fields{"cardId": card, "add": []string{pick(w.random, w.people).ID}})
	case 5:
		ada.Call("set_card_assignees", fields{"cardId": card, "remove": []string{pick(w.random, w.people).ID}})
	case 6:
		ada.Call("move_card_to_board", fields{"cardId": card, "listId": w.lists[side]})
	case 7:
		ada.Call("move_card", fields{"cardId": card, "listId": w.lists[side], "position": "top"})
	case 8:
		ada.Call("update_label", fields{"labelId": pick(w.random, w.labels[side]), "name": name})
	case 9:
		pick(w.random, w.people).At(at).Call("update_profile", fields{"name": name})
	case 10:
		ada.Call("archive_card", fields{"cardId": card})
	case 11:
		ada.Call("restore_card", fields{"cardId": card})
	case 12:
		ada.Call("remove_board_member", fields{"boardId": w.boards[side], "userId": w.bob.ID})
	case 13:
		ada.Call("share_board", fields{"boardId": w.boards[side], "userId": w.bob.ID, "role": pick(w.random, []string{"viewer", "editor"})})
	case 14:
		if a := ada.Call("create_card", fields{"listId": w.lists[side], "title": name}); a.Status == http.StatusCreated {
			w.cards = append(w.cards, a.ID())
		}
	case 15:
		ada.Call("set_card_due", fields{"cardId": card, "dueDate": "2026-12-0" + string(rune('1'+w.random.IntN(9)))})
	case 16:
		ada.Call("add_checklist", fields{"cardId": card, "title": name, "items": []string{"one", "two"}})
	case 17:
		bob.Call("edit_comment", fields{"commentId": w.comment, "text": name})
	case 18:
		bob.Call("delete_comment", fields{"commentId": w.comment})
	case 19:
		ada.Call("archive_list", fields{"listId": w.lists[side]})
	case 20:
		ada.Call("restore_list", fields{"listId": w.lists[side]})
	case 21:
		ada.Call("update_list", fields{"listId": w.lists[side], "name": name})
	case 22:
		ada.Call("post_status_update", fields{"boardId": w.boards[side], "status": pick(w.random, []string{"on_track", "at_risk"})})
	case 23:
		if a := ada.Call("add_attachment", fields{"cardId": card, "url": "https://example.org/" + name}); a.Status == http.StatusCreated {
			w.link = a.ID()
		}
	case 24:
		zone := pick(w.random, []string{"Pacific/Auckland", "America/Lima"})
		pick(w.random, w.people).At(at).Call("update_profile", fields{"timeZone": zone})
	case 25:
		ada.Call("update_attachment", fields{"attachmentId": w.link, "name": name})
	}
}

// filters returns the filters of card lists that are compared. Some contain names that change gives.
func (w *cacheWorld) filters() []fields {
	return []fields{
		{}, {"assignee": "me"}, {"assignee": w.bob.ID}, {"assigneeNot": "bob"}, {"creator": "me"}, {"label": w.bug},
		{"q": "label:b-name"},
		{"done": "true"}, {"archived": "only"}, {"archived": "true", "sort": "-updated"}, {"list": w.lists[0]},
		{"q": "list:a-name,b-name,c-name"},
		{"due": "month"}, {"due": "overdue"}, {"updatedFrom": "2026-01-01"}, {"q": "updated:today"}, {"q": "name"}, {"q": "a*,b*,c*"},
		{"q": "-comment:name"}, {"q": "status:at_risk"}, {"q": "commenter:me"}, {"q": "checklist:one"}, {"q": "attachment:name"},
		{"has": "comment,attachment"}, {"no": "comment"}, {"checklist": "incomplete"},
	}
}

// compare sends a random request to a server with a cache and to the server without a cache, three times.
// The request to the server with a cache has the entity tag of that server's last response to the same
// request.
func (w *cacheWorld) compare(step int) {
	server, person := w.random.IntN(len(w.servers)), pick(w.random, w.people)
	name, in := "get_card", fields{"cardId": pick(w.random, w.cards)}
	switch w.random.IntN(5) {
	case 0:
		name, in = "list_cards", pick(w.random, w.filters())
		in["boardId"], in["limit"] = pick(w.random, w.boards[:]), 2+w.random.IntN(2)
	case 1:
		name = pick(w.random, []string{"open_board", "list_lists", "list_labels"})
		in = fields{"boardId": pick(w.random, w.boards[:])}
	case 2:
		name = pick(w.random, []string{"list_comments", "list_checklists"})
	}
	for range 3 {
		w.compareOne(step, server, person, name, in)
	}
}

func (w *cacheWorld) compareOne(step, server int, person *apptest.Person, name string, in fields) {
	key := fmt.Sprint(server, person.ID, name, in)
	got := person.At(w.servers[server]).CallWith(name, in, http.Header{"If-None-Match": {w.tags[key]}})
	want := person.At(w.fresh).CallWith(name, in, nil)
	switch {
	case got.Status == http.StatusNotModified:
		w.same++
		if tag := want.Header.Get("ETag"); want.Status != http.StatusOK || tag != w.tags[key] {
			w.t.Errorf("step %d: %s %v by %s: got 304 for the tag %s, want status %d and the tag %s", step, name, in, person.Name,
				w.tags[key], want.Status, tag)
		}
	case got.Status != want.Status || got.Status == http.StatusOK && string(got.Raw) != string(want.Raw):
		w.t.Errorf("step %d: %s %v by %s: got status %d, body\n%s\nwant status %d, body\n%s", step, name, in, person.Name,
			got.Status, got.Raw, want.Status, want.Raw)
	case got.Status == http.StatusOK:
		w.tags[key] = got.Header.Get("ETag")
	}
}

// TestCachedResponsesEqualFreshOnes makes random changes on three servers with a cache. After each
// change, these servers return the same responses as a server without a cache. Callers who have lost
// access get the same errors.
func TestCachedResponsesEqualFreshOnes(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newCacheWorld(t, s, s.Node(), s.Node())
		w.fresh = s.Uncached()
		for step := range 200 {
			w.change()
			for range 2 {
				w.compare(step)
			}
		}
		if w.same < 20 || len(w.tags) < 60 {
			t.Errorf("got %d responses with status 304 and %d different requests, want at least 20 and 60", w.same, len(w.tags))
		}
	})
}

// TestCachedFiltersSeeEveryChange makes random changes. After each, two people list cards with each
// filter. The service compares each cached response with a new one.
func TestCachedFiltersSeeEveryChange(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newCacheWorld(t, s)
		for range 75 {
			w.change()
			for i, in := range w.filters() {
				in["boardId"] = w.from
				for _, person := range []*apptest.Person{w.ada, w.cyd} {
					key, tag := fmt.Sprint(i, person.ID), person.Call("list_cards", in).Header.Get("ETag")
					if tag != "" && tag == w.tags[key] {
						w.same++
					}
					w.tags[key] = tag
				}
			}
		}
		if w.same < 500 {
			t.Errorf("got %d responses with an unchanged tag, want at least 500", w.same)
		}
	})
}
