package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// writers is a group of eight goroutines that call a function until they are stopped.
type writers struct {
	done chan struct{}
	wg   sync.WaitGroup
}

func startWriters(write func(random *rand.Rand)) *writers {
	c := &writers{done: make(chan struct{})}
	for i := range 8 {
		random := rand.New(rand.NewPCG(11, uint64(i)))
		c.wg.Go(func() {
			for {
				select {
				case <-c.done:
					return
				default:
					write(random)
				}
			}
		})
	}
	return c
}

func (c *writers) stop() { close(c.done); c.wg.Wait() }

// readPages reads all pages of a list and calls between after each page but the last. It returns the
// IDs that are in wanted, in the order in which the pages contain them.
func readPages(p *apptest.Person, name string, in fields, wanted []string, between func(page int)) (seen []string) {
	p.T.Helper()
	isWanted := map[string]bool{}
	for _, id := range wanted {
		isWanted[id] = true
	}
	for page := 1; ; page++ {
		a := p.Must(name, in)
		ids := a.Each("id")
		if limit := in["limit"].(int); len(ids) > limit || a.Next != "" && len(ids) != limit {
			p.T.Errorf("%s: got a page of %d records, want %d, or fewer on the last page", name, len(ids), limit)
		}
		for _, id := range ids {
			if isWanted[id] {
				seen = append(seen, id)
			}
		}
		if a.Next == "" {
			return seen
		}
		in = with(in, "cursor", a.Next)
		between(page)
	}
}

// forceRerank gives two new cards ranks of almost the maximum length and creates a card between
// them, so that the list is re-ranked.
func forceRerank(p *apptest.Person, listID string) {
	p.T.Helper()
	var made [2]string
	for i := range made {
		made[i] = p.Must("create_card", fields{"listId": listID, "title": "noise"}).ID()
	}
	before := epoch(p.Service, listID)
	p.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		for i, id := range made {
			card, err := tx.Card(ctx, id, board.Unarchive)
			if err != nil {
				return err
			}
			// A rank that extends another one sorts directly after it.
			card.Rank += strings.Repeat("V", 55+i)
			if i == 1 {
				first, err := tx.Card(ctx, made[0], board.Unarchive)
				if err != nil {
					return err
				}
				card.Rank = first.Rank + "V"
			}
			if err := tx.UpdateCardState(ctx, &card); err != nil {
				return err
			}
		}
		return nil
	})
	p.Must("create_card", fields{"listId": listID, "title": "noise", "position": fields{"after": made[0]}})
	if epoch(p.Service, listID) == before {
		p.T.Error("the list was not re-ranked, so this test proves nothing")
	}
}

// A cursor stays valid for two days after its list was re-ranked. Later, it is rejected. The rank in it
// is never mistaken for one of the new ranks.
func TestCursorExpiresAfterReranking(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		b, lists, all := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 1, 6)
		cards := all[lists[0]]
		in := fields{"boardId": b, "limit": 2}
		rest := func(cursor string) []string {
			return readPages(ada, "list_cards", with(in, "cursor", cursor), cards, func(int) {})
		}
		old := ada.Must("list_cards", in).Next
		forceRerank(ada, lists[0])
		if got := rest(old); !slices.Equal(got, cards[2:]) {
			t.Errorf("after re-ranking: got cards %v, want %v", got, cards[2:])
		}
		s.Clock.Advance(49 * time.Hour)
		if _, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil {
			t.Fatal(err)
		}
		ada.Refused(board.CodeInvalidRequest, "list_cards", with(in, "cursor", old))
		fresh := ada.Must("list_cards", in).Next
		if got := rest(fresh); !slices.Equal(got, cards[2:]) {
			t.Errorf("with a new cursor: got cards %v, want %v", got, cards[2:])
		}
		forceRerank(ada, lists[0])
		if got := rest(fresh); !slices.Equal(got, cards[2:]) {
			t.Errorf("after re-ranking again: got cards %v, want %v", got, cards[2:])
		}
		ada.Refused(board.CodeInvalidRequest, "list_cards", with(in, "cursor", old))
	})
}

// With any page size, each unchanged card appears once and in order, even if other cards are created,
// moved and archived and lists are re-ranked between the pages.
func TestPagingCardsWhileOthersWrite(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		boardID, lists, cards := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 3, 4)
		var stable []string
		for _, l := range lists {
			stable = append(stable, cards[l]...)
		}
		byTitle := slices.Clone(stable) // the titles and the IDs have the same order
		for limit := 1; limit <= 7; limit++ {
			for _, sort := range []string{"position", "title", "-created"} {
				noise := newNoise(ada, boardID, lists, stable)
				want := stable
				switch sort {
				case "title":
					want = byTitle
				case "-created":
					want = slices.Clone(stable)
					slices.Reverse(want)
				}
				writers := startWriters(noise.write)
				in := fields{"boardId": boardID, "limit": limit, "sort": sort, "view": "compact"}
				seen := readPages(ada, "list_cards", in, stable,
					func(page int) {
						if sort == "position" && page%5 == 1 && page < 30 {
							forceRerank(ada, lists[page%3])
						}
						if page > 40 { // otherwise the pages might never end
							noise.stopCreating()
						}
					})
				writers.stop()
				noise.clear()
				if !slices.Equal(seen, want) {
					t.Errorf("limit %d, sorted by %s: got\n%v, want\n%v", limit, sort, seen, want)
				}
			}
		}
		if got, want := replayed(t, ada, boardID, lists), orderOf(ada, boardID, lists); got.String() != want.String() {
			t.Errorf("order from replayed changes: got\n%swant\n%s", got, want)
		}
	})
}

// noise is the set of cards that the writers create, move and archive while the test reads pages.
type noise struct {
	p       *apptest.Person
	board   string
	lists   []string
	stable  []string
	mu      sync.Mutex
	cards   []string
	stopped bool // the writers only archive cards
}

func newNoise(p *apptest.Person, boardID string, lists, stable []string) *noise {
	return &noise{p: p, board: boardID, lists: lists, stable: stable}
}

func (n *noise) stopCreating() { n.mu.Lock(); n.stopped = true; n.mu.Unlock() }

// pick returns the ID of one of the cards, or "" if there are none, the number of cards, and whether
// creating has been stopped.
func (n *noise) pick(random *rand.Rand) (id string, open int, stopped bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.cards) > 0 {
		id = n.cards[random.IntN(len(n.cards))]
	}
	return id, len(n.cards), n.stopped
}

func (n *noise) write(random *rand.Rand) {
	card, open, stopped := n.pick(random)
	list := n.lists[random.IntN(len(n.lists))]
	position := []any{"top", "bottom"}[random.IntN(2)]
	if card != "" && random.IntN(2) == 0 {
		position = fields{"after": card}
	}
	var a apptest.Response
	switch {
	case stopped || open > 30:
		if card == "" {
			return
		}
		a = n.p.Call("archive_card", fields{"cardId": card})
		n.mu.Lock()
		n.cards = slices.DeleteFunc(n.cards, func(c string) bool { return c == card })
		n.mu.Unlock()
	case open < 10 || random.IntN(3) == 0:
		if a = n.p.Call("create_card", fields{"listId": list, "title": fmt.Sprint("noise ", random.IntN(100)),
			"position": position}); a.Status == 201 {
			n.mu.Lock()
			n.cards = append(n.cards, a.ID())
			n.mu.Unlock()
		}
	default:
		a = n.p.Call("move_card", fields{"cardId": card, "listId": list, "position": position})
	}
	if a.Status/100 == 5 {
		n.p.T.Errorf("writer: got status %d, body %s; want no server error", a.Status, a.Raw)
	}
}

// clear archives the writers' cards, so that the next list is short.
func (n *noise) clear() {
	for _, id := range n.p.All("list_cards", "id", fields{"boardId": n.board, "limit": 200}) {
		if !slices.Contains(n.stable, id) {
			n.p.Must("archive_card", fields{"cardId": id})
		}
	}
}

func TestPagingOtherListsWhileOthersWrite(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		boardID, lists, _ := newBoardWithCards(ada, workspace, 1, 1)
		card := ada.All("list_cards", "id", fields{"boardId": boardID})[0]
		boards := []string{boardID}
		var mine []string
		for i := range 8 {
			boards = append(boards,
				ada.Must("create_board", fields{"workspaceId": workspace, "name": fmt.Sprint("Board ", i)}).ID())
			mine = append(mine, ada.Must("create_card",
				fields{"listId": lists[0], "title": "Mine", "assignees": []string{ada.ID},
					"due": fields{"dueDate": fmt.Sprintf("2026-12-%02d", i+1)}}).ID())
			ada.Must("add_comment", fields{"cardId": card, "text": fmt.Sprint("Comment ", i)})
		}
		stable := map[string][]string{
			"list_boards": boards, "list_my_cards": mine,
			"list_comments":       ada.All("list_comments", "id", fields{"cardId": card, "limit": 200}),
			"list_board_activity": ada.All("list_board_activity", "id", fields{"boardId": boardID, "limit": 200}),
			"list_board_changes":  ada.All("list_board_changes", "id", fields{"boardId": boardID, "limit": 200}),
		}
		in := map[string]fields{"list_boards": {"workspaceId": workspace}, "list_my_cards": {},
			"list_comments": {"cardId": card}, "list_board_activity": {"boardId": boardID},
			"list_board_changes": {"boardId": boardID}}
		var budget sync.Mutex
		for limit := 1; limit <= 7; limit++ {
			for name, want := range stable {
				left := 60 // a limit on writes, so that the pages end
				writers := startWriters(func(random *rand.Rand) {
					budget.Lock()
					left--
					more := left >= 0
					budget.Unlock()
					if !more {
						return
					}
					var a apptest.Response
					switch name {
					case "list_boards":
						if a = ada.Call("create_board", fields{"workspaceId": workspace, "name": "noise"}); a.Status == 201 {
							a = ada.Call("archive_board", fields{"boardId": a.ID()})
						}
					case "list_my_cards":
						due := fields{"dueDate": fmt.Sprintf("2026-12-%02d", 1+random.IntN(31))}
						if a = ada.Call("create_card",
							fields{"listId": lists[0], "title": "noise", "assignees": []string{ada.ID}, "due": due}); a.Status == 201 {
							a = ada.Call("archive_card", fields{"cardId": a.ID()})
						}
					default:
						if a = ada.Call("add_comment", fields{"cardId": card, "text": "noise"}); a.Status == 201 {
							a = ada.Call("delete_comment", fields{"commentId": a.ID()})
						}
					}
					if a.Status/100 != 2 {
						t.Errorf("writer: got status %d, body %s; want success", a.Status, a.Raw)
					}
				})
				seen := readPages(ada, name, with(in[name], "limit", limit), want, func(int) {})
				writers.stop()
				if !slices.Equal(seen, want) {
					t.Errorf("%s with limit %d: got\n%v, want\n%v", name, limit, seen, want)
				}
			}
		}
	})
}

// In every sort order, pages of any size give the same order as one large page. Titles are sorted, and
// cards without a due date come after all others.
func TestPagingInEverySortOrder(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		boardID, lists, _ := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 2, 0)
		for i, c := range []fields{
			{"title": "b", "due": fields{"dueDate": "2026-05-02"}},
			{"title": "B", "due": fields{"dueDate": "2026-05-01", "dueTime": "10:00", "timeZone": "Europe/Berlin"}},
			{"title": "a"}, {"title": "ä", "due": fields{"dueDate": "2026-05-01"}},
			{"title": "a", "due": fields{"startDate": "2026-04-01"}},
			{"title": "c", "due": fields{"dueDate": "2026-05-01", "dueTime": "09:00", "timeZone": "Europe/Berlin"}},
			{"title": "Z", "due": fields{"startDate": "2026-04-01"}},
			{"title": "_", "due": fields{"startDate": "2026-03-01", "startTime": "08:00", "timeZone": "UTC"}},
			{"title": "z", "due": fields{"dueDate": "2026-05-02"}},
		} {
			ada.Must("create_card", with(with(c, "listId", lists[i%2]), "assignees", []string{ada.ID}))
		}
		for _, list := range []struct {
			name string
			in   fields
		}{{"list_cards", fields{"boardId": boardID}}, {"list_my_cards", fields{}}} {
			for _, by := range []string{"", "position", "due", "start", "created", "updated", "title"} {
				for _, sort := range []string{by, "-" + by} {
					in := list.in
					if by != "" {
						in = with(in, "sort", sort)
					} else if sort == "-" {
						continue
					}
					whole := ada.Must(list.name, with(in, "limit", 200)).Each("id")
					if len(whole) != 9 {
						t.Fatalf("%s %v: got %d cards, want 9", list.name, in, len(whole))
					}
					for limit := 1; limit <= 9; limit++ {
						if got := readPages(ada, list.name, with(in, "limit", limit), whole, func(int) {}); !slices.Equal(got, whole) {
							t.Errorf("%s by %q with limit %d: got\n%v, want\n%v", list.name, sort, limit, got, whole)
						}
					}
					if by == "title" {
						titles := ada.Must(list.name, in).Each("title")
						if sort != by {
							slices.Reverse(titles)
						}
						if !slices.IsSorted(titles) {
							t.Errorf("%s by %s: got titles %q, want them sorted", list.name, sort, titles)
						}
					}
					if by == "due" { // cards without a date come last in both directions
						due := ada.Must(list.name, in).Each("dueDate")
						if slices.Index(due, "<nil>") != 5 {
							t.Errorf("%s by %s: got dates %v, want five dates, and then the cards without one", list.name, sort, due)
						}
					}
				}
			}
		}
	})
}
