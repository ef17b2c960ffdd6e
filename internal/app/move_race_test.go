package app_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// If a card moves to another board, alone or with its list, only its board, list, number, labels,
// assignees and update time change.
func TestMovesKeepEverythingElse(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		rapid.Check(t, func(rt *rapid.T) {
			in := fields{"listId": p.make("create_list", fields{"boardId": p.from, "name": "Drawn"})}
			for range rapid.IntRange(1, 3).Draw(rt, "cards") {
				drawCardIn(rt, p, in["listId"].(string))
			}
			list := in["listId"].(string)
			before := cardsIn(p, p.from, list)
			to := list
			if rapid.Bool().Draw(rt, "whole list") {
				p.ada.Must("move_list_to_board", fields{"listId": list, "boardId": p.to})
			} else {
				to = p.make("create_list", fields{"boardId": p.to, "name": "Empty"})
				for _, c := range before {
					p.ada.Must("restore_card", fields{"cardId": c["id"]})
					p.ada.Must("move_card_to_board", fields{"cardId": c["id"], "listId": to})
					if c["archivedAt"] != nil {
						p.ada.Must("archive_card", fields{"cardId": c["id"]})
						c["archivedAt"] = p.ada.Must("get_card", fields{"cardId": c["id"]}).Text("archivedAt")
					}
				}
			}
			after := cardsIn(p, p.to, to)
			if len(before) != len(after) {
				rt.Fatalf("got %d cards after the move, want %d", len(after), len(before))
			}
			for i := range before {
				checkUnchanged(rt, before[i], after[i])
				if rt.Failed() {
					rt.FailNow()
				}
				if got, want := namesOf(after[i]["labels"]), slices.DeleteFunc(namesOf(before[i]["labels"]), func(n string) bool {
					return n != "Bug"
				}); !slices.Equal(got, want) {
					rt.Fatalf("got labels %v, want %v", got, want)
				}
				if got, want := namesOf(after[i]["assignees"]), slices.DeleteFunc(namesOf(before[i]["assignees"]),
					func(n string) bool { return n == "Cyd" }); !slices.Equal(got, want) {
					rt.Fatalf("got assignees %v, want %v", got, want)
				}
			}
		})
		s.CheckConsistency()
	})
}

func namesOf(v any) (out []string) {
	for _, item := range v.([]any) {
		out = append(out, item.(map[string]any)["name"].(string))
	}
	return out
}

// cardsIn returns the open and archived cards of a list, with their comments and checklists.
func cardsIn(p *pair, boardID, list string) (out []map[string]any) {
	for _, id := range p.ada.All("list_cards", "id",
		fields{"boardId": boardID, "list": list, "archived": "true", "limit": 200}) {
		c := p.ada.Must("get_card", fields{"cardId": id}).Data.(map[string]any)
		c["commentTexts"] = p.ada.All("list_comments", "text", fields{"cardId": id})
		out = append(out, c)
	}
	return out
}

func drawCardIn(rt *rapid.T, p *pair, list string) {
	in := fields{"listId": list, "title": rapid.StringMatching(`[A-Za-z]{1,12}`).Draw(rt, "title"),
		"description": rapid.StringMatching(`[a-z ]{0,20}`).Draw(rt, "description")}
	subset := func(all []string, label string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(string) bool { return rapid.Bool().Draw(rt, label) })
	}
	in["labels"] = subset([]string{p.bug, p.idea}, "label")
	in["assignees"] = subset([]string{p.ada.ID, p.bob.ID, p.cyd.ID}, "assignee")
	if rapid.Bool().Draw(rt, "due") {
		in["due"] = fields{"dueDate": "2026-12-01", "startDate": "2026-11-01"}
	}
	id := p.make("create_card", in)
	if rapid.Bool().Draw(rt, "checklist") {
		k := p.ada.Must("add_checklist", fields{"cardId": id, "title": "Steps", "items": []string{"one", "two", "three"}})
		p.ada.Must("update_checklist_item", fields{"itemId": k.Text("items.1.id"), "done": true, "position": "top"})
	}
	for range rapid.IntRange(0, 2).Draw(rt, "comments") {
		p.bob.Must("add_comment", fields{"cardId": id, "text": "Hello."})
	}
	if rapid.Bool().Draw(rt, "done") {
		p.ada.Must("update_card", fields{"cardId": id, "done": true})
	}
	if rapid.Bool().Draw(rt, "archived") {
		p.ada.Must("archive_card", fields{"cardId": id})
	}
}

// Eight writers move cards between two boards in both directions and update them. No deadlock
// occurs, and no card is lost.
func TestConcurrentMovesBetweenBoardsDoNotDeadlock(t *testing.T) {
	t.Parallel()
	const writers, moves = 8, 12
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		cards := []string{p.card, p.listed, p.behind}
		for range 5 {
			cards = append(cards, p.make("create_card", fields{"listId": p.here, "title": "More"}))
		}
		var wg sync.WaitGroup
		for writer := range writers {
			random := rand.New(rand.NewPCG(5, uint64(writer)))
			wg.Go(func() {
				for i := range moves {
					card, list := cards[random.IntN(len(cards))], []string{p.here, p.there}[(writer+i)%2]
					a := p.ada.Call("move_card_to_board", fields{"cardId": card, "listId": list, "position": "top"})
					if a.Status != http.StatusOK && a.Code != board.CodeInvalidRequest { // the card may already be on this board
						t.Errorf("move: got status %d, body %s; want 200 or invalid_request", a.Status, a.Raw)
					}
					if a := p.ada.Call("add_comment", fields{"cardId": card, "text": "Hello."}); a.Status != http.StatusCreated {
						t.Errorf("comment: got status %d, body %s; want 201", a.Status, a.Raw)
					}
					if a := p.ada.Call("update_card",
						fields{"cardId": card, "title": fmt.Sprint("Card ", writer, " ", i)}); a.Status != http.StatusOK {
						t.Errorf("update: got status %d, body %s; want 200", a.Status, a.Raw)
					}
				}
			})
		}
		wg.Wait()
		var all []string
		for _, b := range []string{p.from, p.to} {
			all = append(all, p.ada.All("list_cards", "id", fields{"boardId": b})...)
		}
		slices.Sort(all)
		if !slices.Equal(all, slices.Sorted(slices.Values(cards))) {
			t.Errorf("got cards %v on the boards, want each of %v once", all, cards)
		}
		s.CheckConsistency()
	})
}
