package digest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

type fields = apptest.Fields

// world is a workspace with a board, its owner Ada, a member Bob, and a program that acts for
// Ada.
type world struct {
	*apptest.Service
	ada, bob, program *apptest.Person

	workspace, board, todo, doing string // ids
}

func both(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) { test(t, newWorld(s)) })
}

func newWorld(s *apptest.Service) *world {
	ada := s.Person("Ada")
	w := &world{Service: s, ada: ada, bob: s.Person("Bob"), workspace: ada.Workspace("Engines", board.PlanTeam)}
	w.bob.Joins(w.workspace, board.WorkspaceMember)
	w.program = ada.Issue(app.NewToken{Name: "Claude", Scopes: board.WorkScopes()})
	w.board = w.make("create_board", fields{"workspaceId": w.workspace, "name": "Launch"})
	w.todo = w.make("create_list", fields{"boardId": w.board, "name": "To do"})
	w.doing = w.make("create_list", fields{"boardId": w.board, "name": "Doing"})
	return w
}

func (w *world) make(name string, in fields) string { w.T.Helper(); return w.ada.Must(name, in).ID() }

func (w *world) newCard(title string) string {
	w.T.Helper()
	return w.make("create_card", fields{"listId": w.todo, "title": title})
}

// pause lets time pass, and returns a time that is after everything before and before everything
// after the call.
func (w *world) pause() string {
	w.Clock.Advance(time.Second)
	at := w.Clock.Now()
	w.Clock.Advance(time.Second)
	return at.UTC().Format(time.RFC3339Nano)
}

// lines returns each item of a board in a digest as a line.
func lines(a apptest.Response, path string) (out []string) {
	for _, g := range a.Get(path + "groups").([]any) {
		g := g.(map[string]any)
		items := g["items"].([]any)
		more, _ := g["more"].(float64)
		if g["total"].(float64) != more+float64(len(items)) {
			out = append(out, fmt.Sprintf("%v: wrong total in %v", g["group"], g))
		}
		for _, it := range items {
			it := it.(map[string]any)
			line := fmt.Sprint(g["group"], ":")
			for _, name := range []string{"number", "title", "list", "from", "to", "text", "types", "changes", "by", "moreBy", "partial"} {
				if v, ok := it[name]; ok {
					line += fmt.Sprintf(" %s=%v", name, v)
				}
			}
			out = append(out, strings.ReplaceAll(line, " via Deploy script", "")) // the token of a person in tests
		}
	}
	return out
}

func requireLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
