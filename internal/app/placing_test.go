package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// cardOrder is a model of the open cards of a board: the ids of each list's cards in order.
type cardOrder map[string][]string

// put moves a card to a position in a list, or adds it there.
func (m cardOrder) put(t interface{ Fatalf(string, ...any) }, card, list string, position any) {
	m.remove(card)
	cards, at := m[list], len(m[list])
	switch p := position.(type) {
	case string:
		if p == "top" {
			at = 0
		}
	case map[string]any:
		before, isBefore := p["before"].(string)
		after, _ := p["after"].(string)
		if at = slices.Index(cards, before+after); at < 0 {
			t.Fatalf("the position %v refers to a card that is not in the list", p)
		}
		if !isBefore {
			at++
		}
	}
	m[list] = slices.Insert(slices.Clone(cards), at, card)
}

func (m cardOrder) remove(card string) {
	for list, cards := range m {
		m[list] = slices.DeleteFunc(slices.Clone(cards), func(c string) bool { return c == card })
	}
}

func (m cardOrder) listOf(card string) string {
	for list, cards := range m {
		if slices.Contains(cards, card) {
			return list
		}
	}
	return ""
}

// orderOf returns the order of a board's cards according to list_cards.
func orderOf(p *apptest.Person, boardID string, lists []string) cardOrder {
	m := cardOrder{}
	ids := p.All("list_cards", "id", fields{"boardId": boardID, "limit": 200})
	in := p.All("list_cards", "listId", fields{"boardId": boardID, "limit": 200})
	for _, l := range lists {
		m[l] = []string{}
	}
	for i, id := range ids {
		m[in[i]] = append(m[in[i]], id)
	}
	if !slices.IsSortedFunc(in, func(a, b string) int { return slices.Index(lists, a) - slices.Index(lists, b) }) {
		p.T.Errorf("the cards are not grouped by list: %v", in)
	}
	return m
}

func (m cardOrder) String() string {
	var b strings.Builder
	for _, l := range slices.Sorted(func(yield func(string) bool) {
		for l := range m {
			if !yield(l) {
				return
			}
		}
	}) {
		fmt.Fprintf(&b, "%s: %s\n", l, strings.Join(m[l], " "))
	}
	return b.String()
}

// replayed returns the card order that a client of list_board_changes computes from the recorded
// changes. It also checks that the versions have no gaps and end at the board's version.
func replayed(t *testing.T, p *apptest.Person, boardID string, lists []string) cardOrder {
	t.Helper()
	m := cardOrder{}
	for _, l := range lists {
		m[l] = []string{}
	}
	version, in := int64(0), fields{"boardId": boardID, "since": 0, "limit": 200}
	for {
		a := p.Must("list_board_changes", in)
		for _, item := range a.Data.([]any) {
			e := item.(map[string]any)
			version++
			if int64(e["boardVersion"].(float64)) != version {
				t.Fatalf("a change has version %v, want %d", e["boardVersion"], version)
			}
			card, _ := e["cardId"].(string)
			changes := e["changes"].(map[string]any)
			if kind := e["type"].(string); kind == "card.archived" {
				m.remove(card)
			} else if at, ok := changes["position"].(map[string]any); ok && card != "" {
				m.put(t, card, e["listId"].(string), at["to"])
			}
		}
		if a.Next == "" {
			break
		}
		in = with(in, "cursor", a.Next)
	}
	if have := int64(p.Must("get_board", fields{"boardId": boardID}).Get("version").(float64)); have != version {
		t.Errorf("the board has version %d and %d recorded changes, want equal numbers", have, version)
	}
	if activity := p.All("list_board_activity", "boardVersion",
		fields{"boardId": boardID, "limit": 200}); len(activity) != int(version) {
		t.Errorf("the activity has %d entries, want %d, the version of the board", len(activity), version)
	}
	return m
}

// newBoardWithCards creates a board with lists and cards.
func newBoardWithCards(p *apptest.Person, workspace string, lists, cards int) (boardID string, listIDs []string, m cardOrder) {
	boardID = p.Must("create_board", fields{"workspaceId": workspace, "name": "Wall"}).ID()
	m = cardOrder{}
	for i := range lists {
		id := p.Must("create_list", fields{"boardId": boardID, "name": fmt.Sprint("List ", i)}).ID()
		listIDs, m[id] = append(listIDs, id), []string{}
		for j := range cards {
			m[id] = append(m[id], p.Must("create_card", fields{"listId": id, "title": fmt.Sprint("Card ", i, " ", j)}).ID())
		}
	}
	return boardID, listIDs, m
}

// ranks returns the ranks of all cards of a list, including archived cards.
func ranks(s *apptest.Service, boardID, listID string) (out []string) {
	s.T.Helper()
	ctx := context.Background()
	err := s.DB.Read(ctx, board.System(), func(v *store.View) error {
		if _, err := v.Board(ctx, boardID, board.View); err != nil {
			return err
		}
		page := store.CardPage{BoardID: boardID, Limit: 100_000}
		page.Query.Archived = "true"
		cards, _, err := v.Cards(ctx, page)
		for _, c := range cards {
			if c.ListID == listID {
				out = append(out, c.Rank)
			}
		}
		return err
	})
	if err != nil {
		s.T.Fatalf("read the ranks: %v", err)
	}
	return out
}

// epoch returns how many times a list was re-ranked.
func epoch(s *apptest.Service, parentID string) (n int64) {
	ctx := context.Background()
	if err := s.DB.Read(ctx, board.System(), func(v *store.View) error {
		m, err := v.CurrentCursor(ctx, parentID, store.RankCursor{})
		n = m.Epoch
		return err
	}); err != nil {
		s.T.Fatalf("read the epoch: %v", err)
	}
	return n
}

func TestCardOrderMatchesTheModel(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		rapid.Check(t, func(rt *rapid.T) {
			boardID, lists, m := newBoardWithCards(ada, workspace, 2, rapid.IntRange(0, 3).Draw(rt, "cards"))
			var archived []string
			rt.Repeat(map[string]func(*rapid.T){
				"create": func(rt *rapid.T) {
					list := rapid.SampledFrom(lists).Draw(rt, "list")
					at := drawPosition(rt, m[list], "")
					a := ada.Must("create_card", fields{"listId": list, "title": "New", "position": at})
					m.put(rt, a.ID(), list, at)
				},
				"move": func(rt *rapid.T) {
					card := drawCard(rt, m)
					list := rapid.SampledFrom(lists).Draw(rt, "list")
					at := drawPosition(rt, m[list], card)
					ada.Must("move_card", fields{"cardId": card, "listId": list, "position": at})
					m.put(rt, card, list, at)
				},
				"archive": func(rt *rapid.T) {
					card := drawCard(rt, m)
					ada.Must("archive_card", fields{"cardId": card})
					m.remove(card)
					archived = append(archived, card)
				},
				"restore": func(rt *rapid.T) {
					if len(archived) == 0 {
						rt.Skip("nothing is archived")
					}
					at := rapid.IntRange(0, len(archived)-1).Draw(rt, "archived")
					a := ada.Must("restore_card", fields{"cardId": archived[at]})
					archived = slices.Delete(archived, at, at+1)
					// The list may have changed since the card was archived, so the server chooses the
					// position.
					m = replayed(t, ada, boardID, lists)
					if m.listOf(a.ID()) != a.Text("listId") {
						rt.Fatalf("the restored card is in list %q of the model, but in %q in the response", m.listOf(a.ID()), a.Text("listId"))
					}
				},
				"": func(rt *rapid.T) {
					if got := orderOf(ada, boardID, lists); got.String() != m.String() {
						rt.Fatalf("the order is\n%swant\n%s", got, m)
					}
				},
			})
			if got := replayed(t, ada, boardID, lists); got.String() != m.String() {
				rt.Fatalf("the replayed order is\n%swant\n%s", got, m)
			}
		})
	})
}

func drawCard(rt *rapid.T, m cardOrder) string {
	var all []string
	for _, cards := range m {
		all = append(all, cards...)
	}
	if len(all) == 0 {
		rt.Skip("there is no card")
	}
	slices.Sort(all) // ids ascend in the order of creation
	return rapid.SampledFrom(all).Draw(rt, "card")
}

// drawPosition draws a position in a list with the given cards. It is never before or after the card
// with the ID but.
func drawPosition(rt *rapid.T, cards []string, but string) any {
	cards = slices.DeleteFunc(slices.Clone(cards), func(c string) bool { return c == but })
	kinds := []string{"top", "bottom", "before", "after"}
	if len(cards) == 0 {
		kinds = kinds[:2]
	}
	kind := rapid.SampledFrom(kinds).Draw(rt, "position")
	if kind == "top" || kind == "bottom" {
		return kind
	}
	return map[string]any{kind: rapid.SampledFrom(cards).Draw(rt, "neighbor")}
}

func TestConcurrentMovesKeepTheOrder(t *testing.T) {
	t.Parallel()
	const movers, moves = 16, 12
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		boardID, lists, m := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 2, 12)
		all := slices.Concat(m[lists[0]], m[lists[1]])
		var wg sync.WaitGroup
		for mover := range movers {
			random := rand.New(rand.NewPCG(7, uint64(mover)))
			wg.Go(func() {
				for range moves {
					card, neighbor := all[random.IntN(len(all))], all[random.IntN(len(all))]
					list := lists[random.IntN(2)]
					position := []any{"top", "bottom", fields{"before": neighbor}, fields{"after": neighbor}}[random.IntN(4)]
					a := ada.Call("move_card", fields{"cardId": card, "listId": list, "position": position})
					// The neighbor may have moved to the other list, or be the card itself.
					if a.Status != http.StatusOK && a.Code != board.CodeInvalidRequest {
						t.Errorf("move: got status %d, body %s; want 200 or invalid_request", a.Status, a.Raw)
					}
				}
			})
		}
		wg.Wait()
		got := orderOf(ada, boardID, lists)
		if have := slices.Sorted(slices.Values(slices.Concat(got[lists[0]], got[lists[1]]))); !slices.Equal(have,
			slices.Sorted(slices.Values(all))) {
			t.Errorf("the board has the cards %v, want each of %v once", have, all)
		}
		for _, l := range lists {
			if r := ranks(s, boardID, l); len(slices.Compact(slices.Clone(r))) != len(r) || !slices.IsSorted(r) {
				t.Errorf("the ranks of a list are %v, want them sorted and distinct", r)
			}
		}
		if again := replayed(t, ada, boardID, lists); again.String() != got.String() {
			t.Errorf("the replayed order is\n%swant\n%s", again, got)
		}
		for i, l := range ada.Must("get_board", fields{"boardId": boardID}).Data.(map[string]any)["lists"].([]any) {
			if n := l.(map[string]any)["openCards"].(float64); int(n) != len(got[lists[i]]) {
				t.Errorf("list %d reports %v open cards, want %d", i, n, len(got[lists[i]]))
			}
		}
	})
}

// The ranks of a thousand cards inserted into one gap would exceed the maximum length, so the
// list is re-ranked. The order of the cards does not change.
func TestManyCardsInsertedIntoOneGap(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		boardID, lists, m := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 1, 2)
		list, lo, hi := lists[0], m[lists[0]][0], m[lists[0]][1]
		for i := range 1000 {
			at := map[string]any{"after": lo}
			if i%2 == 1 {
				at = map[string]any{"before": hi}
			}
			card := ada.Must("create_card", fields{"listId": list, "title": fmt.Sprint("Card ", i), "position": at}).ID()
			m.put(t, card, list, at)
			if i%2 == 0 { // the gap is now between this card and the previous one
				lo = card
			} else {
				hi = card
			}
		}
		if got := orderOf(ada, boardID, lists); got.String() != m.String() {
			t.Errorf("the order is\n%swant\n%s", got, m)
		}
		if again := replayed(t, ada, boardID, lists); again.String() != m.String() {
			t.Errorf("the replayed order is\n%swant\n%s", again, m)
		}
		if n := epoch(s, list); n == 0 {
			t.Error("the list was never re-ranked, so the test checked nothing")
		}
		for _, r := range ranks(s, boardID, list) {
			if len(r) > board.RankLimit+1 {
				t.Errorf("a rank has %d characters after re-ranking, want at most %d", len(r), board.RankLimit+1)
			}
		}
	})
}

// The activity contains the former position of a card, a list or an item that moved.
func TestActivityContainsFormerPosition(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		var cards []string
		for _, title := range []string{"First", "Second", "Third"} {
			cards = append(cards, w.make("create_card", fields{"listId": w.doing, "title": title}))
		}
		first, second, third := cards[0], cards[1], cards[2]
		items := w.owner.Must("list_checklists", fields{"cardId": w.card}).Data.([]any)[0].(map[string]any)["items"].([]any)
		last := items[1].(map[string]any)["id"]
		for i, c := range []struct {
			name string
			in   fields
			want any
		}{
			{"move_card", fields{"cardId": third, "listId": w.doing, "position": "top"}, fields{"after": second}},
			{"move_card", fields{"cardId": third, "listId": w.list}, "top"},
			{"move_card", fields{"cardId": second, "listId": w.list, "position": "top"}, fields{"after": first}},
			{"move_list", fields{"listId": w.doing, "position": "top"}, fields{"after": w.list}},
			{"update_checklist_item", fields{"itemId": last, "position": "top"}, fields{"after": items[0].(map[string]any)["id"]}},
		} {
			w.owner.Must(c.name, c.in)
			got := w.owner.Must("list_board_activity", fields{"boardId": w.board, "limit": 1}).Get("0.changes.position.from")
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%d, %s: got the former position %v, want %v", i, c.name, got, c.want)
			}
		}
	})
}
