package app_test

import (
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A change that can make cards visible to more people requires the admin scope. A token without that
// scope cannot make it, even if the token's owner is an admin of the board.
func TestWriteTokenCannotShareBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "confidential", "workspace")
		writer := p.ada.With(board.ScopeRead, board.ScopeWrite)
		wantRefused := func(field, name string, in fields) {
			t.Helper()
			before := p.version(p.from)
			direct, keyed, tool := writer.Call(name, in), writer.Keyed("k-"+name+field, name, in), writer.Tool(name, in)
			for transport, a := range map[string]struct {
				code    board.Code
				message string
			}{"REST": {direct.Code, direct.Message}, "REST with a key": {keyed.Code, keyed.Message},
				"MCP": {tool.Code, tool.Message}} {
				if a.code != board.CodeInsufficientScope || !strings.HasPrefix(a.message, field) ||
					!strings.Contains(a.message, "the admin scope") {
					t.Errorf("%s %v over %s: got code %s, message %q; want %s for %s", name, in, transport, a.code, a.message,
						board.CodeInsufficientScope, field)
				}
			}
			if got := p.version(p.from); got != before {
				t.Errorf("%s: got board version %d, want %d", name, got, before)
			}
		}
		// Even an unchanged value requires the scope.
		for _, v := range []board.Visibility{"workspace", "private", "confidential"} {
			wantRefused("visibility", "update_board", fields{"boardId": p.from, "name": "Open", "visibility": v})
		}
		for _, on := range []bool{true, false} {
			wantRefused("features.publicPage", "update_board",
				fields{"boardId": p.from, "features": fields{"publicPage": on, "calendar": false}})
		}
		wantRefused("listId", "move_card_to_board", fields{"cardId": p.card, "listId": p.there})
		wantRefused("boardId", "move_list_to_board", fields{"listId": p.here, "boardId": p.to})
		wantRefused("listId", "copy_card", fields{"cardId": p.card, "listId": p.there})
		wantRefused("boardId", "copy_board", fields{"boardId": p.from, "name": "Copy"})
		if a := writer.Call("save_board_as_template", fields{"boardId": p.from}); a.Code != board.CodeForbidden {
			t.Errorf("template of a confidential board: got status %d, body %s; want 403 forbidden", a.Status, a.Raw)
		}
		if a := writer.Call("update_public_page",
			fields{"boardId": p.to, "on": true}); a.Code != board.CodeInsufficientScope {
			t.Errorf("update_public_page: got status %d, body %s; want insufficient_scope", a.Status, a.Raw)
		}
		p.ada.Must("trash_board", fields{"boardId": p.to})
		wantRefused("boardId", "restore_board", fields{"boardId": p.to})
		// The scope error is not stored with the key: the same key works with another token.
		p.ada.Keyed("k-restore_boardboardId", "restore_board", fields{"boardId": p.to})
		if b := p.ada.Must("get_board", fields{"boardId": p.to}); b.Get("trashedAt") != nil {
			t.Errorf("got board %s, want it restored; the error response may have been stored with the key", b.Raw)
		}

		// These changes require only the write scope.
		writer.Must("update_board", fields{"boardId": p.from, "name": "Renamed", "features": fields{"calendar": false}})
		writer.Must("copy_card", fields{"cardId": p.card})
		writer.Must("archive_board", fields{"boardId": p.to})
		writer.Must("restore_board", fields{"boardId": p.to})
		wantRefused("listId", "move_card_to_board", fields{"cardId": p.listed, "listId": p.here}) // Cyd, a guest, sees only that board
		p.ada.Must("remove_board_member", fields{"boardId": p.from, "userId": p.cyd.ID})
		writer.Must("move_card_to_board", fields{"cardId": p.listed, "listId": p.here}) // into a confidential board
		writer.Must("create_board", fields{"workspaceId": p.workspace, "name": "New", "visibility": "workspace"})
		// A token with all scopes allows everything that the owner's role allows.
		p.ada.Must("copy_board", fields{"boardId": p.from, "name": "Copy"})
		p.ada.Must("move_card_to_board", fields{"cardId": p.card, "listId": p.there})
		p.ada.Must("update_board",
			fields{"boardId": p.from, "visibility": "workspace", "features": fields{"publicPage": true}})
		wantRefused("listId", "copy_card", fields{"cardId": p.behind, "listId": p.here}) // the board now has a public page
		writer.Must("copy_board", fields{"boardId": p.from, "name": "Another copy"})
	})
}
