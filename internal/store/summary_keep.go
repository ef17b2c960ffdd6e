package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

const (
	// largeWorkspace is the minimum number of cards in a workspace whose boards have
	// summaries. In smaller workspaces, counting the cards is fast enough.
	largeWorkspace = 20000
	// summaryPause is the minimum time between two summaries of a board that changes
	// constantly.
	summaryPause = 10 * time.Second

	// noMove is an SQL condition that is true if no job is moving a list from or to the
	// board r. Such a job changes the board in many transactions.
	noMove = "NOT EXISTS (SELECT 1 FROM list_moves m WHERE m.from_id = r.id) AND NOT EXISTS (SELECT 1 FROM list_moves m WHERE m.to_id = r.id)"
)

// exact returns an SQL condition that is true if the summary s matches the current state
// of the board r, for a report that starts now.
func (v *View) exact(a *sqldb.Args) string {
	return "s.board_id = r.id AND s.version = r.version AND s.format = " + a.Add(summaryFormat) + " AND s.counted_at <= " +
		a.Add(int64(v.now+clockSlack)) + " AND " + noMove
}

// ReportBoard is a board of a report.
type ReportBoard struct {
	ID, Name string
	Features board.Features

	counts, people []byte // the stored summary
}

// Summary returns the stored summary of the board. It returns nil if the summary is not
// exact or is damaged.
func (b *ReportBoard) Summary() *Summary {
	if b.counts == nil {
		return nil
	}
	s, err := decodeSummary(b.counts, b.people)
	if err != nil { // the doctor reports damaged summaries
		return nil
	}
	return s
}

// ReportBoards calls fn for every open board of a workspace that the caller can see.
func (v *View) ReportBoards(ctx context.Context, workspaceID string, fn func(ReportBoard)) error {
	var a sqldb.Args
	text := "SELECT r.id, r.name, r.features, s.counts, s.people FROM boards r LEFT JOIN board_summaries s ON " + v.exact(&a) +
		" WHERE r.id IN (" + v.boardsOf(CardPage{WorkspaceID: workspaceID}, &a) + ")"
	return v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			b    ReportBoard
			bits int64
		)
		err := rows.Scan(&b.ID, &b.Name, &bits, &b.counts, &b.people)
		b.Features = board.FeaturesOf(bits)
		fn(b)
		return err
	})
}

// LargeWorkspaces returns the ids of the workspaces whose boards have summaries. Cards is
// the minimum number of cards of such a workspace; 0 means largeWorkspace.
func (v *View) LargeWorkspaces(ctx context.Context, cards int) ([]string, error) {
	if cards == 0 {
		cards = largeWorkspace
	}
	return v.texts(ctx, "SELECT b.workspace_id FROM boards b WHERE b.trashed_at IS NULL GROUP BY b.workspace_id "+
		"HAVING sum(b.all_cards) >= $1 ORDER BY b.workspace_id", cards)
}

// OutdatedSummaries returns the ids of at most limit open boards of a workspace that
// need a new summary. Their summaries are missing, or outdated and older than
// summaryPause, or were counted more than clockSlack in the future. Boards without a
// summary come first.
func (v *View) OutdatedSummaries(ctx context.Context, workspaceID string, limit int) ([]string, error) {
	var a sqldb.Args
	outdated := "(s.version <> r.version OR s.format <> " + a.Add(summaryFormat) + ")"
	return v.texts(ctx, "SELECT r.id FROM boards r LEFT JOIN board_summaries s ON s.board_id = r.id WHERE r.workspace_id = "+
		a.Add(workspaceID)+" AND r.archived_at IS NULL AND r.trashed_at IS NULL AND "+noMove+" AND (s.board_id IS NULL OR "+
		outdated+" AND s.counted_at < "+a.Add(int64(v.now)-summaryPause.Milliseconds())+" OR s.counted_at > "+
		a.Add(int64(v.now+clockSlack))+") ORDER BY COALESCE(s.counted_at, 0), r.id LIMIT "+a.Add(limit), a...)
}

// KeepSummaries counts the cards of boards and stores the summaries.
func (db *DB) KeepSummaries(ctx context.Context, boardIDs []string) error {
	var rows [][]any
	if err := db.Report(ctx, board.System(), func(v *View) error {
		versions, err := v.versions(ctx, boardIDs)
		if err != nil {
			return err
		}
		summaries, err := v.Summaries(ctx, boardIDs)
		if err != nil {
			return err
		}
		rows = rows[:0]
		for _, id := range boardIDs {
			if version, ok := versions[id]; ok {
				s := summaries[id]
				counts, people := s.encode()
				rows = append(rows, []any{id, version, summaryFormat, int64(s.CountedAt), s.Unplanned, counts, people})
			}
		}
		return nil
	}); err != nil {
		return err
	}
	_, err := db.WriteSlice(ctx, func(tx *Tx) error {
		for _, row := range rows {
			// A board may have been deleted in the meantime.
			if err := tx.exec(ctx, `INSERT INTO board_summaries (board_id, version, format, counted_at, unplanned, counts, people)
				SELECT b.id, $2, $3, $4, $5, $6, $7 FROM boards b WHERE b.id = $1
				ON CONFLICT (board_id) DO UPDATE SET version = excluded.version, format = excluded.format, counted_at = excluded.counted_at,
				unplanned = excluded.unplanned, counts = excluded.counts, people = excluded.people`,
				row...); err != nil {
				return fmt.Errorf("store summary of board %s: %w", row[0], err)
			}
		}
		return nil
	})
	return err
}

// versions returns the versions of boards, by id. It omits boards in the trash and boards
// from or to which a job is moving a list.
func (v *View) versions(ctx context.Context, boardIDs []string) (map[string]int64, error) {
	versions := make(map[string]int64, len(boardIDs))
	err := sqldb.InChunks(boardIDs, func(in string, args []any) error {
		return v.each(ctx, "SELECT r.id, r.version FROM boards r WHERE r.id IN ("+in+") AND r.trashed_at IS NULL AND "+noMove, args,
			func(rows *sql.Rows) error {
				var (
					id      string
					version int64
				)
				err := rows.Scan(&id, &version)
				versions[id] = version
				return err
			})
	})
	return versions, err
}

// WrongSummaries calls report with each board whose summary should be exact but is not,
// until report returns false.
func (r *RawView) WrongSummaries(ctx context.Context, report func(boardID string) (more bool)) error {
	for after := ""; ; {
		var (
			ids    []string
			at     = map[string]board.Instant{}
			stored = map[string]string{}
			a      sqldb.Args
		)
		whole := func(unplanned int, counts, people []byte) string {
			return fmt.Sprintf("%d %x %x", unplanned, counts, people)
		}
		text := "SELECT r.id, s.counted_at, s.unplanned, s.counts, s.people FROM board_summaries s JOIN boards r ON " + r.v.exact(&a) +
			" WHERE r.trashed_at IS NULL AND r.id > " + a.Add(after) + " ORDER BY r.id LIMIT " + a.Add(countAtOnce)
		if err := r.v.each(ctx, text, a, func(rows *sql.Rows) error {
			var (
				id             string
				counted        board.Instant
				unplanned      int
				counts, people []byte
			)
			err := rows.Scan(&id, &counted, &unplanned, &counts, &people)
			ids, at[id], stored[id] = append(ids, id), counted, whole(unplanned, counts, people)
			return err
		}); err != nil {
			return err
		}
		if len(ids) == 0 {
			return nil
		}
		found, err := r.v.summariesAt(ctx, ids, at)
		if err != nil {
			return err
		}
		for _, id := range ids {
			counts, people := found[id].encode()
			if whole(found[id].Unplanned, counts, people) != stored[id] && !report(id) {
				return nil
			}
			after = id
		}
	}
}

// DropSummary removes the summary of a board. Reports count the board's cards until it has
// a new summary.
func (r *RawTx) DropSummary(ctx context.Context, boardID string) error {
	return r.tx.exec(ctx, "DELETE FROM board_summaries WHERE board_id = $1", boardID)
}
