package app_test

import (
	"context"
	"testing"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Many notifications are marked as read, and deleted with their account, in transactions of at most
// 2,000 rows each.
func TestManyNotifications(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		const total = 4500
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Launch"}).ID()
		for _, p := range []*apptest.Person{ada, bob} {
			apptest.Change(t, s.DB,
				"INSERT INTO notifications (id, user_id, kind, event, board_id, actor_type, created_at, way) "+
					"WITH RECURSIVE n (i) AS (SELECT 10001 UNION ALL SELECT i + 1 FROM n WHERE i < 10000 + $1) "+
					"SELECT 'ntf_' || $2 || i, $2, 'comment', 'comment.added', $3, 'system', $4, 'page' FROM n",
				total, p.ID, b, s.Clock.Now().UnixMilli())
		}
		count := func(where, userID string) int {
			return len(s.Column("SELECT id FROM notifications WHERE user_id = $1 AND "+where, userID))
		}
		bob.Must("mark_all_notifications", fields{"upTo": "ntf_" + bob.ID + "14400"})
		if got := count("read_at IS NULL", bob.ID); got != 100 {
			t.Errorf("got %d unread notifications, want 100", got)
		}
		if got := count("read_at IS NULL", ada.ID); got != total {
			t.Errorf("another person: got %d unread notifications, want %d", got, total)
		}
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, bob.ID) })
		if got := count("1 = 1", bob.ID); got != total-2000 {
			t.Errorf("after the account was deleted: got %d notifications, want %d", got, total-2000)
		}
		if _, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil {
			t.Error(err)
		}
		if ofBob, ofAda := count("1 = 1", bob.ID), count("1 = 1", ada.ID); ofBob != 0 || ofAda != total {
			t.Errorf("after housekeeping: got %d and %d notifications, want 0 and %d", ofBob, ofAda, total)
		}
	})
}
