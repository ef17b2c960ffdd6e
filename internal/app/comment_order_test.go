package app_test

import (
	"fmt"
	"slices"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// Comments are listed in both directions, also in pages, and a cursor is valid in its own
// direction only.
func TestCommentsAreListedInBothDirections(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		_, lists, cards := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 1, 2)
		on, other := fields{"cardId": cards[lists[0]][0]}, fields{"cardId": cards[lists[0]][1]}
		var texts []string
		for i := range 5 {
			texts = append(texts, fmt.Sprintf("Comment %d", i))
			ada.Must("add_comment", with(on, "text", texts[i]))
			ada.Must("add_comment", with(other, "text", "Elsewhere"))
		}
		newest := slices.Clone(texts)
		slices.Reverse(newest)
		for sort, want := range map[string][]string{"": texts, "createdAt": texts, "-createdAt": newest} {
			in := on
			if sort != "" {
				in = with(on, "sort", sort)
			}
			for _, limit := range []int{1, 2, 4, 5, 50} {
				if got := ada.All("list_comments", "text", with(in, "limit", limit)); !slices.Equal(got, want) {
					t.Errorf("sort %q in pages of %d: got %q, want %q", sort, limit, got, want)
				}
			}
		}
		latest := with(on, "sort", "-createdAt")
		if got := ada.Tool("list_comments", with(latest, "limit", 1)).Get("0.text"); got != newest[0] {
			t.Errorf("over MCP: got %s, want the newest comment first", got)
		}

		// A comment that is added between two pages is on neither of them, because it is the newest.
		first := ada.Must("list_comments", with(latest, "limit", 2))
		ada.Must("add_comment", with(on, "text", "Late"))
		rest := ada.All("list_comments", "text", with(with(latest, "limit", 2), "cursor", first.Next))
		if got := append(first.Each("text"), rest...); !slices.Equal(got, newest) {
			t.Errorf("with a comment between two pages: got %q, want %q", got, newest)
		}
		ada.Refused(board.CodeInvalidRequest, "list_comments", with(with(on, "limit", 2), "cursor", first.Next))
		ada.Refused(board.CodeInvalidRequest, "list_comments", with(with(latest, "sort", "createdAt"), "cursor", first.Next))
		ada.Refused(board.CodeInvalidRequest, "list_comments", with(on, "sort", "text"))
	})
}
