package mcp_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// boardResource is the content of a board resource.
type boardResource struct {
	More  string         `json:"more"`
	Board map[string]any `json:"board"`
	Lists []struct {
		ID       string  `json:"id"`
		Open     int     `json:"openCards"`
		WIPLimit int     `json:"wipLimit"`
		Included *int    `json:"includedCards"`
		Next     string  `json:"nextCursor"`
		Cards    [][]any `json:"cards"`
	} `json:"lists"`
	Labels  map[string]map[string]string `json:"labels"`
	People  map[string]string            `json:"people"`
	Columns []string                     `json:"columns"`
}

func (w *world) boardResource() (b boardResource) {
	w.T.Helper()
	text, err := json.Marshal(w.readResource(w.ada, apptest.Stateless, "service://boards/"+w.board))
	if err != nil {
		w.T.Fatal(err)
	}
	if err := json.Unmarshal(text, &b); err != nil {
		w.T.Fatal(err)
	}
	return b
}

func TestBoardResource(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		bob, namesake := w.member("Bob", "bob"), w.member("Bob", "other")
		var labels []string
		for _, name := range []string{"Bug", "Bug", ""} {
			labels = append(labels, w.ada.Must("create_label", fields{"boardId": w.board, "name": name, "color": "red"}).ID())
		}
		w.ada.Must("update_list", fields{"listId": w.list, "wipLimit": 4})
		w.ada.Must("update_card", fields{"cardId": w.card, "done": true})
		w.ada.Must("create_card", fields{"listId": w.list, "title": "Second", "labels": []string{labels[1]},
			"assignees": []string{bob, namesake}, "due": fields{"dueDate": "2026-12-01"}})
		w.ada.Must("create_card", fields{"listId": w.list, "title": "Third", "labels": []string{labels[2]},
			"assignees": []string{namesake}, "due": fields{"dueDate": "2026-12-01", "dueTime": "09:30", "timeZone": "UTC"}})

		b := w.boardResource()
		if len(b.Lists) != 1 || b.Lists[0].Open != 3 || b.Lists[0].WIPLimit != 4 || b.Lists[0].Included != nil || b.More != "" {
			t.Fatalf("got the lists %+v, more %q; want one complete list of 3 cards with the WIP limit 4", b.Lists, b.More)
		}
		if !slices.Equal(b.Columns, []string{"number", "title", "labels", "assignees", "due", "done"}) {
			t.Errorf("got the columns %q", b.Columns)
		}
		got := fmt.Sprint(b.Lists[0].Cards)
		want := fmt.Sprint([][]any{
			{1, "Press release", nil, nil, nil, true},
			{2, "Second", nameOf(b, labels[1]), []any{"Bob", "Bob (2)"}, "2026-12-01"},
			{3, "Third", "red", "Bob (2)", "2026-12-01T09:30Z"},
		})
		if got != want {
			t.Errorf("got the cards\n%s\nwant\n%s", got, want)
		}
		if len(b.Labels) != 3 || nameOf(b, labels[1]) == nameOf(b, labels[0]) || b.Labels["red"]["id"] != labels[2] ||
			b.Labels["red"]["color"] != "red" {
			t.Errorf("got the labels %v, want three different names", b.Labels)
		}
		if !maps.Equal(b.People, map[string]string{"Bob": bob, "Bob (2)": namesake}) {
			t.Errorf("got the people %v, want the two assignees", b.People)
		}
	})
}

// member adds a person with a name and an email address to the workspace.
func (w *world) member(name, email string) (id string) {
	w.T.Helper()
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		u, err := app.AddUser(ctx, tx, app.NewUser{Name: name, Email: email + "@example.com"})
		if err != nil {
			return err
		}
		id = u.ID
		return tx.SetMember(ctx, w.workspace, id, board.WorkspaceMember)
	})
	return id
}

// nameOf returns the name of a label in a board resource.
func nameOf(b boardResource, label string) string {
	for name, l := range b.Labels {
		if l["id"] == label {
			return name
		}
	}
	return "missing"
}

func TestSmallBoardResourceIsComplete(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.fillLists(1, 37, 37)
		for i := range 30 {
			w.ada.Must("create_label", fields{"boardId": w.board, "name": fmt.Sprint("Label ", i), "color": "red"})
		}
		b := w.boardResource()
		if len(b.Lists) != 3 || len(b.Lists[1].Cards) != 37 || len(b.Lists[2].Cards) != 37 || len(b.Labels) != 30 || b.More != "" {
			t.Errorf("got %d lists, %d labels, more %q; want 3 lists with all cards, 30 labels and no more",
				len(b.Lists), len(b.Labels), b.More)
		}
	})
}

// A board of 1,600 cards in unequal lists: small lists are complete, and the others have about
// the same number of cards. Each list says how to read on, and reading on returns the other
// cards and no card twice.
func TestBoardResourceSharesItsSpace(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		sizes := []int{1, 800, 779, 20}
		w.fillLists(60, sizes[1:]...)
		b := w.boardResource()
		included := 0
		for i, l := range b.Lists {
			included += len(l.Cards)
			if l.Open != sizes[i] {
				t.Errorf("list %d: got %d open cards, want %d", i, l.Open, sizes[i])
			}
			if complete := len(l.Cards) == l.Open; complete != (l.Included == nil) || complete != (l.Next == "") ||
				!complete && *l.Included != len(l.Cards) {
				t.Errorf("list %d: got %d cards, includedCards %v, cursor %q", i, len(l.Cards), l.Included, l.Next)
			}
		}
		first, second := len(b.Lists[1].Cards), len(b.Lists[2].Cards)
		if len(b.Lists) != 4 || len(b.Lists[0].Cards) != 1 || len(b.Lists[3].Cards) != 20 || first < 180 || first-second < 0 || first-second > 1 {
			t.Errorf("got %d and %d cards of the long lists, want about the same, at least 180", first, second)
		}
		for _, want := range []string{fmt.Sprintf("%d of 1600 cards", included), "list_cards with boardId, list", "nextCursor"} {
			if !strings.Contains(b.More, want) {
				t.Errorf("got more %q, want it to contain %q", b.More, want)
			}
		}
		for i, l := range b.Lists[1:3] {
			var titles []string
			for _, row := range l.Cards {
				titles = append(titles, row[1].(string))
			}
			for next := l.Next; next != ""; {
				page := w.ada.Tool("list_cards", fields{"boardId": w.board, "list": l.ID, "cursor": next, "view": "compact"})
				titles, next = append(titles, page.Each("title")...), page.Next
			}
			if all := w.ada.All("list_cards", "title", fields{"boardId": w.board, "list": l.ID}); !slices.Equal(titles, all) {
				t.Errorf("list %d: got %d cards, want all %d, each once", i+1, len(titles), len(all))
			}
		}
	})
}

func TestBoardResourceWithManyLists(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	w.fillLists(30, slices.Repeat([]int{10}, 100)...)
	b := w.boardResource()
	if len(b.Lists) != 101 {
		t.Errorf("got %d lists, want all 101", len(b.Lists))
	}
	for i, l := range b.Lists[1:] {
		if len(l.Cards) < 4 {
			t.Errorf("list %d: got %d cards, want at least 4", i+1, len(l.Cards))
		}
	}
}

// A long description, many labels and long titles leave space for cards of every included list.
func TestBoardResourceWithLongTexts(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		text := strings.Repeat(`"`, 8000) // escaped twice
		w.ada.Must("update_board", fields{"boardId": w.board, "description": text})
		w.fillLists(480, slices.Repeat([]int{9}, 12)...)
		for i := range 300 {
			w.ada.Must("create_label", fields{"boardId": w.board, "name": fmt.Sprintf("Label %d %s", i, strings.Repeat("y", 40)), "color": "red"})
		}
		b := w.boardResource()
		for i, l := range b.Lists {
			if len(l.Cards) == 0 {
				t.Errorf("list %d: got no cards", i)
			}
		}
		if len(b.Lists) != 13 || len(b.Labels) < 60 || len(b.Labels) >= 300 {
			t.Errorf("got %d lists and %d labels, want 13 lists and 60 to 299 labels", len(b.Lists), len(b.Labels))
		}
		if beginning, _ := b.Board["descriptionPart"].(string); b.Board["description"] != nil || len(beginning) < 1000 {
			t.Errorf("got the board %.300v, want descriptionPart instead of description", b.Board)
		}
		for _, want := range []string{fmt.Sprintf("%d of 300 labels", len(b.Labels)), "list_labels", "of the 8000 characters", "get_board"} {
			if !strings.Contains(b.More, want) {
				t.Errorf("got more %q, want it to contain %q", b.More, want)
			}
		}
	})
}

// maxCardTokens is the maximum number of tokens for a card in a board resource with a title of
// five words, a label, an assignee and a due date.
const maxCardTokens = 25

func TestBoardResourceTokens(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	label := w.ada.Must("create_label", fields{"boardId": w.board, "name": "Marketing", "color": "red"}).ID()
	titles := []string{"Write the press release draft", "Fix login on old phones", "Order chairs for the office",
		"Plan the autumn customer event", "Translate help pages to French"}
	person := w.member("Ada Lovelace", "lovelace")
	size := func() int {
		text, _ := w.ada.RPC(apptest.Stateless, "resources/read",
			fields{"uri": "service://boards/" + w.board}).Result["contents"].([]any)[0].(map[string]any)["text"].(string)
		return apptest.Tokens(t, text)
	}
	add := func(n int) {
		for i := range n {
			w.ada.Must("create_card", fields{"listId": w.list, "title": titles[i%len(titles)], "labels": []string{label},
				"assignees": []string{person}, "due": fields{"dueDate": "2026-12-01"}})
		}
	}
	add(1) // with the names of the label and the person
	before, n := size(), 50
	add(n)
	if got := float64(size()-before) / float64(n); got > maxCardTokens {
		t.Errorf("got %.1f tokens per card, want at most %d", got, maxCardTokens)
	}
}
