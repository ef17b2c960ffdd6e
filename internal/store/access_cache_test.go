package store_test

import (
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// ReadCached needs no transaction if nothing was committed since the caller's last access to the
// board. Then it runs its function only once.
func TestCachedAccessIsValidUntilTheNextCommit(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		boardID := ada.Must("create_board", map[string]any{"workspaceId": workspace, "name": "Plan", "visibility": "workspace"}).ID()
		// read checks a person's access to the board, and returns the number of runs.
		read := func(p *apptest.Person, visible bool) (runs int) {
			t.Helper()
			err := s.DB.ReadCached(t.Context(), board.Caller{UserID: p.ID}, [32]byte{}, func(v *store.View) error {
				runs++
				return v.CheckBoard(t.Context(), boardID, board.View)
			})
			if (err == nil) != visible {
				t.Errorf("%s: got %v, want success: %v", p.Name, err, visible)
			}
			return runs
		}
		for _, visible := range []bool{true, false} {
			if !visible {
				ada.At(s.Node()).Must("update_board", map[string]any{"boardId": boardID, "visibility": "private"})
			}
			for _, p := range []*apptest.Person{ada, bob} {
				apptest.Eventually(t, "nothing is committed between two reads", func() bool {
					version := s.DB.Engine().DataVersion()
					read(p, visible || p == ada)
					runs := read(p, visible || p == ada)
					if version != s.DB.Engine().DataVersion() {
						return false
					}
					if runs != 1 {
						t.Errorf("%s: got %d runs without a commit, want 1", p.Name, runs)
					}
					return true
				})
			}
		}
		if err := s.DB.ReadCached(t.Context(), board.Caller{UserID: ada.ID}, [32]byte{}, func(v *store.View) error {
			_, err := v.BoardOfCard(t.Context(), boardID, board.View)
			return err
		}); !board.IsCode(err, board.CodeNotFound) {
			t.Errorf("the board of the card with the id of a board: got %v, want not_found", err)
		}
	})
}

// If ReadCached needs a transaction, it uses the permissions that the transaction sees, even if it
// found others in the cache before.
func TestCachedAccessIsNotMixedWithNewerData(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		boardID := ada.Must("create_board", map[string]any{"workspaceId": workspace, "name": "Plan", "visibility": "workspace"}).ID()
		// read reads the labels and calls meanwhile between the attempts to do so.
		read := func(meanwhile func()) error {
			return s.DB.ReadCached(t.Context(), board.Caller{UserID: bob.ID}, [32]byte{}, func(v *store.View) error {
				if err := v.CheckBoard(t.Context(), boardID, board.View); err != nil {
					return err
				}
				_, err := v.Labels(t.Context(), boardID, "", "", 1)
				if err != nil {
					meanwhile()
				}
				return err
			})
		}
		if err := read(func() {}); err != nil {
			t.Errorf("before the change: %v", err)
		}
		var changed bool
		err := read(func() {
			changed = true
			ada.Must("update_board", map[string]any{"boardId": boardID, "visibility": "private"})
		})
		if changed != board.IsCode(err, board.CodeNotFound) {
			t.Errorf("got %v, want not_found if the board became private meanwhile: %v", err, changed)
		}
	})
}
