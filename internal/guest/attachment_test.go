package guest_test

import (
	"bytes"
	"image"
	_ "image/jpeg" // registers the decoder
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
)

// picture returns a PNG of 800 by 400 pixels.
func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 800, 400))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// attach adds a picture as a cover, a page with a script and a link to a card.
func (w *world) attach(t *testing.T, card string) {
	t.Helper()
	cover := w.ada.Attach(card, "Stage.png", picture(t)).ID()
	w.ada.Must("update_attachment", fields{"attachmentId": cover, "cover": true})
	w.ada.Attach(card, "Plan.html", []byte("<!doctype html><script>alert(1)</script>"))
	w.make("add_attachment", fields{"cardId": card, "url": "https://example.com/brief", "name": "Brief"})
}

// sharedCard requests a card as a guest.
func (w *world) sharedCard(number int) apptest.Response {
	return w.guest.Call("get_guest_card", fields{"key": w.key, "number": number})
}

// file requests the content of a file as a guest. A size of "" means the file as it is.
func (w *world) file(number int, file, size string) apptest.Response {
	in := fields{"key": w.key, "number": number, "file": file}
	if size != "" {
		in["size"] = size
	}
	return w.guest.Call("get_guest_file", in)
}

// If the page shows attachments, guests see covers, files and links, and can download the files.
// A file that could contain a script is only downloaded.
func TestGuestsSeeAttachments(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.attach(t, w.card)
		w.open(fields{"attachments": true})
		tile := w.view(nil)
		const at = "board.lists.0.cards.0."
		if tile.Get(at+"attachments") != 3.0 || tile.Get(at+"cover.width") != 800.0 || tile.Get(at+"cover.height") != 400.0 {
			t.Errorf("got the page %s, want a card with three attachments and a cover", tile.Raw)
		}
		card := w.sharedCard(1)
		for path, want := range map[string]any{
			"files.0.name": "Stage.png", "files.0.mediaType": "image/png", "files.0.width": 800.0, "files.0.size": float64(len(picture(t))),
			"files.0.file": tile.Get(at + "cover.file"), "files.1.name": "Plan.html", "files.1.width": nil, "files.2.name": "Brief",
			"files.2.url": "https://example.com/brief", "files.2.file": nil, "files.3": nil,
		} {
			if got := card.Get(path); got != want {
				t.Errorf("card: got %s %v, want %v", path, got, want)
			}
		}
		whole := w.file(1, card.Text("files.0.file"), "")
		if !bytes.Equal(whole.Raw, picture(t)) || whole.Header.Get("Content-Type") != "image/png" {
			t.Errorf("got status %d and %d bytes of %s, want the picture", whole.Status, len(whole.Raw), whole.Header.Get("Content-Type"))
		}
		small, _, err := image.DecodeConfig(bytes.NewReader(w.file(1, card.Text("files.0.file"), "small").Raw))
		if err != nil || small.Width != 320 {
			t.Errorf("got a small picture with a width of %d (%v), want 320", small.Width, err)
		}
		hostile := w.file(1, card.Text("files.1.file"), "")
		for name, want := range map[string]string{
			"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "sandbox; default-src 'none'", "Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control": "private, no-cache", "Referrer-Policy": "no-referrer",
		} {
			if got := hostile.Header.Get(name); got != want {
				t.Errorf("hostile file: got %s %q, want %q", name, got, want)
			}
		}
		if got := hostile.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment;") || !strings.Contains(got, "Plan.html") {
			t.Errorf("hostile file: got Content-Disposition %q, want a download of Plan.html", got)
		}
		// No response contains an id, a hash or the person who added the file.
		attachments := w.ada.Must("list_attachments", fields{"cardId": w.card})
		for _, secret := range append(attachments.Each("id"), attachments.Text("0.sha256"), w.ada.ID) {
			if strings.Contains(string(tile.Raw)+string(card.Raw), secret) {
				t.Errorf("the responses to guests contain %q", secret)
			}
		}
	})
}

// A page whose setting is off reveals neither the number nor the names of attachments. This is
// the initial setting.
func TestAttachmentsAreNotShownByDefault(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.make("create_card", fields{"listId": w.ideas, "title": "Empty"})
		w.open(fields{"attachments": true})
		w.attach(t, w.card)
		file := w.sharedCard(1).Text("files.0.file")
		w.open(fields{"attachments": false})
		if a := w.ada.Must("get_public_page", fields{"boardId": w.board}); a.Get("attachments") != false {
			t.Errorf("got the settings %s, want attachments off", a.Raw)
		}
		page, card := w.view(nil), w.sharedCard(1)
		text := string(page.Raw) + string(card.Raw)
		for _, secret := range []string{"Stage", "Plan.html", "Brief", "example.com/brief", file, "image/png"} {
			if strings.Contains(text, secret) {
				t.Errorf("the responses to guests contain %q: %s", secret, text)
			}
		}
		for _, a := range []apptest.Response{card, w.sharedCard(3)} {
			if a.Get("attachments") != nil || a.Get("cover") != nil || len(a.Get("files").([]any)) != 0 {
				t.Errorf("got the card %s, want no trace of attachments", a.Raw)
			}
		}
		if got := outcome(w.file(1, file, "")); got != notFound {
			t.Errorf("file: got %s, want %s", got, notFound)
		}
		second := secondBoard(w)
		if a := w.ada.Must("get_public_page", fields{"boardId": second.board}); a.Get("attachments") != false {
			t.Errorf("got initial settings %s, want attachments off", a.Raw)
		}
		audit := w.ada.Must("list_audit_entries", fields{"workspaceId": w.workspace, "operation": "update_public_page"})
		if !strings.Contains(string(audit.Raw), `"attachments":{"from":true,"to":false}`) {
			t.Errorf("got audit entries %s, want the change of the setting", audit.Raw)
		}
	})
}

// A guest can download a file only while the page shows its card.
func TestGuestsReachOnlyFilesOnThePage(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.attach(t, w.card)
		w.attach(t, w.hidden)
		w.open(fields{"attachments": true, "allLists": true})
		file, other := w.sharedCard(1).Text("files.0.file"), w.sharedCard(2).Text("files.0.file")
		link := w.ada.Must("list_attachments", fields{"cardId": w.card}).Text("2.id")
		check := func(what, want string) {
			t.Helper()
			if got := outcome(w.file(1, file, "small")); got != want {
				t.Errorf("%s: got %s, want %s", what, got, want)
			}
		}
		check("on the page", ok)
		for what, a := range map[string]apptest.Response{
			"file of another card": w.file(1, other, ""), "unknown file": w.file(1, "x", ""), "id of an attachment": w.file(1, link, ""),
			"unknown card": w.file(99, file, ""), "empty file": w.file(1, "", ""),
		} {
			if got := outcome(a); got != notFound && a.Status != http.StatusBadRequest {
				t.Errorf("%s: got %s, want %s", what, got, notFound)
			}
		}
		w.open(fields{"lists": []string{w.ideas}})
		if got := outcome(w.file(2, other, "")); got != notFound {
			t.Errorf("card in a hidden list: got %s, want %s", got, notFound)
		}
		for what, change := range map[string][2]string{
			"archived card": {"archive_card", "restore_card"}, "archived list": {"archive_list", "restore_list"},
			"board in the trash": {"trash_board", "restore_board"},
		} {
			in := fields{"cardId": w.card}
			if strings.HasSuffix(change[0], "list") {
				in = fields{"listId": w.ideas}
			} else if strings.HasSuffix(change[0], "board") {
				in = fields{"boardId": w.board}
			}
			w.ada.Must(change[0], in)
			check(what, notFound)
			w.ada.Must(change[1], in)
			check(what+", restored", ok)
		}
		w.ada.Must("archive_board", fields{"boardId": w.board})
		check("archived board, whose page can still be read", ok)
		w.ada.Must("restore_board", fields{"boardId": w.board})
		w.open(fields{"on": false})
		check("page switched off", notFound)
		w.open(nil)
		check("page switched on again", ok)
		first := w.key
		w.ada.Must("renew_public_page", fields{"boardId": w.board})
		check("renewed address", notFound)
		w.open(nil)
		if w.key == first {
			t.Fatal("the address was not renewed")
		}
		check("file of the former address", notFound)
		file = w.sharedCard(1).Text("files.0.file")
		check("at the new address", ok)
		w.ada.Must("delete_attachment", fields{"attachmentId": w.ada.Must("list_attachments", fields{"cardId": w.card}).Text("0.id")})
		check("removed file", notFound)
		left := w.sharedCard(1)
		if names := []string{left.Text("files.0.name"), left.Text("files.1.name")}; !slices.Equal(names, []string{"Plan.html", "Brief"}) ||
			left.Get("cover") != nil {
			t.Errorf("after the removal, got the card %s, want two attachments and no cover", left.Raw)
		}
	})
}
