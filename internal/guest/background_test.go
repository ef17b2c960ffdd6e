package guest_test

import (
	"net/http"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// Guests see the picture behind the lists of a board as long as they see the page.
func TestGuestsSeeBackground(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.open(nil)
		on := fields{"boardId": w.board}
		get := func(version string) apptest.Response {
			return w.guest.Call("get_guest_background", fields{"key": w.key, "version": version})
		}
		if a := get("x"); w.view(nil).Get("board.background") != nil || a.Code != board.CodeNotFound {
			t.Errorf("without a picture: got status %d and %q, want 404", a.Status, a.Code)
		}
		w.ada.Must("set_background", fields{"boardId": w.board, "content": apptest.Picture(40, 30)})
		version := w.view(nil).Text("board.background")
		a := get(version)
		if kind := a.Header.Get("Content-Type"); a.Status != http.StatusOK || kind != "image/jpeg" || len(a.Raw) == 0 {
			t.Errorf("got status %d and %s, want the picture", a.Status, kind)
		}
		if kept := a.Header.Get("Cache-Control"); kept != "private, max-age=31536000, immutable" {
			t.Errorf("current version: got the header %q", kept)
		}
		if kept := get("x").Header.Get("Cache-Control"); kept != "private, no-cache" {
			t.Errorf("another version: got the header %q", kept)
		}
		w.ada.Must("update_board", fields{"boardId": w.board, "background": nil})
		if a := get(version); w.view(nil).Get("board.background") != nil || a.Code != board.CodeNotFound {
			t.Errorf("with the picture removed: got status %d, want 404", a.Status)
		}
		w.ada.Must("update_board", fields{"boardId": w.board, "background": version})
		w.open(fields{"on": false})
		if a := get(version); a.Code != board.CodeNotFound {
			t.Errorf("with the page switched off: got status %d, want 404", a.Status)
		}
		w.ada.Must("download_background", on)
	})
}
