package app_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// The life of an attachment over REST and MCP: added, renamed, removed, restored and, a day
// after another removal, gone.
func TestAttachmentIsAddedRenamedRemovedAndRestored(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		boardID := ada.Must("create_board", fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Launch"}).ID()
		list := ada.Must("create_list", fields{"boardId": boardID, "name": "To do"}).ID()
		card := ada.Must("create_card", fields{"listId": list, "title": "Venue"}).ID()
		on := fields{"cardId": card}

		file := ada.Attach(card, `C:\contracts\Vertrag – “final”.txt`, []byte("The venue is ours."))
		for field, want := range map[string]any{
			"kind": "file", "name": "Vertrag – “final”.txt", "mediaType": "text/plain", "size": 18.0, "url": nil, "width": nil,
			"cover": false, "createdBy": ada.ID, "cardId": card, "boardId": boardID,
			"sha256": fmt.Sprintf("%x", sha256.Sum256([]byte("The venue is ours."))),
		} {
			if got := file.Get(field); got != want {
				t.Errorf("%s of the file: got %v, want %v", field, got, want)
			}
		}
		link := ada.Tool("add_attachment", fields{"cardId": card, "url": "https://example.com/brief"})
		if link.Get("kind") != "link" || link.Get("name") != "https://example.com/brief" || link.Get("size") != nil {
			t.Errorf("the link: got %s, want a link that is named after its URL", link.Raw)
		}
		names := func() string { return strings.Join(ada.All("list_attachments", "name", on), ", ") }
		if got, want := names(), "Vertrag – “final”.txt, https://example.com/brief"; got != want {
			t.Errorf("the attachments: got %s, want %s", got, want)
		}
		count := func() any { return ada.Must("get_card", on).Get("attachments") }
		if got := count(); got != 2.0 {
			t.Errorf("the card has %v attachments, want 2", got)
		}

		renamed := ada.Tool("update_attachment", fields{"attachmentId": link.ID(), "name": "The brief"})
		if renamed.Get("name") != "The brief" {
			t.Errorf("the renamed link: got %s, want the new name", renamed.Raw)
		}
		for query, want := range map[string]int{
			"has:attachment": 1, "no:attachment": 0, "attachment:vertrag": 1, "attachment:brief": 1, "vertrag": 1, "title:vertrag": 0,
		} {
			if got := ada.All("search_cards", "id", fields{"q": query}); len(got) != want {
				t.Errorf("search for %s: got %d cards, want %d", query, len(got), want)
			}
		}
		ada.Must("delete_attachment", fields{"attachmentId": file.ID()})
		if got := ada.All("search_cards", "id", fields{"q": "attachment:vertrag"}); len(got) > 0 {
			t.Errorf("search for the name of a removed file: got %q, want no card", got)
		}
		ada.Refused(board.CodeNotFound, "get_attachment", fields{"attachmentId": file.ID()})
		ada.Refused(board.CodeNotFound, "delete_attachment", fields{"attachmentId": file.ID()})
		if a := ada.Download(file.ID(), nil); a.Status != http.StatusNotFound {
			t.Errorf("the content of a removed file: got status %d, want 404", a.Status)
		}
		if got := names(); got != "The brief" || count() != 1.0 {
			t.Errorf("after the removal: got %s and %v attachments, want only the brief", got, count())
		}
		ada.Must("restore_attachment", fields{"attachmentId": file.ID()})
		if a := ada.Download(file.ID(), nil); string(a.Raw) != "The venue is ours." || count() != 2.0 {
			t.Errorf("the restored file: got %q and %v attachments, want its content and 2", a.Raw, count())
		}
		ada.Refused(board.CodeNotFound, "restore_attachment", fields{"attachmentId": file.ID()})

		changes := ada.Must("list_board_changes", fields{"boardId": boardID, "since": 3})
		var got []string
		for _, e := range objects(changes.Data) {
			if kind := e["type"].(string); strings.HasPrefix(kind, "attachment.") {
				got = append(got, kind)
			}
		}
		want := "[attachment.added attachment.added attachment.renamed attachment.removed attachment.added]"
		if fmt.Sprint(got) != want {
			t.Errorf("the changes: got %v, want %s", got, want)
		}

		ada.Must("delete_attachment", fields{"attachmentId": file.ID()})
		s.Clock.Advance(store.RemovedLifetime + time.Minute)
		if _, err := app.Housekeep(t.Context(), s.DB, "test"); err != nil {
			t.Fatal(err)
		}
		ada.Refused(board.CodeNotFound, "restore_attachment", fields{"attachmentId": file.ID()})
	})
}

// A picture becomes the cover of its card, and stops being it when it is removed.
func TestPictureBecomesCover(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		on := fields{"cardId": w.card}
		cover := func() any { return w.owner.Must("get_card", on).Get("cover") }
		first := w.owner.Attach(w.card, "a.png", []byte(apptest.Picture(40, 30))).ID()
		second := w.owner.Attach(w.card, "b.png", []byte(apptest.Picture(8, 9))).ID()
		if got := cover(); got != nil {
			t.Errorf("the cover before it is chosen: got %v, want null", got)
		}
		for _, c := range []struct {
			id            string
			width, height float64
		}{{first, 40, 30}, {second, 8, 9}} {
			if a := w.owner.Tool("update_attachment", fields{"attachmentId": c.id, "cover": true}); a.Get("cover") != true {
				t.Errorf("choose the cover: got %s, want cover true", a.Raw)
			}
			got, _ := cover().(map[string]any)
			if got["attachmentId"] != c.id || got["width"] != c.width || got["height"] != c.height {
				t.Errorf("the cover: got %v, want %s with %v × %v pixels", got, c.id, c.width, c.height)
			}
		}
		if a := w.owner.Must("get_attachment", fields{"attachmentId": first}); a.Get("cover") != false {
			t.Errorf("the former cover: got %s, want cover false", a.Raw)
		}
		copied := w.owner.Must("copy_card", on)
		if got := copied.Text("cover.attachmentId"); got == "" || got == second {
			t.Errorf("the cover of the copy: got %q, want the copy's own attachment", got)
		}
		if a := w.owner.Download(copied.Text("cover.attachmentId"), nil); a.Status != http.StatusOK {
			t.Errorf("the content of the copied picture: got status %d, want 200", a.Status)
		}
		w.owner.Must("delete_attachment", fields{"attachmentId": second})
		if got := cover(); got != nil {
			t.Errorf("the cover after its removal: got %v, want null", got)
		}
		w.owner.Refused(board.CodeInvalidRequest, "update_attachment", fields{"attachmentId": w.attachment, "cover": true})
	})
}

// A job that copies a list also copies the files on its cards.
func TestJobCopiesFiles(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		list := w.make("create_list", fields{"boardId": w.board, "name": "Large"})
		for n := range 55 {
			w.make("create_card", fields{"listId": list, "title": fmt.Sprint("Card ", n), "description": strings.Repeat("x", 16_000)})
		}
		card := w.make("create_card", fields{"listId": list, "title": "With files"})
		cover := w.owner.Attach(card, "a.png", []byte(apptest.Picture(40, 30))).ID()
		w.owner.Must("update_attachment", fields{"attachmentId": cover, "cover": true})
		w.make("add_attachment", fields{"cardId": card, "url": "https://example.com/plan"})
		copied := w.owner.Must("copy_list", fields{"listId": list})
		if !strings.HasPrefix(copied.ID(), "lst_") {
			t.Fatalf("got %s, want the copied list", copied.Raw)
		}
		if jobs := w.owner.All("list_jobs", "kind", fields{"workspaceId": w.workspace}); jobs[0] != "copy_list" {
			t.Fatalf("got the jobs %q, want copy_list first", jobs)
		}
		cards := w.owner.Must("list_cards", fields{"boardId": w.board, "list": copied.ID(), "has": "attachment"})
		id := cards.Text("0.cover.attachmentId")
		if a := w.owner.Download(id, nil); a.Status != http.StatusOK || !bytes.Equal(a.Raw, []byte(apptest.Picture(40, 30))) || id == cover {
			t.Errorf("the copied cover %s: got status %d, body %q; want the content of the picture", id, a.Status, a.Raw)
		}
		kinds := w.owner.All("list_attachments", "kind", fields{"cardId": cards.Text("0.id")})
		if fmt.Sprint(kinds) != "[file link]" {
			t.Errorf("got the attachments %v, want a file and a link", kinds)
		}
	})
}

func TestInvalidAttachmentsAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, address := range []string{
			"", "brief", "/brief", "//example.com/brief", "ftp://example.com/brief", "javascript:alert(1)", "data:text/html,x",
			"https://", "https://ada:secret@example.com/", "https://exa mple.com/", "file:///etc/passwd",
		} {
			a := w.owner.Refused(board.CodeInvalidRequest, "add_attachment", fields{"cardId": w.card, "url": address})
			if !strings.Contains(a.Message, "url") {
				t.Errorf("url %q: got message %q, want one that names the field", address, a.Message)
			}
		}
		w.owner.Refused(board.CodeInvalidRequest, "update_attachment", fields{"attachmentId": w.attachment, "name": " "})
		w.owner.Refused(board.CodeArchived, "add_attachment", fields{"cardId": w.archivedCard, "url": "https://example.com"})
	})
}

// Attachments count toward the limit of their card and the storage of the organization.
func TestAttachmentsAreLimited(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.Attachments = 3
	opts := apptest.Options{Limits: limits, Storage: map[board.Plan]board.Bytes{board.PlanTeam: 200_000}}
	apptest.BothWith(t, opts, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		third := w.newAttachment()
		add := fields{"cardId": w.card, "url": "https://example.com/4"}
		w.owner.Refused(board.CodeLimitReached, "add_attachment", add)
		if a := w.owner.TryAttach(w.card, "x", []byte("x"), nil); a.Code != board.CodeLimitReached {
			t.Errorf("a file above the limit of the card: got %s, want limit_reached", a.Raw)
		}
		w.owner.Must("delete_attachment", fields{"attachmentId": third})
		w.newAttachment()
		w.owner.Refused(board.CodeLimitReached, "restore_attachment", fields{"attachmentId": third})

		full, key := w.newCard(), http.Header{"Idempotency-Key": {"third"}}
		w.owner.Attach(full, "a", []byte("a"))
		w.owner.Attach(full, "b", []byte("b"))
		first, retry := w.owner.TryAttach(full, "c", []byte("c"), key), w.owner.TryAttach(full, "c", []byte("c"), key)
		if first.Status != http.StatusCreated || string(retry.Raw) != string(first.Raw) {
			t.Errorf("a retry of the upload that reached the limit: got %s, want the first response %s", retry.Raw, first.Raw)
		}

		card := w.newCard()
		large := []byte(strings.Repeat("0123456789", 15_000))
		id := w.owner.Attach(card, "large", large).ID()
		if a := w.owner.TryAttach(card, "larger", large, nil); a.Code != board.CodePlanLimit || a.Status != http.StatusPaymentRequired {
			t.Errorf("a file above the storage: got %s, want plan_limit", a.Raw)
		}
		w.owner.Must("delete_attachment", fields{"attachmentId": id})
		w.owner.Attach(card, "again", large)
		w.owner.Refused(board.CodePlanLimit, "restore_attachment", fields{"attachmentId": id})
	})
}
