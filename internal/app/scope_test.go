package app_test

import (
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A change that lets more people see a board needs the scope admin. A token without that scope
// cannot make it, even if the token's owner is an admin of the board.
func TestWriteTokenCannotShareBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "confidential", "workspace")
		writer := p.ada.With(board.ScopeRead, board.ScopeWrite)
		refused := func(field, name string, in fields) {
			t.Helper()
			before := p.version(p.from)
			direct, keyed, tool := writer.Call(name, in), writer.Keyed("k-"+name+field, name, in), writer.Tool(name, in)
			for transport, a := range map[string]struct {
				code    board.Code
				message string
			}{"REST": {direct.Code, direct.Message}, "REST with a key": {keyed.Code, keyed.Message},
				"MCP": {tool.Code, tool.Message}} {
				if a.code != board.CodeInsufficientScope || !strings.HasPrefix(a.message, field) ||
					!strings.Contains(a.message, "scope admin") {
					t.Errorf("%s %v over %s: got %s %s", name, in, transport, a.code, a.message)
				}
			}
			if p.version(p.from) != before {
				t.Errorf("%s changed the board", name)
			}
		}
		for _, v := range []board.Visibility{"workspace", "private", "confidential"} { // even the same value needs the scope
			refused("visibility", "update_board", fields{"boardId": p.from, "name": "Open", "visibility": v})
		}
		for _, on := range []bool{true, false} {
			refused("features.publicPage", "update_board",
				fields{"boardId": p.from, "features": fields{"publicPage": on, "calendar": false}})
		}
		refused("listId", "move_card_to_board", fields{"cardId": p.card, "listId": p.there})
		refused("boardId", "move_list_to_board", fields{"listId": p.here, "boardId": p.to})
		refused("listId", "copy_card", fields{"cardId": p.card, "listId": p.there})
		refused("boardId", "copy_board", fields{"boardId": p.from, "name": "Copy"})
		if a := writer.Call("save_board_as_template", fields{"boardId": p.from}); a.Code != board.CodeForbidden {
			t.Errorf("a template of a confidential board: got status %d, body %s", a.Status, a.Raw)
		}
		if a := writer.Call("update_public_page",
			fields{"boardId": p.to, "on": true}); a.Code != board.CodeInsufficientScope {
			t.Errorf("update_public_page: got status %d, body %s", a.Status, a.Raw)
		}
		p.ada.Must("trash_board", fields{"boardId": p.to})
		refused("boardId", "restore_board", fields{"boardId": p.to})
		// The error concerns the token: the same key works with another token.
		p.ada.Keyed("k-restore_boardboardId", "restore_board", fields{"boardId": p.to})
		if b := p.ada.Must("get_board", fields{"boardId": p.to}); b.Get("trashedAt") != nil {
			t.Errorf("the board was not restored, so the error response was stored with the key: %s", b.Raw)
		}

		// Everything else still needs only the scope write.
		writer.Must("update_board", fields{"boardId": p.from, "name": "Renamed", "features": fields{"calendar": false}})
		writer.Must("copy_card", fields{"cardId": p.card})
		writer.Must("archive_board", fields{"boardId": p.to})
		writer.Must("restore_board", fields{"boardId": p.to})
		writer.Must("move_card_to_board", fields{"cardId": p.listed, "listId": p.here}) // into a confidential board
		writer.Must("create_board", fields{"workspaceId": p.workspace, "name": "New", "visibility": "workspace"})
		// All scopes, and admin with write, allow everything that the owner's role allows.
		p.ada.Must("copy_board", fields{"boardId": p.from, "name": "Copy"})
		p.ada.Must("move_card_to_board", fields{"cardId": p.card, "listId": p.there})
		p.ada.Must("update_board",
			fields{"boardId": p.from, "visibility": "workspace", "features": fields{"publicPage": true}})
		writer.Must("copy_board", fields{"boardId": p.from, "name": "Another copy"})
	})
}
