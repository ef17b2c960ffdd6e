package app_test

import (
	"bytes"
	"image"
	"net/http"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// An editor can set a picture behind the lists of a board. Everyone who sees the board can
// download it. A copy of the board has the same picture.
func TestBackgroundOfABoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		on := fields{"boardId": p.from}
		p.ada.Refused(board.CodeNotFound, "download_background", on)
		version := p.ada.Must("set_background", fields{"boardId": p.from, "content": apptest.Picture(400, 300)}).Text("background")
		a := p.bob.Must("download_background", fields{"boardId": p.from, "version": version})
		if kind := a.Header.Get("Content-Type"); kind != "image/jpeg" || a.Header.Get("Cache-Control") != "private, max-age=31536000, immutable" {
			t.Errorf("got %s with %v, want a JPEG picture that is cached for a year", kind, a.Header)
		}
		if size, _, err := image.DecodeConfig(bytes.NewReader(a.Raw)); err != nil || size.Width != 400 || size.Height != 300 {
			t.Errorf("got %+v and error %v, want 400 × 300 pixels", size, err)
		}
		other := p.bob.Must("download_background", fields{"boardId": p.from, "version": "0123456789abcdef"})
		if kept := other.Header.Get("Cache-Control"); kept == a.Header.Get("Cache-Control") {
			t.Errorf("an address with another version may be cached: %s", kept)
		}
		if v := p.bob.Must("open_board", on).Text("background"); v != version {
			t.Errorf("open_board: got the picture %q, want %q", v, version)
		}
		copied := p.make("copy_board", fields{"boardId": p.from, "name": "Again"})
		p.ada.Must("update_board", fields{"boardId": p.from, "background": nil})
		p.ada.Refused(board.CodeNotFound, "download_background", on)
		if b := p.ada.Must("download_background", fields{"boardId": copied}); !bytes.Equal(b.Raw, a.Raw) {
			t.Errorf("the copy has another picture of %d bytes", len(b.Raw))
		}
		eve := s.Person("Eve")
		if b := eve.Call("download_background", fields{"boardId": copied}); b.Status != http.StatusNotFound {
			t.Errorf("another person: got status %d, want 404", b.Status)
		}
	})
}

// The last five pictures of a board can be shown again, and changes of them can be undone.
func TestFormerBackgrounds(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		on := fields{"boardId": p.from}
		var versions []string
		for i := range 6 {
			picture := fields{"boardId": p.from, "content": apptest.Picture(40+i, 30)}
			versions = append(versions, p.ada.Must("set_background", picture).Text("background"))
			s.Clock.Advance(time.Second)
		}
		choose := func(version any) fields { return fields{"boardId": p.from, "background": version} }
		p.ada.Refused(board.CodeInvalidRequest, "update_board", choose(versions[0]))
		p.ada.Refused(board.CodeInvalidRequest, "update_board", choose("0123456789abcdef"))
		p.ada.Refused(board.CodeInvalidRequest, "update_board", fields{"boardId": p.to, "background": versions[5]})
		for i := range 5 {
			s.Clock.Advance(time.Second)
			if got := p.ada.Must("update_board", choose(versions[5-i])).Text("background"); got != versions[5-i] {
				t.Errorf("got the picture %q, want %q", got, versions[5-i])
			}
		}
		// The board shows the picture that was uploaded first. The same file is the same picture.
		before := p.ada.Must("get_board", on).Get("version")
		if again := p.ada.Must("set_background", fields{"boardId": p.from, "content": apptest.Picture(41, 30)}).Get("version"); again != before {
			t.Errorf("the board has version %v, then %v, want no change for the same picture", before, again)
		}
		s.Clock.Advance(time.Second)
		now := s.Clock.Now().Format(time.RFC3339)
		for i := range 2 {
			p.ada.Must("set_background", fields{"boardId": p.from, "content": apptest.Picture(9, 9+i)})
		}
		p.ada.Must("update_board", choose(nil))
		p.ada.Must("undo_changes", fields{"boardId": p.from, "since": now})
		if got := p.ada.Must("get_board", on).Text("background"); got != versions[1] {
			t.Errorf("after undo: got the picture %q, want %q", got, versions[1])
		}
		p.ada.Must("download_background", on)
	})
}
