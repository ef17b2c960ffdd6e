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
	no     = "403 forbidden"
	gone   = "404 not_found"
	ok     = "yes"
	closed = "409 board_archived"
	stuck  = "402 plan_read_only"
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
			if got := w.ways(ticket); !slices.Equal(got, want) {
				t.Errorf("%s: page, card, comment and submission are %q, want %q", what, got, want)
			}
		}
		check("submit", ok, ok, ok, ok)
		w.open(fields{"mode": "submit", "comments": false})
		check("submit without comments", ok, ok, no, ok)
		w.open(fields{"mode": "comment", "comments": true})
		check("comment", ok, ok, ok, no)
		w.open(fields{"mode": "read"})
		check("read", ok, ok, no, no)

		w.open(fields{"mode": "submit", "comments": true})
		w.ada.Must("archive_board", fields{"boardId": w.board})
		check("archived", ok, ok, closed, closed)
		if a := w.look(nil); a.Get("board.closed") != "archived" || a.Get("board.maySubmit") != false ||
			a.Get("board.mayComment") != false {
			t.Errorf("the page of an archived board says %s", a.Raw)
		}
		w.ada.Must("restore_board", fields{"boardId": w.board})

		readOnly := func(on bool) {
			s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				space, err := tx.OnWorkspace(ctx, w.workspace, board.ViewWorkspace)
				if err != nil {
					return err
				}
				return tx.UpdateOrganization(ctx, space.OrganizationID, nil, &on)
			})
		}
		readOnly(true)
		check("read-only", ok, ok, stuck, stuck)
		if a := w.look(nil); a.Get("board.closed") != "readOnly" {
			t.Errorf("the page of a read-only organization says %s", a.Raw)
		}
		readOnly(false)

		w.ada.Must("update_board", fields{"boardId": w.board, "features": fields{"publicPage": false}})
		check("off", gone, gone, gone, gone)
		w.ada.Must("update_board", fields{"boardId": w.board, "features": fields{"publicPage": true}})
		check("on again, at the same address", ok, ok, ok, ok)

		w.ada.Must("trash_board", fields{"boardId": w.board})
		check("in the trash", gone, gone, gone, gone)
		w.ada.Must("restore_board", fields{"boardId": w.board})
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.TrashWorkspace(ctx, w.workspace) })
		check("of a workspace in the trash", gone, gone, gone, gone)
		w.ada.Must("restore_workspace", fields{"workspaceId": w.workspace})
		check("restored", ok, ok, ok, ok)

		w.ada.Must("update_board", fields{"boardId": w.board, "visibility": "private"})
		check("private", ok, ok, ok, ok)
		w.ada.Must("update_board", fields{"boardId": w.board, "visibility": "confidential"})
		check("confidential", gone, gone, gone, gone)
		w.ada.Must("update_board", fields{"boardId": w.board, "visibility": "private"})
		check("no longer confidential, and still off", gone, gone, gone, gone)
	})
}

// Guests reach only what the page shows, whatever number they send.
func TestGuestsReachOnlyThePage(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.open(fields{"mode": "submit", "comments": true})
		archived := w.ada.Must("create_card", fields{"listId": w.ideas, "title": "Old"})
		w.ada.Must("archive_card", fields{"cardId": archived.ID()})
		a := w.look(nil)
		if names := a.Get("board.lists"); len(names.([]any)) != 1 || a.Text("board.lists.0.name") != "Ideas" ||
			strings.Contains(string(a.Raw), "Salaries") || strings.Contains(string(a.Raw), "Old") {
			t.Errorf("the page shows %s", a.Raw)
		}
		for _, number := range []any{2, archived.Get("number"), 99} {
			if got := verdict(w.guest.Call("look_at_public_card", fields{"key": w.key, "number": number})); got != gone {
				t.Errorf("card %v: %s, want %s", number, got, gone)
			}
			if got := verdict(w.guest.Call("add_guest_comment", w.written(fields{"number": number, "text": "x"}))); got != gone {
				t.Errorf("a comment on card %v: %s, want %s", number, got, gone)
			}
		}
		for _, key := range []string{"", "x", strings.ToLower(w.key), strings.Repeat("A", 26)} {
			if got := verdict(w.guest.Call("look_at_public_page", fields{"key": key})); got != gone {
				t.Errorf("the key %q: %s, want %s", key, got, gone)
			}
		}
		// An archived list is not shown. If no list is left, no card is accepted.
		w.ada.Must("archive_list", fields{"listId": w.ideas})
		if a := w.look(nil); len(a.Get("board.lists").([]any)) != 0 || a.Get("board.maySubmit") != false {
			t.Errorf("without a list the page shows %s", a.Raw)
		}
		if got := verdict(w.guest.Call("submit_guest_card", w.written(submission()))); got != no {
			t.Errorf("a card without a list: %s, want %s", got, no)
		}
	})
}

// Responses to guests contain no id, address, token or person's name, unless the page
// shows names. Signed-in people are guests on the page too.
func TestGuestResponsesHideIdentities(t *testing.T) {
	t.Parallel()
	anyID := regexp.MustCompile(`\b(org|wsp|brd|lst|crd|usr|lbl|chk|chi|cmt|act|whk|itg|tok|req|ses)_`)
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		bob := s.Person("Bob").Joins(w.workspace, board.WorkspaceMember)
		bob.Must("add_comment", fields{"cardId": w.card, "text": "Me too."})
		w.make("create_webhook", fields{"boardId": w.board, "url": "https://" + apptest.Receivers + "/secret-hook",
			"events": []string{"card.created"}})
		w.open(fields{"mode": "submit", "comments": true})
		answers := func() string {
			var all strings.Builder
			for _, a := range []apptest.Response{
				w.look(nil), w.guest.Must("look_at_public_card", fields{"key": w.key, "number": 1}),
				w.guest.Must("add_guest_comment", w.written(comment())), w.guest.Must("submit_guest_card", w.written(submission())),
				w.guest.Call("submit_guest_card", w.written(fields{"title": " "})),
				w.guest.Call("look_at_public_card", fields{"key": w.key, "number": 2}),
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
		text := answers()
		for _, secret := range append(secrets, "Ada") {
			if strings.Contains(text, secret) {
				t.Errorf("guests learn %q from %s", secret, text)
			}
		}
		if found := anyID.FindString(text); found != "" {
			t.Errorf("guests learn an id, %s…: %s", found, text)
		}
		for _, wanted := range []string{"Press release", "Two **paragraphs**.", "Soon.", "Rosa", `"total":2`,
			"2026-12-01", "Bug"} {
			if !strings.Contains(text, wanted) {
				t.Errorf("the responses to guests do not contain %q: %s", wanted, text)
			}
		}
		// With names turned on, guests see names and nothing more.
		w.open(fields{"names": true})
		text = answers()
		for _, secret := range secrets[:len(secrets)-1] {
			if strings.Contains(text, secret) {
				t.Errorf("with names guests learn %q", secret)
			}
		}
		if !strings.Contains(text, `"assignees":["Ada"]`) || !strings.Contains(text, `"author":"Bob"`) {
			t.Errorf("names are not shown: %s", text)
		}
		// People who are signed in or use a token are treated as guests.
		w.guest = w.ada
		if a := w.guest.Must("submit_guest_card", w.written(submission())); strings.Contains(string(a.Raw), w.ada.ID) {
			t.Errorf("a member submitted %s", a.Raw)
		}
		last := w.ada.Must("list_board_activity", fields{"boardId": w.board})
		if last.Text("0.actor.type") != "guest" || last.Get("0.actor.id") != nil {
			t.Errorf("a member's submission is recorded as %s", last.Raw)
		}
	})
}

// A guest's card or comment is like a member's: it is numbered, found by searches,
// shown in the activity with the guest's name, and recorded in the audit log.
func TestGuestsCardsAndCommentsAreLikeThoseOfMembers(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.open(fields{"mode": "submit", "comments": true, "listId": w.inside})
		a := w.guest.Must("submit_guest_card", w.written(submission()))
		if a.Status != http.StatusCreated || a.Get("number") != 3.0 || a.Get("shown") != false || a.Get("list") != nil {
			t.Errorf("submitted a card to a list that is not shown: %s", a.Raw)
		}
		w.guest.Must("add_guest_comment", w.written(fields{"number": 1, "text": "When?", "name": "  Rosa \u00a0 L. "}))
		cards := w.ada.Must("list_cards", fields{"boardId": w.board, "list": w.inside})
		if cards.Text("1.title") != "A map" || cards.Text("1.description") != "Of the *venue*." ||
			cards.Get("1.createdBy") != nil {
			t.Errorf("members see %s", cards.Raw)
		}
		said := w.ada.Must("list_comments", fields{"cardId": w.card})
		if said.Get("1.author") != nil || said.Text("1.guestName") != "Rosa L." || said.Get("0.guestName") != nil {
			t.Errorf("members read %s", said.Raw)
		}
		if found := w.ada.Must("search_cards",
			fields{"q": "comment:when", "workspaceId": w.workspace}); found.Text("0.id") != w.card {
			t.Errorf("the comment is not found: %s", found.Raw)
		}
		activity := w.ada.Must("list_board_activity", fields{"boardId": w.board})
		for i, want := range []string{"comment.added Rosa L.", "card.created Rosa"} {
			at := string('0'+byte(i)) + "."
			if got := activity.Text(at+"type") + " " + activity.Text(at+"changes.guestName.to"); got != want ||
				activity.Text(at+"actor.type") != "guest" {
				t.Errorf("the activity says %s, want %s", got, want)
			}
		}
		audit := w.ada.Must("list_audit_entries", fields{"workspaceId": w.workspace, "actor": "guest"})
		if audit.Text("0.operation") != "add_guest_comment" || audit.Text("1.operation") != "submit_guest_card" ||
			audit.Text("1.boardId") != w.board || audit.Text("1.changes.title.to") != "A map" {
			t.Errorf("the audit says %s", audit.Raw)
		}
		// An export of the board and a copy of the card keep the comment's
		// author.
		if doc := w.ada.Must("export_board", fields{"boardId": w.board}); !strings.Contains(string(doc.Raw),
			`"guestName":"Rosa L."`) {
			t.Errorf("the export does not contain the guest's name")
		}
		moved := w.ada.Must("copy_card", fields{"cardId": w.card, "includeComments": true}).ID()
		if said := w.ada.Must("list_comments", fields{"cardId": moved}); said.Text("1.guestName") != "Rosa L." {
			t.Errorf("the copy says %s", said.Raw)
		}
	})
}

func TestPageSettingsNeedAdminAndNameTheField(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		other := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Other"})
		away := w.make("create_list", fields{"boardId": other, "name": "Away"})
		if a := w.ada.Must("get_public_page", fields{"boardId": w.board}); a.Get("url") != nil || a.Get("on") != false ||
			a.Get("mode") != "read" || a.Get("allLists") != true {
			t.Errorf("the initial page settings are %s", a.Raw)
		}
		for what, c := range map[string]struct {
			in   fields
			says string
		}{
			"a list of another board":     {fields{"listId": away}, "listId"},
			"lists of another board":      {fields{"lists": []string{w.ideas, away}}, "lists"},
			"comments that are not shown": {fields{"mode": "comment", "comments": false}, "comments"},
			"an unknown mode":             {fields{"mode": "write"}, "mode"},
			"a welcome that is too long":  {fields{"welcome": strings.Repeat("x", 4001)}, "welcome"},
		} {
			c.in["boardId"] = w.board
			if a := w.ada.Call("update_public_page", c.in); a.Code != board.CodeInvalidRequest ||
				!strings.HasPrefix(a.Message, c.says) {
				t.Errorf("%s: got status %d, body %s", what, a.Status, a.Raw)
			}
		}
		w.open(fields{"mode": "submit", "welcome": "Hello **guests**"})
		first := w.key
		if len(first) < 26 || !strings.HasPrefix(w.ada.Must("get_public_page", fields{"boardId": w.board}).Text("url"),
			apptest.BaseURL+"/p/"+first) {
			t.Errorf("the address is …/%s", first)
		}
		if a := w.look(nil); a.Text("board.welcome") != "Hello **guests**" {
			t.Errorf("the page says %s", a.Raw)
		}
		ticket := w.ticket()
		// After the key is renewed, the old address stops working at once, and its tickets
		// are not valid for the new one.
		w.ada.Must("renew_public_page", fields{"boardId": w.board})
		if got := w.ways(ticket); !slices.Equal(got, []string{gone, gone, gone, gone}) {
			t.Errorf("the old address: %q, want %q", got, []string{gone, gone, gone, gone})
		}
		w.open(nil)
		if w.key == first || verdict(w.look(nil)) != ok {
			t.Errorf("the new address is …/%s", w.key)
		}
		if a := w.guest.Call("submit_guest_card", fields{"key": w.key, "ticket": ticket, "name": "Rosa",
			"title": "x"}); a.Code != board.CodeInvalidRequest || !strings.HasPrefix(a.Message, "ticket") {
			t.Errorf("a ticket of the old address: got status %d, body %s", a.Status, a.Raw)
		}
		// The audit log records the change. No table contains the key.
		audit := w.ada.Must("list_audit_entries", fields{"workspaceId": w.workspace, "operation": "update_public_page"})
		if audit.Get("1.changes.mode.to") != "submit" || audit.Get("1.changes.on.to") != true ||
			audit.Text("1.changes.welcome.to") == "" {
			t.Errorf("the audit says %s", audit.Raw)
		}
		for _, table := range []string{"SELECT details FROM audit", "SELECT changes FROM activity",
			"SELECT answer FROM idempotency", "SELECT fingerprint FROM idempotency", "SELECT secret FROM public_pages",
			"SELECT hash FROM public_pages"} {
			for _, row := range s.Column(table) {
				if strings.Contains(row, w.key) || strings.Contains(row, first) {
					t.Errorf("%s holds the key: %q", table, row)
				}
			}
		}
		// A confidential board cannot have a public page.
		w.ada.Must("update_board", fields{"boardId": w.board, "visibility": "confidential"})
		if on := w.ada.Must("get_board", fields{"boardId": w.board}).Get("features.publicPage"); on != false {
			t.Errorf("the page of a confidential board is on: %v, want false", on)
		}
		for name, in := range map[string]fields{"update_public_page": {"on": true},
			"update_board": {"features": fields{"publicPage": true}}} {
			in["boardId"] = w.board
			if a := w.ada.Call(name, in); a.Code != board.CodeInvalidRequest ||
				!strings.Contains(a.Message, "the board is confidential") {
				t.Errorf("%s: got status %d, body %s", name, a.Status, a.Raw)
			}
		}
		both := fields{"boardId": other, "visibility": "confidential", "features": fields{"publicPage": true}}
		if a := w.ada.Call("update_board", both); a.Code != board.CodeInvalidRequest {
			t.Errorf("confidential and public at once: got status %d, body %s", a.Status, a.Raw)
		}
	})
}
