package app_test

import (
	"context"
	"testing"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Thousands of notifications are marked as read in transactions of at most 2,000. They are deleted
// with their account in the same way.
func TestManyNotifications(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		const many = 4500
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Launch"}).ID()
		for _, p := range []*apptest.Person{ada, bob} {
			apptest.Change(t, s.DB, "INSERT INTO notifications (id, user_id, kind, event, board_id, actor_type, created_at, way) "+
				"WITH RECURSIVE n (i) AS (SELECT 10001 UNION ALL SELECT i + 1 FROM n WHERE i < 10000 + $1) "+
				"SELECT 'ntf_' || $2 || i, $2, 'comment', 'comment.added', $3, 'system', $4, 'page' FROM n",
				many, p.ID, b, s.Clock.Now().UnixMilli())
		}
		count := func(where, userID string) int {
			return len(s.Column("SELECT id FROM notifications WHERE user_id = $1 AND "+where, userID))
		}
		bob.Must("mark_all_notifications", fields{"upTo": "ntf_" + bob.ID + "14400"})
		if got := count("read_at IS NULL", bob.ID); got != 100 {
			t.Errorf("%d notifications are unread, want 100", got)
		}
		if got := count("read_at IS NULL", ada.ID); got != many {
			t.Errorf("%d notifications of another person are unread, want %d", got, many)
		}
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, bob.ID) })
		if got := count("1 = 1", bob.ID); got != many-2000 {
			t.Errorf("after the account was deleted, %d notifications are left, want %d", got, many-2000)
		}
		if _, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil {
			t.Error(err)
		}
		if bobs, adas := count("1 = 1", bob.ID), count("1 = 1", ada.ID); bobs != 0 || adas != many {
			t.Errorf("after housekeeping %d and %d notifications are left, want 0 and %d", bobs, adas, many)
		}
	})
}
