package mcp_test

import (
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

type fields = apptest.Fields

// world is a person with a board that has a few objects of each kind.
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

func both(t *testing.T, fn func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) { fn(t, newWorld(s)) })
}

// one returns a world on SQLite, for tests that do not depend on the database.
func one(t *testing.T, opts apptest.Options) *world {
	t.Helper()
	t.Parallel()
	return newWorld(apptest.New(t, t.TempDir()+"/cardwall.db", opts))
}

// boards returns the number of boards, which a rejected request must not change.
func (w *world) boards() int {
	return len(w.ada.All("list_boards", "id", fields{"limit": 200}))
}
