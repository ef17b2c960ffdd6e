package store_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// Before migration 037, the email queue was the letters table.
func TestEmailQueuedBeforeUpgradeIsSent(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		file := filepath.Join(t.TempDir(), "newer.db")
		s := apptest.New(t, file, apptest.Options{})
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanFree)
		bob.Joins(workspace, board.WorkspaceMember)
		b := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Build"}).ID()
		list := ada.Must("create_list", apptest.Fields{"boardId": b, "name": "To do"}).ID()
		ada.Must("create_card", apptest.Fields{"listId": list, "title": "Yours", "assignees": []string{bob.ID}})
		s.Clock.Advance(board.EmailDelay)
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			if n, err := tx.QueueNotificationEmails(ctx, 10); err != nil || n != 1 {
				t.Errorf("got %d queued emails (%v), want 1", n, err)
			}
			return nil
		})

		older := filepath.Join(t.TempDir(), "older.db")
		apptest.CopyAsOf(t, file, older, database, 36)
		if !sqldb.IsPostgres(database) {
			database = older
		}
		db, err := store.Open(t.Context(), store.Options{Database: database, Migrate: true, Clock: s.Clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}()
		if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
			email, err := app.NextEmail(t.Context(), tx, time.Minute)
			if err != nil {
				return err
			}
			if email == nil || email.Kind != board.EmailNotify || len(email.Notifications.Items) != 1 {
				t.Errorf("got email %+v, want Bob's notification", email)
				return nil
			}
			return tx.DeleteEmail(t.Context(), email.ID)
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// During a rolling upgrade, servers of the previous version use the statements below. On
// PostgreSQL, letters is a view of the emails table.
func TestOlderServersQueueAndSendEmails(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, apptest.PostgresURL(t))
	queue := func(id string) {
		apptest.Change(t, db, `INSERT INTO letters (id, kind, about, due_at, created_at)
			VALUES ($1, 'reset', 'usr_x', 1, 1) ON CONFLICT DO NOTHING`, id)
	}
	queue("ltr_1")
	queue("ltr_2") // about the same record, so it is not queued
	if got := apptest.Select(t, db, "SELECT id || ' ' || attempts FROM emails"); !slices.Equal(got, []string{"ltr_1 0"}) {
		t.Errorf("got queue %q, want only ltr_1 without attempts", got)
	}
	apptest.Change(t, db, "UPDATE letters SET due_at = 5, attempts = attempts + 1 WHERE id = 'ltr_1' AND due_at <= 1 RETURNING id, attempts")
	if got := apptest.Select(t, db, "SELECT id FROM letters WHERE due_at <= 5 AND attempts = 1 ORDER BY due_at, id "+
		"LIMIT 8"); !slices.Equal(got, []string{"ltr_1"}) {
		t.Errorf("got claimed emails %q, want only ltr_1", got)
	}
	apptest.Change(t, db, "DELETE FROM letters WHERE id = 'ltr_1'")
	if got := apptest.Select(t, db, "SELECT id FROM emails"); len(got) > 0 {
		t.Errorf("got queue %q after the email was sent, want an empty queue", got)
	}
}
