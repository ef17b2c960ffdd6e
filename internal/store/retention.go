package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// Old activity and audit entries are removed in small transactions, so that writers
// wait only briefly. A batch is read first, for the archive, and then removed in
// slices. After an interruption the same batch is read again.

// Reduction is what is removed from old activity.
type Reduction struct {
	column string // of boards: up to which version it is done
	also   string // another assignment, with that version as $1
	gone   string // condition of the entries to remove
}

// ReduceActivity removes the entries that the history of a card does not show.
// RemoveActivity removes all entries.
func ReduceActivity() Reduction {
	return Reduction{column: "reduced_to", gone: "(card_id IS NULL OR type LIKE 'comment.%')"}
}

// RemoveActivity is described at ReduceActivity.
func RemoveActivity() Reduction {
	return Reduction{column: "removed_to", also: "reduced_to = CASE WHEN reduced_to < $1 THEN $1 ELSE reduced_to END, ", gone: "1 = 1"}
}

// ExpiredRow is a row that retention removes, as a JSON object.
type ExpiredRow struct {
	Key   string // the id of an entry of the audit
	At    int64  // the version of an entry of the activity
	Line  []byte // nil for a row that stays
	bytes int64
}

// BoardsToReduce returns boards with entries from before a time that are not reduced
// yet, in the order of their ids after the given one.
func (v *View) BoardsToReduce(ctx context.Context, r Reduction, before board.Instant, after string, limit int) ([]string, error) {
	return v.texts(ctx, `SELECT b.id FROM boards b WHERE b.id > $1 AND (SELECT a.at FROM activity a WHERE a.board_id = b.id
		AND a.version > b.`+r.column+` ORDER BY a.version LIMIT 1) < $2 ORDER BY b.id LIMIT $3`, after, int64(before), limit)
}

// ExpiredActivity returns the oldest entries of a board that are not reduced yet and
// from before a time, in the order of their versions.
func (v *View) ExpiredActivity(ctx context.Context, r Reduction, boardID string, before board.Instant, limit int) ([]ExpiredRow, error) {
	var out []ExpiredRow
	young := false
	text := `SELECT a.version, a.at, CASE WHEN ` + r.gone + ` THEN 1 ELSE 0 END, a.id, a.type, a.actor_type, a.actor_id, a.list_id,
		a.card_id, a.changes, a.cause FROM activity a JOIN boards b ON b.id = a.board_id
		WHERE a.board_id = $1 AND a.version > b.` + r.column + ` ORDER BY a.version LIMIT $2`
	err := v.each(ctx, text, []any{boardID, limit}, func(rows *sql.Rows) error {
		var (
			line struct {
				ID        string         `json:"id"`
				BoardID   string         `json:"boardId"`
				Version   int64          `json:"boardVersion"`
				At        board.Instant  `json:"at"`
				Type      string         `json:"type"`
				ActorType string         `json:"actorType"`
				ActorID   *string        `json:"actorId"`
				ListID    *string        `json:"listId"`
				CardID    *string        `json:"cardId"`
				Changes   jsontext.Value `json:"changes"`
				Cause     *string        `json:"cause,omitzero"`
			}
			gone    int
			changes []byte
		)
		if err := rows.Scan(&line.Version, &line.At, &gone, &line.ID, &line.Type, &line.ActorType, &line.ActorID, &line.ListID,
			&line.CardID, &changes, &line.Cause); err != nil {
			return err
		}
		if young = young || line.At >= before; young {
			return nil
		}
		row := ExpiredRow{At: line.Version}
		if gone == 1 {
			line.BoardID, line.Changes = boardID, changes
			row.bytes = sizeOf(string(changes))
			var err error
			if row.Line, err = json.Marshal(line); err != nil {
				return fmt.Errorf("encode entry %s: %w", line.ID, err)
			}
		}
		out = append(out, row)
		return nil
	})
	return out, err
}

// RemoveExpired removes consecutive rows that ExpiredActivity returned. It locks the
// board, so a change waits for it at most as long as it takes.
func (tx *Tx) RemoveExpired(ctx context.Context, r Reduction, boardID string, rows []ExpiredRow) error {
	if err := tx.lock(ctx, boardLock, boardID); err != nil {
		return err
	}
	var freed int64
	first, last := rows[0].At, rows[len(rows)-1].At
	for _, row := range rows {
		freed += row.bytes
	}
	n, err := tx.affected(ctx, "UPDATE boards SET "+r.column+" = $1, "+r.also+
		"activity_bytes = activity_bytes - $2 WHERE id = $3 AND "+r.column+" < $4", last, freed, boardID, first)
	if err != nil || n == 0 { // another server has begun this slice, or the board is gone
		return err
	}
	return tx.exec(ctx, "DELETE FROM activity WHERE board_id = $1 AND version >= $2 AND version <= $3 AND "+r.gone, boardID, first, last)
}

// ExpiredAudit returns the oldest entries of the audit from before a time.
func (v *View) ExpiredAudit(ctx context.Context, before time.Time, limit int) ([]ExpiredRow, error) {
	var out []ExpiredRow
	err := v.each(ctx, `SELECT id, at, workspace_id, board_id, operation, actor_type, actor_id, token_id, subject, request_id, details
		FROM audit WHERE id < $1 ORDER BY id LIMIT $2`, []any{minID("aud_", before), limit}, func(rows *sql.Rows) error {
		var (
			line struct {
				ID          string         `json:"id"`
				At          board.Instant  `json:"at"`
				WorkspaceID *string        `json:"workspaceId"`
				BoardID     *string        `json:"boardId"`
				Operation   string         `json:"operation"`
				ActorType   string         `json:"actorType"`
				ActorID     *string        `json:"actorId"`
				TokenID     *string        `json:"tokenId"`
				Subject     *string        `json:"subject"`
				RequestID   *string        `json:"requestId"`
				Details     jsontext.Value `json:"details"`
			}
			details []byte
		)
		if err := rows.Scan(&line.ID, &line.At, &line.WorkspaceID, &line.BoardID, &line.Operation, &line.ActorType, &line.ActorID,
			&line.TokenID, &line.Subject, &line.RequestID, &details); err != nil {
			return err
		}
		line.Details = details
		text, err := json.Marshal(line)
		out = append(out, ExpiredRow{Key: line.ID, Line: bytes.Clone(text)})
		return err
	})
	return out, err
}

// RemoveAudit removes consecutive rows that ExpiredAudit returned.
func (tx *Tx) RemoveAudit(ctx context.Context, rows []ExpiredRow) error {
	return tx.exec(ctx, "DELETE FROM audit WHERE id >= $1 AND id <= $2", rows[0].Key, rows[len(rows)-1].Key)
}

// DropAuditPartitions drops the partitions of the audit for times before the given
// one from which all rows have been removed. On SQLite it does nothing.
func (db *DB) DropAuditPartitions(ctx context.Context, before time.Time) error {
	if !db.Shared() {
		return nil
	}
	for _, t := range partitionedTables() {
		if t.table != "audit" {
			continue
		}
		partitions, err := db.partitions(ctx, t)
		if err != nil {
			return fmt.Errorf("list partitions of %s: %w", t.table, err)
		}
		for _, p := range partitions {
			if p.isDefault || p.until == "" || p.until > minID(t.prefix, before) {
				continue
			}
			filled := 0
			if err := db.Read(ctx, board.System(), func(v *View) (err error) {
				filled, err = v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+p.name+" LIMIT 1) AS n")
				return err
			}); err != nil || filled > 0 {
				return err
			}
			if err := db.dropPartition(ctx, t, p); err != nil {
				return fmt.Errorf("drop partition %s: %w", p.name, err)
			}
		}
	}
	return nil
}

// RemoveNotifications removes at most limit notifications from before a time and
// returns how many.
func (tx *Tx) RemoveNotifications(ctx context.Context, before board.Instant, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE created_at < $1 "+
		"ORDER BY created_at LIMIT $2)", int64(before), limit)
}

// RemoveJobs removes at most limit jobs that ended before a time and returns how
// many.
func (tx *Tx) RemoveJobs(ctx context.Context, before board.Instant, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM jobs WHERE id IN (SELECT j.id FROM jobs j WHERE j.ended_at < $1 "+
		"AND NOT EXISTS (SELECT 1 FROM job_boards b WHERE b.job_id = j.id) "+
		"AND NOT EXISTS (SELECT 1 FROM job_lists l WHERE l.job_id = j.id) ORDER BY j.ended_at LIMIT $2)",
		int64(before), limit)
}

// ReducedTo returns up to which version the activity of a board that a loader has
// loaded is incomplete; 0 if all of it is there.
func (v *View) ReducedTo(ctx context.Context, boardID string) (version int64, err error) {
	_, err = v.one(ctx, "SELECT max(n) FROM (SELECT reduced_to AS n FROM boards WHERE id = $1 UNION ALL SELECT last FROM pending_activity "+
		"WHERE board_id = $1) AS versions", []any{boardID}, &version)
	return version, err
}
