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

// Old activity and audit entries are removed in small transactions, so that writers wait
// only briefly. The caller first reads and archives a batch, and then removes it in
// slices. After an interruption, it reads the same batch again.

// Reduction selects the entries to remove from old activity.
type Reduction struct {
	column  string // the boards column with the version up to which entries are removed
	also    string // another assignment to boards, in which $1 is that version
	removed string // SQL condition that selects the entries to remove
}

// ReduceActivity returns the reduction that removes the entries that card histories do not
// show.
func ReduceActivity() Reduction {
	return Reduction{column: "reduced_to", removed: "(card_id IS NULL OR type LIKE 'comment.%')"}
}

// RemoveActivity returns the reduction that removes all entries.
func RemoveActivity() Reduction {
	return Reduction{column: "removed_to", also: "reduced_to = CASE WHEN reduced_to < $1 THEN $1 ELSE reduced_to END, ", removed: "1 = 1"}
}

// ExpiredRow is an old entry of the audit log or of a board's activity.
type ExpiredRow struct {
	Key   string // the id of an audit entry
	At    int64  // the version of an activity entry
	Line  []byte // the entry as a JSON object for the archive; nil if it is not removed
	bytes int64
}

// BoardsToReduce returns the ids of boards with entries from before the given time to
// which the reduction was not applied yet. They are ordered by id and start after the
// given id.
func (v *View) BoardsToReduce(ctx context.Context, r Reduction, before board.Instant, after string, limit int) ([]string, error) {
	return v.texts(ctx, `SELECT b.id FROM boards b WHERE b.id > $1 AND (SELECT a.at FROM activity a WHERE a.board_id = b.id
		AND a.version > b.`+r.column+` ORDER BY a.version LIMIT 1) < $2 ORDER BY b.id LIMIT $3`, after, int64(before), limit)
}

// ExpiredActivity returns the oldest entries of a board from before the given time to
// which the reduction was not applied yet, ordered by version.
func (v *View) ExpiredActivity(ctx context.Context, r Reduction, boardID string, before board.Instant, limit int) ([]ExpiredRow, error) {
	var out []ExpiredRow
	done := false
	text := `SELECT a.version, a.at, CASE WHEN ` + r.removed + ` THEN 1 ELSE 0 END, a.id, a.type, a.actor_type, a.actor_id, a.list_id,
		a.card_id, a.changes, a.cause, a.program FROM activity a JOIN boards b ON b.id = a.board_id
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
				Program   *string        `json:"program,omitzero"`
			}
			removed int
			changes []byte
		)
		if err := rows.Scan(&line.Version, &line.At, &removed, &line.ID, &line.Type, &line.ActorType, &line.ActorID, &line.ListID,
			&line.CardID, &changes, &line.Cause, &line.Program); err != nil {
			return err
		}
		if done = done || line.At >= before; done {
			return nil
		}
		row := ExpiredRow{At: line.Version}
		if removed == 1 {
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

// RemoveExpired removes those of the consecutive rows from ExpiredActivity that the
// reduction selects. It locks the board, so changes to the board wait until the
// transaction ends.
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
	if err != nil || n == 0 { // another server has removed this slice, or the board was deleted
		return err
	}
	return tx.exec(ctx, "DELETE FROM activity WHERE board_id = $1 AND version >= $2 AND version <= $3 AND "+r.removed, boardID, first, last)
}

// ExpiredAudit returns the oldest audit entries from before the given time, in order.
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

// DropAuditPartitions drops the empty partitions of the audit log that end before the
// given time. It stops at the first such partition that still has rows. On SQLite it does
// nothing.
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
			remaining := 0
			if err := db.Read(ctx, board.System(), func(v *View) (err error) {
				remaining, err = v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+p.name+" LIMIT 1) AS n")
				return err
			}); err != nil || remaining > 0 {
				return err
			}
			if err := db.dropPartition(ctx, t, p); err != nil {
				return fmt.Errorf("drop partition %s: %w", p.name, err)
			}
		}
	}
	return nil
}

// RemoveNotifications deletes at most limit notifications from before the given time. It
// returns the number of notifications deleted.
func (tx *Tx) RemoveNotifications(ctx context.Context, before board.Instant, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE created_at < $1 "+
		"ORDER BY created_at LIMIT $2)", int64(before), limit)
}

// RemoveJobs deletes at most limit jobs that ended before the given time, except jobs
// whose hidden boards or lists remain to be deleted. It returns the number of jobs
// deleted.
func (tx *Tx) RemoveJobs(ctx context.Context, before board.Instant, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM jobs WHERE id IN (SELECT j.id FROM jobs j WHERE j.ended_at < $1 "+
		"AND NOT EXISTS (SELECT 1 FROM job_boards b WHERE b.job_id = j.id) "+
		"AND NOT EXISTS (SELECT 1 FROM job_lists l WHERE l.job_id = j.id) ORDER BY j.ended_at LIMIT $2)",
		int64(before), limit)
}

// ReducedTo returns the version up to which the activity of a board may be incomplete,
// or 0 if it is complete. The board must already be loaded.
func (v *View) ReducedTo(ctx context.Context, boardID string) (version int64, err error) {
	_, err = v.one(ctx, "SELECT max(n) FROM (SELECT reduced_to AS n FROM boards WHERE id = $1 UNION ALL SELECT last FROM pending_activity "+
		"WHERE board_id = $1) AS versions", []any{boardID}, &version)
	return version, err
}
