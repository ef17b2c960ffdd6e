package mcp_test

import (
	"strings"
	"testing"

	"cardwall/internal/apptest"
)

// Assistants see the cards with matching titles first, unless the search says another order.
func TestSearchesAreInOrderOfRelevance(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		title := w.ada.Must("create_card", fields{"listId": w.list, "title": "Printer"}).ID()
		text := w.ada.Must("create_card", fields{"listId": w.list, "title": "Hall", "description": "printer"}).ID()
		for q, want := range map[string]string{"printer": title, "printer sort:-updated": text} {
			for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
				a := w.ada.ToolOf(w.ada.RPC(revision, "tools/call", fields{"name": "search_cards",
					"arguments": fields{"q": q, "fields": "id", "limit": 1}}))
				if !strings.Contains(a.Text, `"rows":[["`+want) {
					t.Errorf("%s in %s: got %s, want card %s first", q, revision, a.Text, want)
				}
			}
		}
		if got := w.ada.All("search_cards", "id", fields{"q": "printer"}); len(got) != 2 || got[0] != text {
			t.Errorf("REST: got %v, want the most recently changed card first", got)
		}
	})
}
