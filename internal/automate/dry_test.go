package automate_test

import (
	"testing"

	"cardwall/internal/board"
)

// A dry run returns what a rule would do for each card that matches its query, and when its trigger
// last occurred. It changes nothing. Only admins may call it.
func TestDryRun(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		moved, other := w.card(fields{"title": "Paint"}), w.card(fields{"title": "Sand"})
		w.ada.Must("move_card", fields{"cardId": moved, "listId": w.done})
		before := w.ada.Must("get_board", fields{"boardId": w.board}).Get("version")
		in := fields{"boardId": w.board, "when": fields{"event": "card_entered", "listId": w.done}, "if": "-title:nothing",
			"then": []fields{action("add_comment", fields{"text": "Moved {card}."})}}
		a := w.ada.Must("dry_run_rule", in)
		if a.Get("looked") != 2.0 || a.Text("cards.0.cardId") != moved || a.Text("cards.1.cardId") != other {
			t.Fatalf("got %s, want both cards, the moved one first", a.Raw)
		}
		if a.Get("cards.0.at") == nil || a.Get("cards.1.at") != nil {
			t.Errorf("got %s, want a time only for the card that was moved", a.Raw)
		}
		if text := a.Text("cards.0.actions.0.input.text"); text != "Moved Paint." {
			t.Errorf("got the text %q, want the card's title in it", text)
		}
		in["if"] = "Sand"
		if a := w.ada.Must("dry_run_rule", in); a.Get("looked") != 2.0 || a.Text("cards.0.cardId") != other || a.Get("cards.1") != nil {
			t.Errorf("got %s, want only the card that matches the query", a.Raw)
		}
		if now := w.ada.Must("get_board", fields{"boardId": w.board}).Get("version"); now != before || len(w.comments(moved)) > 0 {
			t.Errorf("the board went from version %v to %v, want no change", before, now)
		}
		w.bob.Refused(board.CodeForbidden, "dry_run_rule", in)
	})
}
