package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
)

// boardResource is the content of a board resource.
type boardResource struct {
	More  string         `json:"more"`
	Board map[string]any `json:"board"`
	Lists []struct {
		ID       string `json:"id"`
		Open     int    `json:"openCards"`
		WIPLimit int    `json:"wipLimit"`
		Included *int   `json:"includedCards"`
		Cards    []any  `json:"cards"`
	} `json:"lists"`
	Labels []any `json:"labels"`
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

// A board of 1,000 cards in unequal lists: small lists are complete, and the others have about
// the same number of cards.
func TestBoardResourceSharesItsSpace(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		sizes := []int{1, 600, 379, 20}
		w.fillLists(30, sizes[1:]...)
		b := w.boardResource()
		included := 0
		for i, l := range b.Lists {
			included += len(l.Cards)
			if l.Open != sizes[i] {
				t.Errorf("list %d: got %d open cards, want %d", i, l.Open, sizes[i])
			}
			if complete := len(l.Cards) == l.Open; complete != (l.Included == nil) ||
				!complete && *l.Included != len(l.Cards) {
				t.Errorf("list %d: got %d cards, includedCards %v", i, len(l.Cards), l.Included)
			}
		}
		first, second := len(b.Lists[1].Cards), len(b.Lists[2].Cards)
		if len(b.Lists) != 4 || len(b.Lists[0].Cards) != 1 || len(b.Lists[3].Cards) != 20 || first < 90 || first-second < 0 || first-second > 1 {
			t.Errorf("got %d and %d cards of the long lists, want about the same, at least 90", first, second)
		}
		for _, want := range []string{fmt.Sprintf("%d of 1000 cards", included), "list_cards with boardId and list"} {
			if !strings.Contains(b.More, want) {
				t.Errorf("got more %q, want it to contain %q", b.More, want)
			}
		}
	})
}
