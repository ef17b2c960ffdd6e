package store

import (
	"context"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// ActivityCursor marks the end of a page of the activity of all boards. Entries are
// ordered by time, board and version.
type ActivityCursor struct {
	At      board.Instant `json:"at"`
	BoardID string        `json:"b"`
	Version int64         `json:"v"`
}

// RecentActivity returns a page of the activity of all boards that the caller can see,
// including archived boards, since the given time, newest first, starting after the
// cursor. With a limit of n, it reads one entry of each board, and then the first n
// entries of at most n boards, because the n boards with the newest entries contain all
// n results.
func (v *View) RecentActivity(ctx context.Context, from board.Instant, cursor ActivityCursor, limit int) ([]board.Entry, error) {
	var a sqldb.Args
	at, id, version, n, first := a.Add(int64(cursor.At)), a.Add(cursor.BoardID), a.Add(cursor.Version), a.Add(limit), a.Add(int64(from))
	after := func(alias string) string {
		return fmt.Sprintf("%[1]s.at >= %[5]s AND %[1]s.at <= %[2]s AND (%[1]s.at < %[2]s OR %[1]s.board_id < %[3]s OR %[1]s.board_id = %[3]s "+
			"AND %[1]s.version < %[4]s)", alias, at, id, version, first)
	}
	return v.entries(ctx, `JOIN (
		SELECT e.board_id AS picked_board, e.version AS picked_version FROM (
			SELECT s.id, (SELECT t.at FROM activity t WHERE t.board_id = s.id AND `+after("t")+` ORDER BY t.at DESC, t.version DESC `+
		`LIMIT 1 OFFSET `+n+`) AS enough FROM (
				SELECT r.id, (SELECT t.at FROM activity t WHERE t.board_id = r.id AND `+after("t")+`
					ORDER BY t.at DESC, t.version DESC LIMIT 1) AS newest
				FROM boards r WHERE r.id IN (`+v.boardsOf(CardPage{IncludeArchived: true}, &a)+`)
			) s WHERE s.newest IS NOT NULL ORDER BY s.newest DESC, s.id DESC LIMIT `+n+`
		) f JOIN activity e ON e.board_id = f.id AND e.at >= COALESCE(f.enough, 0) AND `+after("e")+`
		ORDER BY e.at DESC, e.board_id DESC, e.version DESC LIMIT `+n+`
	) p ON picked_board = board_id AND picked_version = version ORDER BY at DESC, board_id DESC, version DESC`, a...)
}
