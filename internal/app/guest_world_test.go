package app_test

import (
	"path"
	"time"
)

// publicKey returns the key of the public page of the world's board. The page accepts comments
// and cards.
func (w *world) publicKey() string {
	return path.Base(w.owner.Must("update_public_page",
		fields{"boardId": w.board, "on": true, "mode": "submit", "comments": true}).Text("url"))
}

// asGuest adds the fields of a guest who opened the page a while ago.
func (w *world) asGuest(in fields) fields {
	key := w.publicKey()
	ticket := w.Browser().Must("look_at_public_page", fields{"key": key}).Text("ticket")
	w.Clock.Advance(3 * time.Second)
	return with(with(with(in, "key", key), "ticket", ticket), "name", "Rosa")
}
