package app_test

import (
	"path"
	"time"
)

// publicKey enables the public page of the world's board, with comments and cards from guests, and
// returns its key.
func (w *world) publicKey() string {
	return path.Base(w.owner.Must("update_public_page",
		fields{"boardId": w.board, "on": true, "mode": "submit", "comments": true, "attachments": true}).Text("url"))
}

// asGuest returns an input with the fields of a guest who opened the page three seconds ago, the
// minimum before a guest may write. It advances the clock by that time.
func (w *world) asGuest(in fields) fields {
	key := w.publicKey()
	ticket := w.Browser().Must("get_guest_page", fields{"key": key}).Text("ticket")
	w.Clock.Advance(3 * time.Second)
	return with(with(with(in, "key", key), "ticket", ticket), "name", "Rosa")
}

// guestFile returns the input of a guest who downloads the attachment of the world.
func (w *world) guestFile() fields {
	card := w.owner.Must("get_attachment", fields{"attachmentId": w.attachment}).Text("cardId")
	in := fields{"key": w.publicKey(), "number": w.owner.Must("get_card", fields{"cardId": card}).Get("number")}
	return with(in, "file", w.Browser().Must("get_guest_card", in).Text("files.0.file"))
}
