package app_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// sharingWorld is a world in which each text of the first board ends with a mark, such as "of
// private". Gus is a guest who sees only the second board. Cyd is a member of another workspace.
type sharingWorld struct {
	*world
	elsewhere  string // the other workspace, which is the owner's too
	gus, cyd   *apptest.Person
	visibility board.Visibility // of the first board
}

func newSharingWorld(s *apptest.Service) *sharingWorld {
	w := &sharingWorld{world: newWorld(s)}
	w.elsewhere = w.owner.Workspace("Elsewhere", board.PlanTeam)
	w.gus = s.Person("Gus").Joins(w.workspace, board.WorkspaceGuest)
	w.cyd = s.Person("Cyd").Joins(w.elsewhere, board.WorkspaceMember)
	return w
}

// refill replaces the boards if the first one is no longer complete, or if others see it. It reports
// whether it has done so.
func (w *sharingWorld) refill(visibility board.Visibility) bool {
	b, card := w.owner.Call("get_board", fields{"boardId": w.board}), w.owner.Call("get_card", fields{"cardId": w.card})
	seen := w.other.Call("get_board", fields{"boardId": w.board}).Status == 200
	if w.visibility == visibility && b.Status == 200 && b.Get("archivedAt") == nil && b.Text("visibility") == string(visibility) &&
		seen == (visibility == board.VisibleToWorkspace) && card.Status == 200 &&
		card.Text("listId") == w.list && card.Text("boardId") == w.board {
		return false
	}
	w.visibility = visibility
	w.owner.Call("trash_board", fields{"boardId": w.board})
	w.owner.Call("trash_board", fields{"boardId": w.second})
	w.fill(visibility)
	w.owner.Must("share_board", fields{"boardId": w.second, "userId": w.gus.ID, "role": "viewer"})
	of := " of " + string(visibility)
	w.owner.Must("update_board", fields{"boardId": w.board, "name": "Board" + of, "description": "About" + of})
	w.owner.Must("update_list", fields{"listId": w.list, "name": "List" + of})
	w.owner.Must("update_label", fields{"labelId": w.label, "name": "Label" + of})
	w.owner.Must("update_card", fields{"cardId": w.card, "title": "Title" + of, "description": "Text" + of})
	w.owner.Must("update_checklist", fields{"checklistId": w.checklist, "title": "Checklist" + of})
	w.owner.Must("update_checklist_item", fields{"itemId": w.item, "title": "Item" + of})
	w.owner.Must("edit_comment", fields{"commentId": w.comment, "text": "Comment" + of})
	return true
}

var mark = regexp.MustCompile(`of (workspace|private|confidential)\b`)

// revealed counts the marks that others can read although the board is not visible to them.
func (w *sharingWorld) revealed() (n int) {
	for _, p := range []*apptest.Person{w.other, w.gus, w.cyd} {
		read := func(name string, in fields) []string {
			a := p.Call(name, in)
			for _, m := range mark.FindAll(a.Raw, -1) {
				if p != w.other || string(m) != "of workspace" {
					n++
				}
			}
			if a.Status != 200 || !strings.HasPrefix(name, "list_") {
				return nil
			}
			return a.Each("id")
		}
		for _, id := range read("list_boards", fields{"includeArchived": true}) {
			read("open_board", fields{"boardId": id})
		}
		read("search_cards", fields{"q": `"of ` + string(w.visibility) + `"`}) // a result shows that one of the card's texts is visible
		for _, workspace := range []string{w.workspace, w.elsewhere} {
			for _, id := range read("list_board_templates", fields{"workspaceId": workspace}) {
				if !slices.ContainsFunc(board.BuiltInTemplates(), func(b board.BuiltIn) bool { return b.ID == id }) {
					read("get_board_template", fields{"templateId": id})
				}
			}
		}
	}
	return n
}

// inputs returns inputs that take the contents of the first board everywhere, or show them to everyone.
func (w *sharingWorld) inputs(t *testing.T, o *op.Operation) []fields {
	out := []fields{w.sample(t, o)}
	for _, f := range o.Input.Fields {
		values := map[string][]string{"cardId": {w.card}, "listId": {w.list, w.away}, "boardId": {w.second},
			"workspaceId": {w.elsewhere}, "visibility": {"workspace"}, "userId": {w.gus.ID}}[f.Name]
		for _, in := range out {
			for _, value := range values {
				out = append(out, with(in, f.Name, value))
			}
		}
	}
	return out
}

// revealing calls every operation that a token may call. It returns the names of those after which
// others can read more of a board.
func (w *sharingWorld) revealing(t *testing.T, visibility board.Visibility, scopes ...board.Scope) (names []string) {
	caller, last := w.owner.With(scopes...), w.revealed()
	for _, o := range w.Registry.All() {
		if o.ReadOnly || o.Audience != op.Public && o.Audience != op.Application {
			continue
		}
		if o.Name == "delete_board_template" && visibility == board.Confidential {
			continue // a confidential board cannot become a template
		}
		if w.refill(visibility) {
			last = w.revealed()
		}
		done := false
		for _, in := range w.inputs(t, o) {
			a := caller.Call(o.Name, in)
			done = done || a.Status/100 == 2
		}
		if !done {
			continue
		}
		now := w.revealed()
		if now > last {
			names = append(names, o.Name)
		}
		last = now
	}
	return names
}

// What lets people read more than before requires the admin scope, whichever operation does it.
// This takes more than ten seconds, because it calls every operation for boards of each visibility.
func TestWriteTokenRevealsNothing(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newSharingWorld(s)
		for _, visibility := range allVisibilities {
			if got := w.revealing(t, visibility, board.ScopeRead, board.ScopeWrite); got != nil {
				t.Errorf("%s board, token with the scopes read and write: %v let others read more", visibility, got)
			}
		}
		want := []string{"update_board", "save_board_as_template", "share_board", "move_list_to_board", "move_card_to_board", "copy_card"}
		if got := w.revealing(t, board.Private, board.ScopeRead, board.ScopeWrite, board.ScopeAdmin); !slices.Equal(got, want) {
			t.Errorf("private board, token with all scopes: %v let others read more, want %v", got, want)
		}
	})
}
