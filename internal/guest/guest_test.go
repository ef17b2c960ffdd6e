package guest_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	ok        = "ok"
	forbidden = "403 forbidden"
	notFound  = "404 not_found"
	archived  = "409 board_archived"
	readOnly  = "402 plan_read_only"
)

// TestModesAndStates checks what guests may do in each mode and each state of the
// board: open the page, open a card, comment, submit.
func TestModesAndStates(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.open(fields{"mode": "submit", "comments": true})
		ticket := w.ticket()
		check := func(what string, want ...string) {
			t.Helper()
			if got := w.tryAll(ticket); !slices.Equal(got, want) {
				t.Errorf("%s: page, card, comment and submission: got %q, want %q", what, got, want)
			}
		}
		check("submit", ok, ok, ok, ok)
		w.open(fields{"mode": "submit", "comments": false})
		check("submit without comments", ok, ok, forbidden, ok)
		w.open(fields{"mode": "comment", "comments": true})
		check("comment", ok, ok, ok, forbidden)
		w.open(fields{"mode": "read"})
		check("read", ok, ok, forbidden, forbidden)

		w.open(fields{"mode": "submit", "comments": true})
		w.ada.Must("archive_board", fields{"boardId": w.board})
		check("archived", ok, ok, archived, archived)
		if a := w.view(nil); a.Get("board.closed") != "archived" || a.Get("board.maySubmit") != false ||
			a.Get("board.mayComment") != false {
			t.Errorf("archived board: got page %s, want it closed", a.Raw)
		}
		w.ada.Must("restore_board", fields{"boardId": w.board})

		setReadOnly := func(on bool) {
			s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				workspace, err := tx.OnWorkspace(ctx, w.workspace, board.ViewWorkspace)
				if err != nil {
					return err
				}
				return tx.UpdateOrganization(ctx, workspace.OrganizationID, nil, &on)
			})
		}
		setReadOnly(true)
		check("read-only", ok, ok, readOnly, readOnly)
		if a := w.view(nil); a.Get("board.closed") != "readOnly" {
			t.Errorf("read-only organization: got page %s, want it closed", a.Raw)
		}
		setReadOnly(false)

		w.ada.Must("update_board", fields{"boardId": w.board, "features": fields{"publicPage": false}})
		check("disabled", notFound, notFound, notFound, notFound)
		w.ada.Must("update_board", fields{"boardId": w.board, "features": fields{"publicPage": true}})
		check("enabled again, at the same address", ok, ok, ok, ok)

		w.ada.Must("trash_board", fields{"boardId": w.board})
		check("in the trash", notFound, notFound, notFound, notFound)
		w.ada.Must("restore_board", fields{"boardId": w.board})
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.TrashWorkspace(ctx, w.workspace) })
		check("workspace in the trash", notFound, notFound, notFound, notFound)
		w.ada.Must("restore_workspace", fields{"workspaceId": w.workspace})
		check("restored", ok, ok, ok, ok)

		w.ada.Must("update_board", fields{"boardId": w.board, "visibility": "private"})
		check("private", ok, ok, ok, ok)
		w.ada.Must("update_board", fields{"boardId": w.board, "visibility": "confidential"})
		check("confidential", notFound, notFound, notFound, notFound)
		w.ada.Must("update_board", fields{"boardId": w.board, "visibility": "private"})
		check("no longer confidential, but still disabled", notFound, notFound, notFound, notFound)
	})
}

// Guests can access only the cards that the page shows, regardless of the card number that
// they send.
func TestGuestsReachOnlyThePage(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.open(fields{"mode": "submit", "comments": true})
		old := w.ada.Must("create_card", fields{"listId": w.ideas, "title": "Old"})
		w.ada.Must("archive_card", fields{"cardId": old.ID()})
		a := w.view(nil)
		if lists := a.Get("board.lists"); len(lists.([]any)) != 1 || a.Text("board.lists.0.name") != "Ideas" ||
			strings.Contains(string(a.Raw), "Salaries") || strings.Contains(string(a.Raw), "Old") {
			t.Errorf("got page %s, want only the Ideas list without the archived card", a.Raw)
		}
		for _, number := range []any{2, old.Get("number"), 99} {
			if got := outcome(w.guest.Call("get_guest_card", fields{"key": w.key, "number": number})); got != notFound {
				t.Errorf("card %v: got %s, want %s", number, got, notFound)
			}
			got := outcome(w.guest.Call("add_guest_comment", w.written(fields{"number": number, "text": "x"})))
			if got != notFound {
				t.Errorf("comment on card %v: got %s, want %s", number, got, notFound)
			}
		}
		for _, key := range []string{"", "x", strings.ToLower(w.key), strings.Repeat("A", 26)} {
			if got := outcome(w.guest.Call("get_guest_page", fields{"key": key})); got != notFound {
				t.Errorf("key %q: got %s, want %s", key, got, notFound)
			}
		}
		// An archived list is not shown. Without a list, the page accepts no cards.
		w.ada.Must("archive_list", fields{"listId": w.ideas})
		if a := w.view(nil); len(a.Get("board.lists").([]any)) != 0 || a.Get("board.maySubmit") != false {
			t.Errorf("without a list: got page %s, want no lists and no submissions", a.Raw)
		}
		if got := outcome(w.guest.Call("submit_guest_card", w.written(submission()))); got != forbidden {
			t.Errorf("submission without a list: got %s, want %s", got, forbidden)
		}
	})
}

// Responses to guests contain no id, email address or token. They contain names of people
// only if the page shows names. Signed-in people are guests on the page too.
func TestGuestResponsesHideIdentities(t *testing.T) {
	t.Parallel()
	anyID := regexp.MustCompile(`\b(org|wsp|brd|lst|crd|usr|lbl|chk|chi|cmt|act|att|whk|itg|tok|req|ses)_`)
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		bob := s.Person("Bob").Joins(w.workspace, board.WorkspaceMember)
		bob.Must("add_comment", fields{"cardId": w.card, "text": "Me too."})
		w.make("create_webhook", fields{"boardId": w.board, "url": "https://" + apptest.Receivers + "/secret-hook",
			"events": []string{"card.created"}})
		w.open(fields{"mode": "submit", "comments": true})
		responses := func() string {
			var all strings.Builder
			for _, a := range []apptest.Response{
				w.view(nil), w.guest.Must("get_guest_card", fields{"key": w.key, "number": 1}),
				w.guest.Must("add_guest_comment", w.written(comment())), w.guest.Must("submit_guest_card", w.written(submission())),
				w.guest.Call("submit_guest_card", w.written(fields{"title": " "})),
				w.guest.Call("get_guest_card", fields{"key": w.key, "number": 2}),
			} {
				all.Write(a.Raw)
				for name, values := range a.Header {
					if name != "X-Request-Id" {
						all.WriteString(strings.Join(values, " "))
					}
				}
			}
			return all.String()
		}
		secrets := []string{"@example.com", w.ada.ID, bob.ID, w.board, w.workspace, w.ada.Token, w.key, "Not for guests",
			"secret-hook", "Engines", "Salaries", "boardVersion", "Bob"}
		text := responses()
		for _, secret := range append(secrets, "Ada") {
			if strings.Contains(text, secret) {
				t.Errorf("the responses to guests contain %q: %s", secret, text)
			}
		}
		if found := anyID.FindString(text); found != "" {
			t.Errorf("the responses to guests contain an id, %s…: %s", found, text)
		}
		for _, want := range []string{"Press release", "Two **paragraphs**.", "Soon.", "Rosa", `"total":2`,
			"2026-12-01", "Bug"} {
			if !strings.Contains(text, want) {
				t.Errorf("the responses to guests do not contain %q: %s", want, text)
			}
		}
		// If the page shows names, guests see the names but no other identifying data.
		w.open(fields{"names": true})
		text = responses()
		for _, secret := range secrets[:len(secrets)-1] {
			if strings.Contains(text, secret) {
				t.Errorf("with names, the responses to guests contain %q", secret)
			}
		}
		if !strings.Contains(text, `"assignees":["Ada"]`) || !strings.Contains(text, `"author":"Bob"`) {
			t.Errorf("with names, the responses to guests do not contain the names: %s", text)
		}
		// People who are signed in or use a token are treated as guests.
		w.guest = w.ada
		if a := w.guest.Must("submit_guest_card", w.written(submission())); strings.Contains(string(a.Raw), w.ada.ID) {
			t.Errorf("a member's submission: got %s, want no user id", a.Raw)
		}
		last := w.ada.Must("list_board_activity", fields{"boardId": w.board})
		if last.Text("0.actor.type") != "guest" || last.Get("0.actor.id") != nil {
			t.Errorf("a member's submission: got activity %s, want the guest actor", last.Raw)
		}
	})
}

// A guest's card or comment is treated like a member's: the card gets a number, searches
// find the comment, the activity shows both with the guest's name, and the audit log
// records both.
func TestGuestsCardsAndCommentsAreLikeThoseOfMembers(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.open(fields{"mode": "submit", "comments": true, "listId": w.inside})
		a := w.guest.Must("submit_guest_card", w.written(submission()))
		if a.Status != http.StatusCreated || a.Get("number") != 3.0 || a.Get("shown") != false || a.Get("list") != nil {
			t.Errorf("submission to a list that is not shown: got status %d, body %s; want 201 with number 3 and no list", a.Status, a.Raw)
		}
		w.guest.Must("add_guest_comment", w.written(fields{"number": 1, "text": "When?", "name": "  Rosa \u00a0 L. "}))
		cards := w.ada.Must("list_cards", fields{"boardId": w.board, "list": w.inside})
		if cards.Text("1.title") != "A map" || cards.Text("1.description") != "Of the *venue*." ||
			cards.Get("1.createdBy") != nil {
			t.Errorf("list_cards returned %s, want the guest's card", cards.Raw)
		}
		comments := w.ada.Must("list_comments", fields{"cardId": w.card})
		if comments.Get("1.author") != nil || comments.Text("1.guestName") != "Rosa L." ||
			comments.Get("0.guestName") != nil {
			t.Errorf("list_comments returned %s, want the guest's comment", comments.Raw)
		}
		if found := w.ada.Must("search_cards",
			fields{"q": "comment:when", "workspaceId": w.workspace}); found.Text("0.id") != w.card {
			t.Errorf("search_cards returned %s, want the card with the guest's comment", found.Raw)
		}
		activity := w.ada.Must("list_board_activity", fields{"boardId": w.board})
		for i, want := range []string{"comment.added Rosa L.", "card.created Rosa"} {
			at := string('0'+byte(i)) + "."
			if got := activity.Text(at+"type") + " " + activity.Text(at+"changes.guestName.to"); got != want ||
				activity.Text(at+"actor.type") != "guest" {
				t.Errorf("activity %d: got %q by %s, want %q by a guest", i, got, activity.Text(at+"actor.type"), want)
			}
		}
		audit := w.ada.Must("list_audit_entries", fields{"workspaceId": w.workspace, "actor": "guest"})
		if audit.Text("0.operation") != "add_guest_comment" || audit.Text("1.operation") != "submit_guest_card" ||
			audit.Text("1.boardId") != w.board || audit.Text("1.changes.title.to") != "A map" {
			t.Errorf("got audit entries %s, want the guest's comment and card", audit.Raw)
		}
		// An export of the board and a copy of the card keep the guest's name.
		if doc := w.ada.Must("export_board", fields{"boardId": w.board}); !strings.Contains(string(doc.Raw),
			`"guestName":"Rosa L."`) {
			t.Errorf("the export does not contain the guest's name")
		}
		copied := w.ada.Must("copy_card", fields{"cardId": w.card, "includeComments": true}).ID()
		if a := w.ada.Must("list_comments", fields{"cardId": copied}); a.Text("1.guestName") != "Rosa L." {
			t.Errorf("the comments of the copy: got %s, want the guest's name", a.Raw)
		}
	})
}

func TestPublicPageSettings(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		other := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Other"})
		otherList := w.make("create_list", fields{"boardId": other, "name": "Away"})
		if a := w.ada.Must("get_public_page", fields{"boardId": w.board}); a.Get("url") != nil || a.Get("on") != false ||
			a.Get("mode") != "read" || a.Get("allLists") != true {
			t.Errorf("got initial settings %s, want a disabled page without a url", a.Raw)
		}
		for what, c := range map[string]struct {
			in     fields
			prefix string // of the error message
		}{
			"a list of another board":     {fields{"listId": otherList}, "listId"},
			"lists of another board":      {fields{"lists": []string{w.ideas, otherList}}, "lists"},
			"comments that are not shown": {fields{"mode": "comment", "comments": false}, "comments"},
			"an unknown mode":             {fields{"mode": "write"}, "mode"},
			"a welcome that is too long":  {fields{"welcome": strings.Repeat("x", 4001)}, "welcome"},
		} {
			c.in["boardId"] = w.board
			if a := w.ada.Call("update_public_page", c.in); a.Code != board.CodeInvalidRequest ||
				!strings.HasPrefix(a.Message, c.prefix) {
				t.Errorf("%s: got status %d, body %s, want an error about %s", what, a.Status, a.Raw, c.prefix)
			}
		}
		w.open(fields{"mode": "submit", "welcome": "Hello **guests**"})
		first := w.key
		if len(first) < 26 || !strings.HasPrefix(w.ada.Must("get_public_page", fields{"boardId": w.board}).Text("url"),
			apptest.BaseURL+"/p/"+first) {
			t.Errorf("got the key %q, want the key in the url of get_public_page", first)
		}
		if a := w.view(nil); a.Text("board.welcome") != "Hello **guests**" {
			t.Errorf("got page %s, want the welcome text", a.Raw)
		}
		ticket := w.ticket()
		// When the key is renewed, the old address stops working immediately. Its tickets are
		// not valid at the new address.
		w.ada.Must("renew_public_page", fields{"boardId": w.board})
		if got := w.tryAll(ticket); !slices.Equal(got, []string{notFound, notFound, notFound, notFound}) {
			t.Errorf("at the old address: got %q, want %q", got, []string{notFound, notFound, notFound, notFound})
		}
		w.open(nil)
		if w.key == first || outcome(w.view(nil)) != ok {
			t.Errorf("got the key %q after renewal, want a new one that works", w.key)
		}
		if a := w.guest.Call("submit_guest_card", fields{"key": w.key, "ticket": ticket, "name": "Rosa",
			"title": "x"}); a.Code != board.CodeInvalidRequest || !strings.HasPrefix(a.Message, "ticket") {
			t.Errorf("with a ticket from the old address: got status %d, body %s, want an error about ticket", a.Status, a.Raw)
		}
		// The audit log records the change. No table contains the key.
		audit := w.ada.Must("list_audit_entries", fields{"workspaceId": w.workspace, "operation": "update_public_page"})
		if audit.Get("1.changes.mode.to") != "submit" || audit.Get("1.changes.on.to") != true ||
			audit.Text("1.changes.welcome.to") == "" {
			t.Errorf("got audit entries %s, want the changes of the page's settings", audit.Raw)
		}
		for _, table := range []string{"SELECT details FROM audit", "SELECT changes FROM activity",
			"SELECT answer FROM idempotency", "SELECT fingerprint FROM idempotency", "SELECT secret FROM public_pages",
			"SELECT hash FROM public_pages"} {
			for _, row := range s.Column(table) {
				if strings.Contains(row, w.key) || strings.Contains(row, first) {
					t.Errorf("%s: got %q, want no key", table, row)
				}
			}
		}
		// A confidential board cannot have a public page.
		w.ada.Must("update_board", fields{"boardId": w.board, "visibility": "confidential"})
		if on := w.ada.Must("get_board", fields{"boardId": w.board}).Get("features.publicPage"); on != false {
			t.Errorf("confidential board: got features.publicPage %v, want false", on)
		}
		for name, in := range map[string]fields{"update_public_page": {"on": true},
			"update_board": {"features": fields{"publicPage": true}}} {
			in["boardId"] = w.board
			if a := w.ada.Call(name, in); a.Code != board.CodeInvalidRequest ||
				!strings.Contains(a.Message, "the board is confidential") {
				t.Errorf("%s: got status %d, body %s, want an error about confidentiality", name, a.Status, a.Raw)
			}
		}
		both := fields{"boardId": other, "visibility": "confidential", "features": fields{"publicPage": true}}
		if a := w.ada.Call("update_board", both); a.Code != board.CodeInvalidRequest {
			t.Errorf("confidential and public at the same time: got status %d, body %s, want invalid_request", a.Status, a.Raw)
		}
	})
}
