package app_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// pagedOperations calls fn for every paged operation on each database. It passes an input with limit 1
// and the response to that input, which has a next cursor.
func pagedOperations(t *testing.T, fn func(w *world, o *op.Operation, in fields, first apptest.Response)) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		count := 0
		for _, o := range s.Registry.All() {
			if !o.Paged {
				continue
			}
			count++
			in := with(w.sample(t, o), "limit", 1)
			first := w.owner.Must(o.Name, in)
			if first.Next == "" {
				t.Fatalf("%s has only one page: make fill in world_test.go create at least two of the listed objects", o.Name)
			}
			fn(w, o, in, first)
		}
		if count < 10 {
			t.Errorf("got %d paged operations, want at least 10", count)
		}
	})
}

func TestCursors(t *testing.T) {
	pagedOperations(t, func(w *world, o *op.Operation, in fields, first apptest.Response) {
		t := w.T
		wantRefused := func(what string, in fields) {
			t.Helper()
			if a := w.owner.Call(o.Name, in); a.Status != http.StatusBadRequest || a.Code != board.CodeInvalidRequest ||
				!strings.Contains(a.Message, "cursor") {
				t.Errorf("%s with %s: got status %d, body %s; want 400 and a message about the cursor", o.Name, what,
					a.Status, a.Raw)
			}
		}
		second := w.owner.Must(o.Name, with(in, "cursor", first.Next))
		if first.Each("id")[0] == second.Each("id")[0] {
			t.Errorf("%s: the second page repeats the first", o.Name)
		}
		w.owner.Must(o.Name, with(with(in, "limit", 7), "cursor", first.Next)) // the limit may differ between pages
		raw, err := base64.RawURLEncoding.DecodeString(first.Next)
		if err != nil {
			t.Fatal(err)
		}
		for i := range raw {
			for _, bit := range []byte{1, 0x80} {
				changed := append([]byte{}, raw...)
				changed[i] ^= bit
				wantRefused("a changed cursor", with(in, "cursor", base64.RawURLEncoding.EncodeToString(changed)))
			}
		}
		wantRefused("a longer cursor", with(in, "cursor", base64.RawURLEncoding.EncodeToString(append(raw, ' '))))
		for _, last := range "AQgw048" { // some may differ only in unused bits
			if cursor := first.Next[:len(first.Next)-1] + string(last); cursor != first.Next {
				wantRefused("another last character", with(in, "cursor", cursor))
			}
		}
		for _, cursor := range []string{"x", "====", first.Next + "=", first.Next[:8], first.Next + "A", "\n" + first.Next,
			first.Next + "\r\n", strings.Repeat("A", 2049), strings.Repeat("A", 2000)} {
			wantRefused("an invalid cursor", with(in, "cursor", cursor))
		}
		for _, other := range w.Registry.All() {
			if other.Paged && other != o {
				cursor := w.owner.Must(other.Name, with(w.sample(w.T.(*testing.T), other), "limit", 1)).Next
				wantRefused("the cursor of "+other.Name, with(in, "cursor", cursor))
			}
		}
	})
}

// A cursor is valid only for the board, card or workspace of the request that returned it, and only
// with the same filters and sort order.
func TestCursorsOfOtherFilters(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		firstBoard, card, workspace := w.board, w.card, w.workspace
		w.fill("private")
		third := w.owner.Workspace("Third", board.PlanTeam)
		for _, c := range []struct {
			operation string
			in, other fields
		}{
			{"list_cards", fields{"boardId": firstBoard}, fields{"boardId": w.board}},
			{"list_cards", fields{"boardId": firstBoard}, fields{"boardId": firstBoard, "sort": "title"}},
			{"list_cards", fields{"boardId": firstBoard}, fields{"boardId": firstBoard, "done": "false"}},
			{"list_cards", fields{"boardId": firstBoard, "sort": "title"}, fields{"boardId": firstBoard, "sort": "-title"}},
			{"list_cards", fields{"boardId": firstBoard, "archived": "true"},
				fields{"boardId": firstBoard, "archived": "false"}},
			{"list_my_cards", fields{}, fields{"workspaceId": workspace}},
			{"list_my_cards", fields{"sort": "due"}, fields{"sort": "start"}},
			{"list_boards", fields{}, fields{"includeArchived": true}},
			{"list_boards", fields{"workspaceId": workspace}, fields{}},
			{"list_workspace_members", fields{"workspaceId": workspace}, fields{"workspaceId": third}},
			{"list_comments", fields{"cardId": card}, fields{"cardId": w.card}},
			{"list_labels", fields{"boardId": firstBoard}, fields{"boardId": w.board}},
			{"list_lists", fields{"boardId": firstBoard}, fields{"boardId": firstBoard, "includeArchived": true}},
			{"list_board_activity", fields{"boardId": firstBoard}, fields{"boardId": w.board}},
			{"list_board_changes", fields{"boardId": firstBoard}, fields{"boardId": firstBoard, "since": 1}},
			{"list_board_members", fields{"boardId": firstBoard}, fields{"boardId": w.board}},
		} {
			cursor := w.owner.Must(c.operation, with(c.in, "limit", 1)).Next
			if cursor == "" {
				t.Fatalf("%s %v: got one page, want at least two", c.operation, c.in)
			}
			a := w.owner.Refused(board.CodeInvalidRequest, c.operation, with(c.other, "cursor", cursor))
			if !strings.Contains(a.Message, "cursor") {
				t.Errorf("%s: got message %q, want it to contain %q", c.operation, a.Message, "cursor")
			}
		}
		// A cursor grants no access to a caller who may not see the board.
		cursor := w.owner.Must("list_cards", fields{"boardId": w.board, "limit": 1}).Next
		w.other.Refused(board.CodeNotFound, "list_cards", fields{"boardId": w.board, "cursor": cursor})
	})
}

func TestPageLimits(t *testing.T) {
	pagedOperations(t, func(w *world, o *op.Operation, in fields, _ apptest.Response) {
		for _, bad := range []string{"0", "201", "-1", "x", "", "1.0", "1e1", "9223372036854775808", " 1"} {
			if a := w.owner.Call(o.Name, with(in, "limit", bad)); a.Status != http.StatusBadRequest ||
				a.Code != board.CodeInvalidRequest || !strings.Contains(a.Message, "limit") {
				w.T.Errorf("%s with limit %q: got status %d, body %s; want 400 and a message about the limit", o.Name, bad, a.Status, a.Raw)
			}
		}
		for _, good := range []string{"1", "200"} {
			w.owner.Must(o.Name, with(in, "limit", good))
		}
	})
}
