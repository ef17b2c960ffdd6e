package app_test

import (
	"path"
	"time"
)

// publicKey enables the public page of the world's board, with comments and cards from guests, and
// returns its key.
func (w *world) publicKey() string {
	return path.Base(w.owner.Must("update_public_page",
		fields{"boardId": w.board, "on": true, "mode": "submit", "comments": true}).Text("url"))
}

// asGuest returns an input with the fields of a guest who opened the page three seconds ago, the
// minimum before a guest may write. It advances the clock by that time.
func (w *world) asGuest(in fields) fields {
	key := w.publicKey()
	ticket := w.Browser().Must("get_guest_page", fields{"key": key}).Text("ticket")
	w.Clock.Advance(3 * time.Second)
	return with(with(with(in, "key", key), "ticket", ticket), "name", "Rosa")
}
