package app_test

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// mentioned returns a notification that somebody else caused for the owner.
func (w *world) mentioned() string {
	w.T.Helper()
	before := w.owner.All("list_notifications", "id", nil)
	w.owner.Must("share_board", fields{"boardId": w.second, "userId": w.other.ID, "role": "editor"})
	card := w.make("create_card", fields{"listId": w.away, "title": "Ask"})
	w.other.Must("add_comment", fields{"cardId": card, "text": "@Ada, look."})
	after := w.owner.All("list_notifications", "id", nil)
	if len(after) != len(before)+1 {
		w.T.Fatalf("a mention made %d notifications", len(after)-len(before))
	}
	return after[0]
}

// notificationSettings returns settings with one field changed.
func notificationSettings(change fields) fields {
	ways := fields{"mention": "mail", "assignment": "digest", "invitation": "mail", "due": "mail",
		"comment": "application", "watched": "off"}
	in := fields{"ways": ways, "mail": true, "quietFrom": "22:00", "quietUntil": "07:00", "digestHour": 7,
		"reminders": []string{"hour"}, "remindHour": 6}
	for k, v := range change {
		if _, ok := ways[k]; ok {
			ways[k] = v
		} else if v == nil {
			delete(in, k)
		} else {
			in[k] = v
		}
	}
	return in
}

// unsubscribeToken returns the token of the unsubscribe links in a person's emails.
func (w *world) unsubscribeToken() (token string) {
	w.Write(board.System(), func(_ context.Context, tx *store.Tx) error {
		token = tx.UnsubscribeToken(w.other.ID)
		return nil
	})
	return token
}
