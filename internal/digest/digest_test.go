package digest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// Every group occurs. A card has one item in a group, however often it changed.
func TestGroups(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		first, second, third := w.newCard("First"), w.newCard("Second"), w.newCard("Third")
		label := w.make("create_label", fields{"boardId": w.board, "name": "Bug", "color": "red"})
		version := w.ada.Must("get_board", fields{"boardId": w.board}).Get("version")
		since := w.pause()
		w.make("create_card", fields{"listId": w.doing, "title": "Fourth"})
		done := w.make("create_list", fields{"boardId": w.board, "name": "Done"})
		for _, list := range []string{w.doing, done} {
			w.program.Must("move_card", fields{"cardId": first, "listId": list})
		}
		for _, list := range []string{w.doing, w.todo} {
			w.bob.Must("move_card", fields{"cardId": second, "listId": list})
		}
		w.bob.Must("update_card", fields{"cardId": first, "done": true})
		for _, value := range []bool{true, false, true, false} {
			w.ada.Must("update_card", fields{"cardId": second, "done": value})
		}
		w.ada.Must("archive_card", fields{"cardId": third})
		w.ada.Must("archive_card", fields{"cardId": first})
		w.ada.Must("restore_card", fields{"cardId": first})
		for _, date := range []string{"2026-12-01", "2026-12-24"} {
			w.ada.Must("set_card_due", fields{"cardId": first, "dueDate": date})
		}
		w.make("add_comment", fields{"cardId": first, "text": "Older"})
		w.bob.Must("add_comment", fields{"cardId": first, "text": "The printer\n\nwants it."})
		w.ada.Must("delete_comment", fields{"commentId": w.make("add_comment", fields{"cardId": first, "text": "Deleted"})})
		w.ada.Must("set_card_labels", fields{"cardId": first, "add": []string{label}})
		w.ada.Must("update_list", fields{"listId": done, "name": "Finished"})
		w.ada.Must("share_board", fields{"boardId": w.board, "userId": w.bob.ID, "role": "editor"})
		w.ada.Must("update_board", fields{"boardId": w.board, "name": "Launch 2"})
		w.make("create_label", fields{"boardId": w.board, "name": "Press", "color": "blue"})

		a := w.ada.Must("get_board_digest", fields{"boardId": w.board, "since": since})
		requireLines(t, lines(a, ""),
			"completed: number=1 title=First list=Finished by=[Bob]",
			"created: number=4 title=Fourth list=Doing by=[Ada]",
			"moved: number=2 title=Second from=To do to=To do changes=2 by=[Bob]",
			"moved: number=1 title=First from=To do to=Finished changes=2 by=[Ada via Claude]",
			"comments: number=1 title=First list=Finished text=The printer wants it. changes=3 by=[Ada Bob]",
			"dueDates: number=1 title=First list=Finished to=2026-12-24 changes=2 by=[Ada]",
			"reopened: number=2 title=Second list=To do changes=4 by=[Ada]",
			"archived: number=3 title=Third list=To do by=[Ada]",
			"restored: number=1 title=First list=Finished changes=2 by=[Ada]",
			"cards: number=1 title=First list=Finished types=[card.labels_changed comment.deleted] changes=2 by=[Ada]",
			"lists: title=Finished types=[list.updated list.created] changes=2 by=[Ada]",
			"members: title=Bob types=[board_member.added] by=[Ada]",
			"other: title=Press types=[label.created] by=[Ada]",
			"other: types=[board.updated] by=[Ada]",
		)
		want := len(w.ada.Must("list_board_changes", fields{"boardId": w.board, "since": version, "limit": 200}).Each("id"))
		people := fmt.Sprintf("%v, %v, %v, %v by %v", a.Get("people.0.name"), a.Get("people.1.name"), a.Get("people.2.name"),
			a.Get("people.2.changes"), a.Get("people.2.actor.client"))
		if people != "Ada via Deploy script, Bob via Deploy script, Ada via Claude, 2 by Claude" ||
			a.Get("people.0.actor.id") != w.ada.ID || a.Get("changes") != float64(want) || a.Get("boardName") != "Launch 2" ||
			a.Get("shortened") != nil || a.Get("morePeople") != 0.0 {
			t.Errorf("got %s people %s, want %d changes and nothing left out", a.Raw, people, want)
		}
		if text := w.ada.Tool("get_board_digest", fields{"boardId": "Launch 2", "since": since}); text.Get("changes") != float64(want) {
			t.Errorf("got %s, want the same over MCP", text.Text)
		}
	})
}

// The period has defaults, includes both ends, and is at most 92 days long.
func TestPeriod(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.Clock.Advance(8 * 24 * time.Hour)
		w.Clock.Stop()
		made := w.Clock.Now().UTC()
		w.newCard("First")
		at := func(d time.Duration) string { return made.Add(d).Format(time.RFC3339Nano) }
		const day = 24 * time.Hour
		for _, c := range []struct {
			after time.Duration
			in    fields
			found bool
		}{
			{0, fields{}, true},
			{0, fields{"since": at(0), "until": at(time.Second)}, true},
			{0, fields{"since": at(-time.Second), "until": at(0)}, true},
			{0, fields{"since": at(-time.Second), "until": at(-time.Millisecond)}, false},
			{7*day - time.Second, fields{}, true},
			{2 * time.Second, fields{}, false},
			{0, fields{"until": at(6 * day)}, true},
			{0, fields{"until": at(8 * day)}, false},
			{0, fields{"since": at(0), "until": at(92 * day)}, true},
		} {
			w.Clock.Advance(c.after)
			for name, in := range map[string]fields{
				"get_board_digest": {"boardId": w.board}, "get_workspace_digest": {"workspaceId": w.workspace},
			} {
				for field, value := range c.in {
					in[field] = value
				}
				if a := w.ada.Must(name, in); (a.Get("changes") != 0.0) != c.found {
					t.Errorf("%s %v: got %s, want changes: %v", name, in, a.Raw, c.found)
				}
			}
		}
		for _, in := range []fields{
			{"since": at(time.Hour), "until": at(time.Hour)}, {"since": at(time.Hour), "until": at(0)}, {"since": at(800 * day)},
			{"since": at(0), "until": at(92*day + time.Second)}, {"since": "yesterday"},
		} {
			in["boardId"] = w.board
			a := w.ada.Refused(board.CodeInvalidRequest, "get_board_digest", in)
			if a.Message == "" {
				t.Errorf("%v: got %s, want a message", in, a.Raw)
			}
		}
	})
}

// A person sees the changes to the boards that the person can see, as in the activity.
func TestPermissions(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		guest, outsider := w.Person("Gus").Joins(w.workspace, board.WorkspaceGuest), w.Person("Eve")
		viewer := w.Person("Vic").Joins(w.workspace, board.WorkspaceGuest)
		w.bob.Must("create_card", fields{"listId": w.todo, "title": "First"})
		secret := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Secret", "visibility": "private"})
		list := w.make("create_list", fields{"boardId": secret, "name": "Hidden list"})
		w.make("create_card", fields{"listId": list, "title": "Hidden card"})
		w.ada.Must("share_board", fields{"boardId": secret, "userId": viewer.ID, "role": "viewer"})
		for p, want := range map[*apptest.Person]string{w.ada: "[Launch Secret]", w.bob: "[Launch]", guest: "[]", viewer: "[Secret]"} {
			a := p.Must("get_workspace_digest", fields{"workspaceId": w.workspace})
			names := []string{}
			for _, b := range a.Get("boards").([]any) {
				names = append(names, b.(map[string]any)["boardName"].(string))
			}
			changes := 0
			for _, id := range []string{w.board, secret} {
				if entries := p.Call("list_board_activity", fields{"boardId": id, "limit": 200}); entries.Status == 200 {
					changes += len(entries.Each("id"))
				}
				if d, entries := p.Call("get_board_digest", fields{"boardId": id}), p.Call("list_board_activity",
					fields{"boardId": id}); d.Status != entries.Status {
					t.Errorf("got status %d, want %d as from list_board_activity", d.Status, entries.Status)
				}
			}
			slices.Sort(names)
			if fmt.Sprint(names) != want || a.Get("changes") != float64(changes) {
				t.Errorf("got %s, want %s and %d changes", a.Raw, want, changes)
			}
		}
		outsider.Refused(board.CodeNotFound, "get_workspace_digest", fields{"workspaceId": w.workspace})

		w.ada.Must("share_board", fields{"boardId": w.board, "userId": guest.ID, "role": "viewer"})
		w.make("create_card", fields{"listId": w.todo, "title": "Second"})
		w.ada.Must("remove_member", fields{"workspaceId": w.workspace, "userId": w.bob.ID})
		for _, p := range []*apptest.Person{w.ada, guest} {
			requireLines(t, lines(p.Must("get_board_digest", fields{"boardId": w.board}), "")[:2],
				"created: number=2 title=Second list=To do by=[Ada]",
				"created: number=1 title=First list=To do by=[A former member]")
		}
	})
}

// A guest learns the names of the people on the board, as from list_board_members, and not of
// others in the workspace.
func TestNamesForGuests(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		guest := w.Person("Gus").Joins(w.workspace, board.WorkspaceGuest)
		secret := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Secret", "visibility": "private"})
		list := w.make("create_list", fields{"boardId": secret, "name": "To do"})
		w.ada.Must("share_board", fields{"boardId": secret, "userId": guest.ID, "role": "viewer"})
		w.ada.Must("share_board", fields{"boardId": secret, "userId": w.bob.ID, "role": "editor"})
		w.bob.Must("create_card", fields{"listId": list, "title": "First"})
		created := func(p *apptest.Person, by string) {
			t.Helper()
			requireLines(t, lines(p.Must("get_board_digest", fields{"boardId": secret}), "")[:1],
				"created: number=1 title=First list=To do by=["+by+"]")
		}
		created(guest, "Bob")
		w.ada.Must("remove_board_member", fields{"boardId": secret, "userId": w.bob.ID})
		created(guest, "A former member")
		created(w.ada, "Bob")
	})
}

// A digest does not contain the present title of a card that is on another board now, or the
// name of a list there.
func TestMovedToAnotherBoard(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		card := w.newCard("First")
		secret := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Secret", "visibility": "private"})
		list := w.make("create_list", fields{"boardId": secret, "name": "Hidden list"})
		w.make("add_comment", fields{"cardId": card, "text": "Text"})
		w.ada.Must("move_card_to_board", fields{"cardId": card, "listId": list})
		w.ada.Must("update_card", fields{"cardId": card, "title": "Hidden title"})
		requireLines(t, lines(w.bob.Must("get_board_digest", fields{"boardId": w.board}), "")[:3],
			"created: by=[Ada]", "moved: from=To do by=[Ada]", "comments: by=[Ada]")
		requireLines(t, lines(w.ada.Must("get_board_digest", fields{"boardId": secret}), "")[:1],
			"moved: number=1 title=Hidden title to=Hidden list by=[Ada]")
	})
}

// A digest says if changes of the period may be missing.
func TestIncomplete(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.newCard("First")
		w.pause()
		before := w.ada.Must("get_board_digest", fields{"boardId": w.board})
		apptest.Change(t, w.DB, "UPDATE boards SET reduced_to = 3 WHERE id = $1", w.board)
		after := w.ada.Must("get_board_digest", fields{"boardId": w.board})
		second := w.Clock.Now().Add(-time.Second).UTC().Format(time.RFC3339Nano)
		later := w.ada.Must("get_board_digest", fields{"boardId": w.board, "since": second})
		if before.Get("incomplete") != false || after.Get("incomplete") != true || later.Get("incomplete") != false {
			t.Errorf("got %s, %s and %s; want only the second one incomplete", before.Raw, after.Raw, later.Raw)
		}
	})
}
