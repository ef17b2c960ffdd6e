package app_test

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// newMention makes another person mention the owner, and returns the ID of the owner's new
// notification.
func (w *world) newMention() string {
	w.T.Helper()
	before := w.owner.All("list_notifications", "id", nil)
	w.owner.Must("share_board", fields{"boardId": w.second, "userId": w.other.ID, "role": "editor"})
	card := w.make("create_card", fields{"listId": w.away, "title": "Ask"})
	w.other.Must("add_comment", fields{"cardId": card, "text": "@Ada, look."})
	after := w.owner.All("list_notifications", "id", nil)
	if len(after) != len(before)+1 {
		w.T.Fatalf("a mention created %d notifications, want 1", len(after)-len(before))
	}
	return after[0]
}

// notificationSettings returns an input with the given changes. It removes fields whose new value is
// nil.
func notificationSettings(change fields) fields {
	channels := fields{"mention": "mail", "assignment": "digest", "invitation": "mail", "due": "mail",
		"comment": "application", "watched": "off"}
	in := fields{"ways": channels, "mail": true, "quietFrom": "22:00", "quietUntil": "07:00", "digestHour": 7,
		"reminders": []string{"hour"}, "remindHour": 6}
	for k, v := range change {
		if _, ok := channels[k]; ok {
			channels[k] = v
		} else if v == nil {
			delete(in, k)
		} else {
			in[k] = v
		}
	}
	return in
}

// unsubscribeToken returns the token of the unsubscribe links in the other person's emails.
func (w *world) unsubscribeToken() (token string) {
	w.Write(board.System(), func(_ context.Context, tx *store.Tx) error {
		token = tx.UnsubscribeToken(w.other.ID)
		return nil
	})
	return token
}
