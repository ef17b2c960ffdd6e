package app_test

import (
	"strings"
	"testing"

	"cardwall/internal/apptest"
)

// Deleting a comment removes its text, and editing one removes the earlier text. The event, its
// author and its time remain.
func TestDeletedCommentLeavesNoText(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		in := fields{"boardId": w.board}
		const first, second, guests = "okapiquagga", "zebradonkey", "mulehorse"
		add := fields{"cardId": w.card, "text": "Hm " + first + ", @Bob?"}
		added := w.owner.Keyed("add", "add_comment", add)
		edit := fields{"commentId": added.ID(), "text": "Hm " + second + ", @Bob?"}
		w.owner.Keyed("edit", "edit_comment", edit)
		guest, page := w.Browser(), w.asGuest(fields{"number": 1, "text": "Hm " + guests + ", @Bob?"})
		if a := guest.Keyed("guest", "add_guest_comment", page); a.Status != 201 {
			t.Fatalf("the guest's comment: got status %d, body %s; want 201", a.Status, a.Raw)
		}
		columnsWith := func(word string) (columns []string) {
			for name, values := range s.AllValues() {
				for _, v := range values {
					if strings.Contains(v, word) {
						columns = append(columns, name)
					}
				}
			}
			return columns
		}
		if got := columnsWith(first); len(got) > 0 {
			t.Errorf("the text before the edit is still stored in %v", got)
		}
		if got := columnsWith(second); len(got) < 3 { // the comment, the search index, the stored response
			t.Fatalf("the text of the comment is stored only in %v, want at least three columns", got)
		}
		if a := w.owner.Keyed("add", "add_comment", add); a.Text("text") != edit["text"] || a.ID() != added.ID() ||
			a.Version != added.Version || a.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("the replay of an edited comment is %s, want the same comment with the new text", a.Raw)
		}
		if notified := w.other.Must("list_notifications", nil); !strings.Contains(string(notified.Raw), second) {
			t.Errorf("Bob's notifications are %s; want them to contain %q", notified.Raw, second)
		}

		for _, id := range w.owner.All("list_comments", "id", fields{"cardId": w.card}) {
			w.owner.Must("delete_comment", fields{"commentId": id})
		}
		for _, word := range []string{second, guests} {
			if got := columnsWith(word); len(got) > 0 {
				t.Errorf("the text of a deleted comment is still stored in %v", got)
			}
		}
		for key, call := range map[string]struct {
			name string
			in   fields
		}{"add": {"add_comment", add}, "edit": {"edit_comment", edit}} {
			if a := w.owner.Keyed(key, call.name, call.in); a.ID() != added.ID() || a.Text("text") != "" ||
				a.Text("author.id") != w.owner.ID {
				t.Errorf("the replay of %s is %s, want the comment without its text", call.name, a.Raw)
			}
		}
		if a := guest.Keyed("guest", "add_guest_comment", page); a.Text("text") != "" || a.Text("author") != "Rosa" {
			t.Errorf("the replay of the guest's comment is %s, want it without its text", a.Raw)
		}
		// The event, its author and its time remain everywhere.
		activity := w.owner.Must("list_board_activity", with(in, "limit", 200))
		kinds := strings.Join(activity.Each("type"), " ")
		for _, kind := range []string{"comment.added", "comment.edited", "comment.deleted"} {
			if !strings.Contains(kinds, kind) {
				t.Errorf("the activity is %s; want it to contain %q", kinds, kind)
			}
		}
		for _, name := range []string{"list_board_activity", "list_board_changes", "list_recent_activity", "export_board"} {
			p := fields{}
			if name != "list_recent_activity" {
				p = in
			}
			if raw := string(w.owner.Must(name, p).Raw); strings.Contains(raw, first) || strings.Contains(raw, second) ||
				strings.Contains(raw, guests) {
				t.Errorf("%s returns the text of a deleted or edited comment: %s", name, raw)
			}
		}
		if got := w.other.Must("list_notifications", nil).Each("event"); len(got) > 0 {
			t.Errorf("Bob still has the notifications %v", got)
		}
	})
}
