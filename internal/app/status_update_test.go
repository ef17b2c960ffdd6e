package app_test

import (
	"reflect"
	"slices"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func TestStatusUpdates(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop() // the date must not change during the test
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		b, lists, _ := newBoardWithCards(ada, workspace, 2, 0)
		for _, in := range []fields{
			{"title": "late", "due": fields{"dueDate": "2020-01-01"}, "assignees": []string{ada.ID, bob.ID}},
			{"title": "today", "due": fields{"dueDate": s.Clock.Now().UTC().Format(board.DateLayout)}},
			{"title": "undated"}, {"title": "done"}, {"title": "archived"}, {"title": "in archived list", "listId": lists[1]},
		} {
			if in["listId"] == nil {
				in["listId"] = lists[0]
			}
			id := ada.Must("create_card", in).ID()
			switch in["title"] {
			case "done":
				ada.Must("update_card", fields{"cardId": id, "done": true})
			case "archived":
				ada.Must("archive_card", fields{"cardId": id})
			}
		}
		ada.Must("archive_list", fields{"listId": lists[1]})
		first := bob.Must("post_status_update", fields{"boardId": b, "status": "at_risk", "title": " Late ",
			"text": "**Soon.**", "startDate": "2026-03-01", "targetDate": "2026-03-01"})
		want := map[string]any{"open": 3.0, "done": 1.0, "overdue": 1.0, "dueIn7Days": 1.0, "unassigned": 2.0, "undated": 1.0}
		if got := first.Get("snapshot"); !reflect.DeepEqual(got, want) || first.Text("title") != "Late" ||
			first.Text("author.id") != bob.ID || first.Text("targetDate") != "2026-03-01" {
			t.Errorf("got update %s, want the snapshot %v and the input", first.Raw, want)
		}
		ada.Must("update_card", fields{"cardId": ada.All("list_cards", "id", fields{"boardId": b})[0], "done": true})
		second := ada.Must("post_status_update", fields{"boardId": b, "status": "complete", "title": "Finished"})
		if second.Get("startDate") != nil || second.Text("text") != "" || second.Version != first.Version+2 {
			t.Errorf("got second update %s, want no dates, no text and boardVersion %d", second.Raw, first.Version+2)
		}
		list := ada.Must("list_status_updates", fields{"boardId": b})
		if ids := list.Each("id"); !slices.Equal(ids, []string{second.ID(), first.ID()}) ||
			!reflect.DeepEqual(list.Get("1"), first.Data) {
			t.Errorf("got updates %s, want the second and then the first", list.Raw)
		}
		if ids := ada.All("list_status_updates", "id", fields{"boardId": b, "limit": 1}); !slices.Equal(ids,
			[]string{second.ID(), first.ID()}) {
			t.Errorf("in pages of one: got updates %v, want %v", ids, []string{second.ID(), first.ID()})
		}
		entry := ada.Must("list_board_activity", fields{"boardId": b, "limit": 1})
		if entry.Text("0.type") != "status.posted" || entry.Text("0.changes.statusUpdateId.to") != second.ID() {
			t.Errorf("got activity %s, want status.posted with the second update", entry.Raw)
		}
		// The status operator matches the latest status.
		for q, n := range map[string]int{"title:today status:complete": 1, "title:today status:at_risk": 0,
			"title:today -status:complete": 0, "title:today status:at_risk,complete": 1} {
			if found := ada.All("list_cards", "id", fields{"boardId": b, "q": q}); len(found) != n {
				t.Errorf("%s: got %d cards, want %d", q, len(found), n)
			}
		}
		if a := ada.Must("get_my_overview", nil); a.Text("boards.boards.0.status.id") != second.ID() {
			t.Errorf("got overview %s, want the second update", a.Raw)
		}

		ada.Must("update_board", fields{"boardId": b, "features": fields{"statusUpdates": false}})
		ada.Refused(board.CodePowerupDisabled, "post_status_update", fields{"boardId": b, "status": "on_track", "title": "x"})
		if n := len(ada.All("list_status_updates", "id", fields{"boardId": b})); n != 2 {
			t.Errorf("with the feature disabled: got %d updates, want 2", n)
		}
		ada.Must("update_board", fields{"boardId": b, "features": fields{"statusUpdates": true}})
		for field, in := range map[string]fields{
			"status": {"status": "great", "title": "x"}, "title": {"status": "on_track", "title": " "},
			"targetDate": {"status": "on_track", "title": "x", "startDate": "2026-03-02", "targetDate": "2026-03-01"},
			"startDate":  {"status": "on_track", "title": "x", "startDate": "soon"},
		} {
			if a := ada.Refused(board.CodeInvalidRequest, "post_status_update",
				with(in, "boardId", b)); len(a.Message) < len(field) || a.Message[:len(field)] != field {
				t.Errorf("%v: got message %q, want one that begins with %s", in, a.Message, field)
			}
		}
	})
}

// The status.posted event contains only the ID of the update. A confidential board sends no event.
func TestStatusPostedEvent(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		open := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Open"}).ID()
		secret := ada.Must("create_board",
			fields{"workspaceId": workspace, "name": "Secret", "visibility": "confidential"}).ID()
		s.Listen(workspace, secret)
		id := ada.Must("post_status_update", fields{"boardId": open, "status": "on_track", "title": "Fine"}).ID()
		ada.Must("post_status_update", fields{"boardId": secret, "status": "on_track", "title": "Fine"})
		var sent []string
		for _, b := range []string{open, secret} {
			sent = append(sent, s.Outbox(b)...)
		}
		if want := []string{`status.posted {"statusUpdateId":"` + id + `"}`}; !slices.Equal(sent, want) {
			t.Errorf("got events %q, want %q", sent, want)
		}
	})
}
