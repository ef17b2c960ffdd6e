package store

import (
	"context"
	"database/sql"
	"fmt"

	"cardwall/internal/board"
)

// Examine compares what is counted with what is there, and returns one line
// for each thing that does not fit. It reads one consistent state.
func (db *DB) Examine(ctx context.Context) ([]string, error) {
	checks := []struct{ what, text string }{
		{"board %s: its version is not the number of its changes", `SELECT b.id FROM boards b WHERE b.version <> (SELECT count(*) FROM activity a WHERE a.board_id = b.id)`},
		{"board %s: its last change has another version", `SELECT b.id FROM boards b WHERE b.version <> COALESCE((SELECT max(a.version) FROM activity a WHERE a.board_id = b.id), 0)`},
		{"board %s: the count of open cards is wrong", `SELECT b.id FROM boards b WHERE b.open_cards <> (SELECT count(*) FROM cards c WHERE c.board_id = b.id AND c.archived_at IS NULL)`},
		{"board %s: the count of cards is wrong", `SELECT b.id FROM boards b WHERE b.all_cards <> (SELECT count(*) FROM cards c WHERE c.board_id = b.id)`},
		{"board %s: the count of open lists is wrong", `SELECT b.id FROM boards b WHERE b.open_lists <> (SELECT count(*) FROM lists l WHERE l.board_id = b.id AND l.archived_at IS NULL)`},
		{"board %s: a card has a number that is still to be given", `SELECT b.id FROM boards b WHERE EXISTS (SELECT 1 FROM cards c WHERE c.board_id = b.id AND c.number >= b.next_number)`},
		{"card %s: it is on another board than its list", `SELECT c.id FROM cards c JOIN lists l ON l.id = c.list_id WHERE l.board_id <> c.board_id`},
		{"card %s: it carries a label of another board", `SELECT k.card_id FROM card_labels k JOIN cards c ON c.id = k.card_id JOIN labels a ON a.id = k.label_id WHERE a.board_id <> c.board_id`},
		{"card %s: the count of comments is wrong", `SELECT c.id FROM cards c WHERE c.comments <> (SELECT count(*) FROM comments m WHERE m.card_id = c.id)`},
		{"card %s: the count of checklist items is wrong", `SELECT c.id FROM cards c WHERE c.items_total <> (SELECT count(*) FROM checklist_items i JOIN checklists k ON k.id = i.checklist_id WHERE k.card_id = c.id)`},
		{"card %s: the count of done checklist items is wrong", `SELECT c.id FROM cards c WHERE c.items_done <> (SELECT count(i.done_at) FROM checklist_items i JOIN checklists k ON k.id = i.checklist_id WHERE k.card_id = c.id)`},
		{"list %s: a rank under way was left behind", `SELECT c.list_id FROM cards c WHERE c.rank LIKE '!%'`},
		{"workspace %s: it has no owner", `SELECT w.id FROM workspaces w WHERE w.trashed_at IS NULL AND NOT EXISTS (SELECT 1 FROM workspace_members m WHERE m.workspace_id = w.id AND m.role = 'owner')`},
	}
	var findings []string
	err := db.Stream(ctx, board.System(), func(v *View) error {
		for _, c := range checks {
			if err := v.each(ctx, c.text+" LIMIT 20", nil, func(rows *sql.Rows) error {
				var id string
				err := rows.Scan(&id)
				findings = append(findings, fmt.Sprintf(c.what, id))
				return err
			}); err != nil {
				return err
			}
		}
		if db.Dialect() != "sqlite" {
			return nil
		}
		return v.each(ctx, "PRAGMA integrity_check(20)", nil, func(rows *sql.Rows) error {
			var line string
			if err := rows.Scan(&line); err != nil || line == "ok" {
				return err
			}
			findings = append(findings, "database file: "+line)
			return nil
		})
	})
	return findings, err
}
