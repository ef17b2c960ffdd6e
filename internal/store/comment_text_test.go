package store_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// Before migration 026, the activity contained the current and former text of comments,
// including deleted comments.
func TestOpenRedactsOldComments(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		file := filepath.Join(t.TempDir(), "newer.db")
		s := apptest.New(t, file, apptest.Options{})
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		for range 2 {
			b := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch"}).ID()
			list := ada.Must("create_list", apptest.Fields{"boardId": b, "name": "To do"}).ID()
			card := ada.Must("create_card", apptest.Fields{"listId": list, "title": "One", "description": "okapi stays in a description"}).ID()
			ada.Must("update_card", apptest.Fields{"cardId": card, "description": "okapi stays in a change"})
			for n := range 3 {
				m := ada.Must("add_comment", apptest.Fields{"cardId": card, "text": fmt.Sprint("Number ", n)}).ID()
				ada.Must("edit_comment", apptest.Fields{"commentId": m, "text": fmt.Sprint("Number ", n, " again")})
			}
		}
		apptest.Change(t, s.DB, `UPDATE activity SET changes = json_patch(changes,
			'{"text":{"from":"quagga","to":"zebra \u0000 \ud83d\ude00"},"guestName":{"to":"\"text\":"}}')
			WHERE type IN ('comment.added', 'comment.edited')`)
		// One board has more comments than one batch redacts.
		apptest.Change(t, s.DB, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
			INSERT INTO activity (board_id, version, id, type, at, actor_type, changes) SELECT a.board_id, a.version + 1000 + i,
			a.id || i, a.type, a.at, a.actor_type, a.changes
			FROM n, (SELECT * FROM activity WHERE type = 'comment.added' ORDER BY board_id, version LIMIT 1) a`)
		older := filepath.Join(t.TempDir(), "older.db")
		apptest.CopyAsOf(t, file, older, database, 25)
		if !sqldb.IsPostgres(database) {
			database = older
		}
		var messages []string
		for range 2 { // the second start finds nothing to do
			db, err := store.Open(t.Context(), store.Options{Database: database, Migrate: true, Clock: s.Clock.Now,
				Progress: func(text string) { messages = append(messages, text) }})
			if err != nil {
				t.Fatal(err)
			}
			all := apptest.Select(t, db, "SELECT type || ' ' || changes FROM activity")
			if len(all) < 1216 {
				t.Errorf("got %d activity entries, want at least 1216", len(all))
			}
			okapis := 0
			for _, line := range all {
				comment := strings.HasPrefix(line, "comment.")
				if strings.Contains(line, "zebra") || strings.Contains(line, "quagga") || comment &&
					!(strings.Contains(line, "cmt_") && strings.Contains(line, "guestName")) {
					t.Errorf("activity entry was not redacted as expected: %s", line)
				}
				okapis += strings.Count(line, "okapi")
			}
			if okapis != 6 { // on each board: in the created card, and in the old and new text of the change
				t.Errorf("got %d descriptions that contain okapi, want 6", okapis)
			}
			if left := apptest.Select(t, db, "SELECT value FROM settings WHERE key = 'comment_texts'"); len(left) > 0 {
				t.Error("the comment_texts setting remains, so the next start would redact again")
			}
			if sqldb.IsPostgres(database) { // a server of the previous version still writes comment text
				apptest.Change(t, db, `INSERT INTO activity (board_id, version, id, type, at, actor_type, changes)
					SELECT id, version + 100000, 'act_' || id, 'comment.added', 1, 'person',
					'{"commentId":{"from":null,"to":"cmt_x"},"guestName":0,"text":{"from":null,"to":"zebra"}}' FROM boards ON CONFLICT DO NOTHING`)
				if late := apptest.Select(t, db, "SELECT changes FROM activity WHERE version > 100000 AND changes LIKE '%zebra%'"); len(late) > 0 {
					t.Errorf("got activity entries %q with comment text from an older server, want none", late)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(slices.DeleteFunc(messages, func(text string) bool { return !strings.Contains(text, "comments") })); n != 1 {
			t.Errorf("got %d redactions, want 1", n)
		}
	})
}
