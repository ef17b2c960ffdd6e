package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// listed returns the title, the description and the URI of each resource in a person's list.
func (w *world) listed(p *apptest.Person, revision string) []string {
	w.T.Helper()
	a := p.RPC(revision, "resources/list", nil)
	resources, ok := a.Result["resources"].([]any)
	if !ok {
		w.T.Fatalf("got status %d, body %s; want a list", a.Status, a.Raw)
	}
	if revision == apptest.Stateless && (a.Result["cacheScope"] != "private" || a.Result["ttlMs"] != 0.0) {
		w.T.Errorf("got cache scope %v, ttlMs %v; want private, 0", a.Result["cacheScope"], a.Result["ttlMs"])
	}
	out := []string{}
	for _, r := range resources {
		r := r.(map[string]any)
		if r["name"] != r["title"] || r["mimeType"] != "application/json" {
			w.T.Errorf("got the resource %v, want its title as name, and application/json", r)
		}
		out = append(out, fmt.Sprintf("%s: %s: %s", r["title"], r["description"], r["uri"]))
	}
	return out
}

// open records that a person opened a board. Then time passes.
func (w *world) open(p *apptest.Person, boardID string) {
	w.T.Helper()
	if err := w.DB.MarkPresent(w.T.Context(), p.ID, []string{boardID}); err != nil {
		w.T.Fatal(err)
	}
	w.Clock.Advance(time.Minute)
}

func TestResourceListNamesStarredAndRecentBoards(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		create := func(workspace, name, visibility string) string {
			return w.ada.Must("create_board", fields{"workspaceId": workspace, "name": name, "visibility": visibility}).ID()
		}
		elsewhere := w.ada.Workspace("El\u200bse\U000E0041where", board.PlanTeam)
		bob := w.Person("Bob").Joins(w.workspace, board.WorkspaceMember)
		older, newer := create(w.workspace, "Older", "workspace"), create(elsewhere, "Ne\u200bwer", "workspace")
		starred, secret := create(w.workspace, "Starred", "workspace"), create(w.workspace, "Secret", "private")
		archived := create(w.workspace, "Archived", "workspace")
		create(w.workspace, "Never opened", "workspace")
		w.ada.Must("share_board", fields{"boardId": secret, "userId": bob.ID, "role": "editor"})
		for _, id := range []string{older, newer, starred, archived} {
			w.open(w.ada, id)
		}
		w.ada.Must("star_board", fields{"boardId": w.board}) // never opened
		w.ada.Must("star_board", fields{"boardId": starred})
		w.ada.Must("star_board", fields{"boardId": archived})
		w.ada.Must("archive_board", fields{"boardId": archived})
		w.open(bob, secret)
		bob.Must("star_board", fields{"boardId": w.board})

		entry := func(id, name, reason, workspace string) string {
			return fmt.Sprintf("%s: %s. Workspace: %s: service://boards/%s", name, reason, workspace, id)
		}
		own := []string{entry(starred, "Starred", "Starred", "Engines"), entry(w.board, "Launch", "Starred", "Engines")}
		recent := []string{entry(newer, "Newer", "Recently opened", "Elsewhere"), entry(older, "Older", "Recently opened", "Engines")}
		launch, shared := entry(w.board, "Launch", "Starred", "Engines"), entry(secret, "Secret", "Recently opened", "Engines")
		check := func(what string, p *apptest.Person, want ...string) {
			t.Helper()
			for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
				if got := w.listed(p, revision); !slices.Equal(got, want) {
					t.Errorf("%s, %s: got\n%s\nwant\n%s", what, revision, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
		check("Ada", w.ada, append(own, recent...)...)
		check("Bob", bob, launch, shared)
		check("Ada's token for one workspace", w.ada.Within(elsewhere), recent[0])
		check("Ada's read-only token", w.ada.With(board.ScopeRead), append(own, recent...)...)
		w.ada.Must("remove_board_member", fields{"boardId": secret, "userId": bob.ID})
		check("Bob without the private board", bob, launch)
		w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.RemoveMember(ctx, w.workspace, bob.ID) })
		check("Bob without the workspace", bob)
	})
}

func TestResourceListIsShort(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	for i := range 25 {
		w.open(w.ada, w.ada.Must("create_board", fields{"workspaceId": w.workspace, "name": fmt.Sprint("Board ", i)}).ID())
	}
	w.ada.Must("star_board", fields{"boardId": w.board})
	got := w.listed(w.ada, apptest.Stateless)
	if len(got) != 20 || !strings.HasPrefix(got[0], "Launch: Starred") || !strings.HasPrefix(got[1], "Board 24: Recently opened") ||
		!strings.Contains(got[19], "6 more boards are not listed; list_boards returns all") {
		t.Errorf("got %d resources %q, want 20, the starred board first, and the number of the others", len(got), got)
	}
}
