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

// fillLists adds a list with each of the given numbers of cards to the board. Each card title
// ends with a string of the given length.
func (w *world) fillLists(length int, sizes ...int) {
	w.T.Helper()
	for i, cards := range sizes {
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
		beginning, _ := record["descriptionPart"].(string)
		more, _ := c["more"].(string)
		if _, ok := record["description"]; ok || !strings.HasPrefix(text, strings.TrimSuffix(beginning, "…")) || len(beginning) < 1000 ||
			!strings.Contains(more, "of 16000 characters") || !strings.Contains(more, "get_card") {
			t.Errorf("got the card %.300v, more %q; want descriptionPart instead of description", record, more)
		}
	})
}
