package mcp_test

import (
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

type fields = apptest.Fields

// world is a service with a person and a board that has a list, a card and a comment.
type world struct {
	*apptest.Service
	ada                          *apptest.Person
	workspace, board, list, card string
}

func newWorld(s *apptest.Service) *world {
	w := &world{Service: s, ada: s.Person("Ada")}
	w.workspace = w.ada.Workspace("Engines", board.PlanTeam)
	w.board = w.ada.Must("create_board", fields{"workspaceId": w.workspace, "name": "Launch"}).ID()
	w.list = w.ada.Must("create_list", fields{"boardId": w.board, "name": "To do"}).ID()
	w.card = w.ada.Must("create_card", fields{"listId": w.list, "title": "Press release"}).ID()
	w.ada.Must("add_comment", fields{"cardId": w.card, "text": "Soon."})
	return w
}

// both runs fn on SQLite and PostgreSQL.
func both(t *testing.T, fn func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) { fn(t, newWorld(s)) })
}

// sqliteWorld returns a world on SQLite, for tests that do not depend on the database.
func sqliteWorld(t *testing.T, opts apptest.Options) *world {
	t.Helper()
	t.Parallel()
	return newWorld(apptest.New(t, t.TempDir()+"/cardwall.db", opts))
}

// boardCount returns the number of boards. A rejected request must not change it.
func (w *world) boardCount() int {
	return len(w.ada.All("list_boards", "id", fields{"limit": 200}))
}
