package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// FeedCursor is a place in the changes of all boards of a workspace. Every board has its own versions, and
// transactions on several boards do not commit in the order of their times. So the cursor contains, in
// addition to a time that is old enough that no transaction can still commit an earlier change, the
// versions of the boards with later changes that were returned.
type FeedCursor struct {
	Base int64       `json:"b"`           // all changes up to this time were returned; in Unix milliseconds
	Seen []feedBoard `json:"s,omitempty"` // the boards with changes that were returned and are later
}

type feedBoard struct {
	ID      string `json:"i"`
	Version int64  `json:"v"` // the changes up to this version were returned
	At      int64  `json:"t"` // the time of that change or, if it is later, of one before; in Unix milliseconds
}

const (
	// feedDelay is how long after the time of a change its transaction may commit, including the difference
	// between the clocks of two servers. Operations have less than half of it.
	feedDelay = time.Minute

	// feedBoards is the maximum number of boards in a cursor, so that a cursor fits into its field. While
	// as many boards have changed within feedDelay, the changes of others wait.
	feedBoards = 16

	// feedRefresh is the age after which a cursor is renewed, although there were no changes.
	feedRefresh = 24 * time.Hour
)

// find returns the cursor's entry for a board, or nil.
func (c *FeedCursor) find(boardID string) *feedBoard {
	if i := slices.IndexFunc(c.Seen, func(s feedBoard) bool { return s.ID == boardID }); i >= 0 {
		return &c.Seen[i]
	}
	return nil
}

// WorkspaceChanges returns at most limit changes of the boards in a workspace that the caller can see, and
// the cursor for the next call. The changes of a board are in the order of their versions. Changes by a job
// that is still running are not returned. More reports whether the next call returns more changes at once.
func (v *View) WorkspaceChanges(ctx context.Context, workspaceID string, c FeedCursor, limit int) (
	entries []board.Entry, next FeedCursor, more bool, err error,
) {
	pending, err := v.pendingChanges(ctx, workspaceID) // first, because a job that ends now must be in one of both
	if err != nil {
		return nil, c, false, err
	}
	entries, err = v.changesAfter(ctx, workspaceID, c, limit+1)
	if err != nil {
		return nil, c, false, err
	}
	settled := int64(v.now) - feedDelay.Milliseconds()
	if len(entries) == 0 && int64(v.now)-c.Base < feedRefresh.Milliseconds() {
		return entries, c, false, nil // the same cursor, so that the response is the same
	}
	next = FeedCursor{Seen: slices.Clone(c.Seen)}
	end, last := 0, int64(0)
	for end < min(len(entries), limit) {
		e := entries[end]
		seen := next.find(e.BoardID)
		if seen == nil {
			if int64(e.At) > settled && len(next.Seen) >= feedBoards {
				break
			}
			next.Seen = append(next.Seen, feedBoard{ID: e.BoardID})
			seen = &next.Seen[len(next.Seen)-1]
		}
		seen.Version, seen.At = e.BoardVersion, max(seen.At, int64(e.At))
		last = seen.At
		end++
	}
	next.Base = max(c.Base, settled)
	if end < len(entries) {
		next.Base = max(c.Base, min(settled, last-1))
	}
	for _, p := range pending {
		if p.At <= next.Base && next.find(p.ID) == nil {
			next.Seen = append(next.Seen, p)
		}
	}
	next.Seen = slices.DeleteFunc(next.Seen, func(s feedBoard) bool {
		unfinished := end < len(entries) && c.find(s.ID) != nil
		isPending := slices.ContainsFunc(pending, func(p feedBoard) bool { return p.ID == s.ID })
		return s.At <= next.Base && !unfinished && !isPending
	})
	return entries[:end], next, end == limit && end < len(entries), nil
}

// changesAfter returns the first changes after a cursor, by time. A change is never before one with a lower
// version of the same board, although clocks differ and imports contain any times.
func (v *View) changesAfter(ctx context.Context, workspaceID string, c FeedCursor, limit int) ([]board.Entry, error) {
	var a sqldb.Args
	base, n := a.Add(c.Base), a.Add(limit)
	const scan = 1000 // rows among which the lowest version is the first after the time
	after := "(SELECT min(f.version) - 1 FROM (SELECT t.version FROM activity t WHERE t.board_id = r.id AND t.at > " + base +
		fmt.Sprintf(" ORDER BY t.at, t.version LIMIT %d) f)", scan)
	changed := "r.updated_at > " + base
	if len(c.Seen) > 0 {
		versions, ids := "CASE r.id", make([]string, len(c.Seen))
		for i, s := range c.Seen {
			ids[i] = s.ID
			versions += " WHEN " + a.Add(s.ID) + " THEN " + a.Add(s.Version)
		}
		after = versions + " ELSE " + after + " END"
		changed = "(" + changed + " OR r.id IN (" + a.In(ids) + "))"
	}
	return v.entries(ctx, `JOIN (
		SELECT g.board_id AS picked_board, g.version AS picked_version, g.sorted FROM (
			SELECT e.board_id, e.version, max(e.at) OVER (PARTITION BY e.board_id ORDER BY e.version) AS sorted FROM (
				SELECT r.id, `+after+` AS after, COALESCE((SELECT min(p.first) - 1 FROM pending_activity p WHERE p.board_id = r.id), r.version) AS last
				FROM boards r WHERE r.id IN (`+v.boardsOf(CardPage{WorkspaceID: workspaceID, IncludeArchived: true}, &a)+`) AND `+changed+`
			) s JOIN activity e ON e.board_id = s.id AND e.version > s.after AND e.version <= s.last AND e.version <= s.after + `+n+`
		) g ORDER BY g.sorted, g.board_id, g.version LIMIT `+n+`
	) q ON picked_board = board_id AND picked_version = version ORDER BY sorted, board_id, version`, a...)
}

// pendingChanges returns the boards of a workspace whose jobs have reserved versions, and the versions before
// them.
func (v *View) pendingChanges(ctx context.Context, workspaceID string) (out []feedBoard, err error) {
	err = v.each(ctx, "SELECT p.board_id, min(p.first) - 1, min(p.at) FROM pending_activity p JOIN boards b ON b.id = p.board_id "+
		"WHERE b.workspace_id = $1 GROUP BY p.board_id ORDER BY p.board_id", []any{workspaceID}, func(rows *sql.Rows) error {
		var p feedBoard
		err := rows.Scan(&p.ID, &p.Version, &p.At)
		out = append(out, p)
		return err
	})
	return out, err
}
