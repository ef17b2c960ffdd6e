package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"cardwall/internal/apptest"
)

// perList counts the cards of a board resource by list.
func perList(b map[string]any) map[string]int {
	n := map[string]int{}
	cards, _ := b["cards"].([]any)
	for _, c := range cards {
		n[c.(map[string]any)["listId"].(string)]++
	}
	return n
}

func TestSmallBoardResourceIsComplete(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.fillLists(1, 37, 37)
		for i := range 30 {
			w.ada.Must("create_label", fields{"boardId": w.board, "name": fmt.Sprint("Label ", i), "color": "red"})
		}
		b := w.readResource(w.ada, apptest.Stateless, "service://boards/"+w.board)
		record, _ := b["board"].(map[string]any)
		cards, _ := b["cards"].([]any)
		if len(cards) != 75 || len(record["lists"].([]any)) != 3 || len(record["labels"].([]any)) != 30 || b["more"] != nil {
			t.Errorf("got %d cards, %d lists, %d labels, more %v; want 75, 3, 30 and no more",
				len(cards), len(record["lists"].([]any)), len(record["labels"].([]any)), b["more"])
		}
	})
}

func TestBoardResourceSharesItsSpace(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.fillLists(30, 250, 250, 250, 250)
		for i := range 300 {
			w.ada.Must("create_label", fields{"boardId": w.board, "name": fmt.Sprintf("Label %d %s", i, strings.Repeat("y", 40)), "color": "red"})
		}
		b := w.readResource(w.ada, apptest.Stateless, "service://boards/"+w.board)
		record, _ := b["board"].(map[string]any)
		cards, _ := b["cards"].([]any)
		labels, _ := record["labels"].([]any)
		n := perList(b)
		fewest, most := 1000, 0
		for list, count := range n {
			if list != w.list { // which has only one card
				fewest, most = min(fewest, count), max(most, count)
			}
		}
		if len(n) != 5 || n[w.list] != 1 || fewest < 30 || most-fewest > 1 {
			t.Errorf("got %v cards by list, want 1 in %s and at least 30 in each of four others, differing by at most 1", n, w.list)
		}
		more, _ := b["more"].(string)
		for _, want := range []string{
			fmt.Sprintf("%d of 1001 cards", len(cards)), fmt.Sprintf("%d of 300 labels", len(labels)),
			"list_cards with a list", "list_labels", "get_card",
		} {
			if !strings.Contains(more, want) {
				t.Errorf("got more %q, want it to contain %q", more, want)
			}
		}
		if len(labels) < 60 || len(labels) >= 300 || len(record["lists"].([]any)) != 5 {
			t.Errorf("got %d labels and %d lists, want 60 to 299 labels and 5 lists", len(labels), len(record["lists"].([]any)))
		}
	})
}
