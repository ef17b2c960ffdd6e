package app_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// The activity and the audit log name the program that made a change, even if a job made it or
// the token was revoked since. Nothing names a program for a change that a person made in the
// application, and webhooks never contain a program.
func TestActivityNamesPrograms(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for range 50 { // too much text to copy at once, so that a job copies the list
			w.make("create_card", fields{"listId": w.doing, "title": "Long", "description": strings.Repeat("A okapi. ", 1800)})
		}
		before := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version")
		program := w.owner.Issue(app.NewToken{Name: "Claude", Scopes: board.WorkScopes()})
		program.Must("update_card", fields{"cardId": w.card, "title": "By the program"})
		if r := program.Tool("add_comment", fields{"cardId": w.card, "text": "Done."}); r.Failed {
			t.Fatal(r.Text)
		}
		program.Must("copy_list", fields{"listId": w.doing, "name": "Copied by a job"})
		waitForJobs(s)
		if kind := w.owner.Must("list_jobs", fields{"workspaceId": w.workspace}).Text("0.kind"); kind != "copy_list" {
			t.Fatalf("the last job is a %s, want a copy_list", kind)
		}
		token := program.Must("get_me", nil).Text("token.id")
		w.Write(board.Person(w.owner.ID), func(ctx context.Context, tx *store.Tx) error {
			if err := tx.RevokeOwnToken(ctx, token); err != nil {
				return err
			}
			_, err := app.ArchiveCard(ctx, tx, app.CardInput{CardID: w.card})
			return err
		})

		want := slices.Concat([]string{"card.updated Claude", "comment.added Claude", "list.created Claude"},
			slices.Repeat([]string{"card.created Claude"}, 50), []string{"card.archived <nil>"})
		if got := programs(w.owner.Must("list_board_changes", fields{"boardId": w.board, "since": before, "limit": 200}), "type"); !slices.Equal(
			got, want) {
			t.Errorf("got the activity %v, want %v", got, want)
		}
		want = []string{"copy_list Claude", "add_comment Claude", "update_card Claude"}
		if got := programs(w.owner.Must("list_audit_entries", fields{"workspaceId": w.workspace, "tokenId": token}), "operation"); !slices.Equal(
			got, want) {
			t.Errorf("got the audit entries %v, want %v", got, want)
		}
		if sent := fmt.Sprint(s.Outbox(w.board)); strings.Contains(sent, "Claude") {
			t.Errorf("webhooks got %s, want nothing about Claude", sent)
		}
	})
}

// programs returns a field of each entry and the program that caused it.
func programs(entries apptest.Response, field string) []string {
	var out []string
	for _, e := range entries.Data.([]any) {
		entry := e.(map[string]any)
		out = append(out, fmt.Sprint(entry[field], " ", entry["actor"].(map[string]any)["client"]))
	}
	return out
}
