package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// A file arrives in parts, and is attached with the last one.
func TestUploadArrivesInParts(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		upload := w.owner.Must("create_upload", fields{"cardId": w.card, "fileName": `films\Tour.txt`, "size": 12})
		if upload.Get("name") != "Tour.txt" || upload.Get("offset") != 0.0 || upload.Get("attachmentId") != nil {
			t.Errorf("the new upload: got %s, want Tour.txt at offset 0", upload.Raw)
		}
		on := fields{"uploadId": upload.ID()}
		part := func(offset int, content string) apptest.Response {
			return w.owner.Call("append_upload", with(with(on, "offset", offset), "content", content))
		}
		before := len(w.owner.All("list_attachments", "id", fields{"cardId": w.card}))
		if a := part(0, "Hello"); a.Status != http.StatusNoContent || a.Header.Get("Upload-Offset") != "5" {
			t.Fatalf("the first part: got status %d, offset %s; want 204 and 5", a.Status, a.Header.Get("Upload-Offset"))
		}
		for _, wrong := range []struct {
			offset int
			body   string
			status int
			says   string
		}{
			{0, "Hello", http.StatusConflict, "5 bytes"},
			{6, "world!", http.StatusConflict, "5 bytes"},
			{5, ", world!!", http.StatusBadRequest, "larger than its size"},
		} {
			if a := part(wrong.offset, wrong.body); a.Status != wrong.status || !strings.Contains(a.Message, wrong.says) {
				t.Errorf("%q at %d: got status %d, message %q; want %d and %q", wrong.body, wrong.offset, a.Status, a.Message,
					wrong.status, wrong.says)
			}
		}
		if got := len(w.owner.All("list_attachments", "id", fields{"cardId": w.card})); got != before {
			t.Errorf("the card has %d attachments before the last part, want %d", got, before)
		}
		if a := part(5, ", world"); a.Header.Get("Upload-Offset") != "12" {
			t.Fatalf("the last part: got status %d, body %s; want offset 12", a.Status, a.Raw)
		}
		done := w.owner.Must("get_upload", on)
		if done.Get("offset") != 12.0 {
			t.Errorf("the complete upload: got %s, want offset 12", done.Raw)
		}
		id := done.Text("attachmentId")
		if a := w.owner.Download(id, nil); string(a.Raw) != "Hello, world" {
			t.Errorf("the content of %s: got %q, want all parts in order", id, a.Raw)
		}
		if a := w.owner.Must("get_attachment", fields{"attachmentId": id}); a.Get("name") != "Tour.txt" || a.Get("mediaType") != "text/plain" {
			t.Errorf("the attachment: got %s, want Tour.txt as text/plain", a.Raw)
		}
		if a := part(12, ""); a.Status != http.StatusConflict || !strings.Contains(a.Message, "already complete") {
			t.Errorf("a part after the last: got status %d, body %s; want 409", a.Status, a.Raw)
		}
		w.owner.Must("delete_upload", on)
		if a := w.owner.Download(id, nil); a.Status != http.StatusOK {
			t.Errorf("the file of a deleted upload: got status %d, want that it stays", a.Status)
		}
		w.owner.Refused(board.CodeNotFound, "get_upload", on)
	})
}

// An upload ends with its card, when it is deleted, and after a day.
func TestUploadEnds(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		refused := func(code board.Code, id string) {
			t.Helper()
			a := w.owner.Call("append_upload", fields{"uploadId": id, "offset": 0, "content": "A film."})
			if a.Code != code {
				t.Errorf("append to %s: got %s, want %s", id, a.Raw, code)
			}
		}
		deleted, old := w.newUpload(), w.newUpload()
		w.owner.Must("delete_upload", fields{"uploadId": deleted})
		refused(board.CodeNotFound, deleted)

		card := w.newCard()
		onArchived := w.make("create_upload", fields{"cardId": card, "size": 7})
		w.owner.Must("archive_card", fields{"cardId": card})
		refused(board.CodeArchived, onArchived)
		w.owner.Refused(board.CodeArchived, "create_upload", fields{"cardId": card, "size": 7})
		w.owner.Must("restore_card", fields{"cardId": card})
		w.owner.Must("append_upload", fields{"uploadId": onArchived, "offset": 0, "content": "A film."})

		s.Clock.Advance(store.UploadLifetime + time.Minute)
		refused(board.CodeNotFound, old)
		if _, err := app.Housekeep(t.Context(), s.DB, "test"); err != nil {
			t.Fatal(err)
		}
		if left := s.Column("SELECT id FROM uploads"); len(left) > 0 {
			t.Errorf("got the uploads %q after a day, want none", left)
		}
	})
}

// Announced files count toward the storage of the organization before they arrive.
func TestUploadsAreLimited(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.Attachments = 3
	opts := apptest.Options{Limits: limits, Storage: map[board.Plan]board.Bytes{board.PlanTeam: 300_000_000}}
	apptest.BothWith(t, opts, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		in := fields{"cardId": w.card, "fileName": "Tour.mp4", "size": 200_000_000}
		first := w.make("create_upload", in)
		w.owner.Refused(board.CodePlanLimit, "create_upload", in)
		w.owner.Must("delete_upload", fields{"uploadId": first})
		w.owner.Must("create_upload", in)
		if a := w.owner.Refused(board.CodePlanLimit, "create_upload", with(in, "size", 251_000_000)); !strings.Contains(a.Message, "250 MB") {
			t.Errorf("a file above the limit of the plan: got %q, want the limit", a.Message)
		}
		small := w.newUpload()
		w.newAttachment()
		w.owner.Refused(board.CodeLimitReached, "create_upload", with(in, "size", 7))
		a := w.owner.Call("append_upload", fields{"uploadId": small, "offset": 0, "content": "A film."})
		if a.Code != board.CodeLimitReached {
			t.Errorf("a file above the limit of its card: got %s, want limit_reached", a.Raw)
		}
	})
}
