package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// fillLists adds lists with cards to the board. Each card title ends with a string of the
// given length.
func (w *world) fillLists(lists, cards, length int) {
	w.T.Helper()
	for i := range lists {
		list := w.ada.Must("create_list", fields{"boardId": w.board, "name": fmt.Sprint("List ", i)}).ID()
		w.Write(board.Person(w.ada.ID, board.ScopeWrite), func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.List(ctx, list, board.Edit); err != nil {
				return err
			}
			ranks, err := board.RanksAfter("", cards)
			if err != nil {
				return err
			}
			all := make([]store.WholeCard, cards)
			for n := range all {
				all[n].Card = board.Card{ID: tx.NewID("crd_"), ListID: list, Rank: ranks[n], Description: new(string),
					Title: fmt.Sprintf("Card %d %s", n, strings.Repeat("x", length))}
			}
			tx.Emit(w.board, board.BoardEvent(board.KindBoardUpdated, board.Changes{})) // also stores the board's counts
			return tx.InsertCards(ctx, w.board, all)
		})
	}
}

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
		w.fillLists(2, 37, 1)
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
		w.fillLists(4, 250, 30)
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

func TestCardResourceNamesOmittedParts(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		text := strings.Repeat("word ", 2420) // 12,100 characters
		w.ada.Must("update_card", fields{"cardId": w.card, "description": text})
		uri := "service://boards/" + w.board + "/cards/" + w.card
		c := w.readResource(w.ada, apptest.Stateless, uri)
		if record, _ := c["card"].(map[string]any); record["description"] != text || c["more"] != nil {
			t.Errorf("got a description of %d characters, more %v; want all %d and no more", len(fmt.Sprint(record["description"])),
				c["more"], len(text))
		}
		for range 5 {
			w.ada.Must("add_comment", fields{"cardId": w.card, "text": text})
		}
		c = w.readResource(w.ada, apptest.Stateless, uri)
		comments, _ := c["comments"].([]any)
		record, _ := c["card"].(map[string]any)
		more, _ := c["more"].(string)
		if record["description"] != text || len(comments) < 3 || len(comments) > 5 ||
			!strings.Contains(more, fmt.Sprintf("%d of 6 comments", len(comments))) || !strings.Contains(more, "list_comments") {
			t.Errorf("got %d comments, more %q; want 3 to 5 comments and their total number in more", len(comments), more)
		}
	})
}

// A truncated card description has another name, so that an assistant does not write it back
// as the description.
func TestShortenedDescriptionHasAnotherName(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		text := strings.Repeat(`"\`, 8000) // each character is escaped twice
		w.ada.Must("update_card", fields{"cardId": w.card, "description": text})
		c := w.readResource(w.ada, apptest.Stateless, "service://boards/"+w.board+"/cards/"+w.card)
		record, _ := c["card"].(map[string]any)
		beginning, _ := record["descriptionBeginning"].(string)
		more, _ := c["more"].(string)
		if _, ok := record["description"]; ok || !strings.HasPrefix(text, strings.TrimSuffix(beginning, "…")) || len(beginning) < 1000 ||
			!strings.Contains(more, "of 16000 characters") || !strings.Contains(more, "get_card") {
			t.Errorf("got the card %.300v, more %q; want descriptionBeginning instead of description", record, more)
		}
	})
}
