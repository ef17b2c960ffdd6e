package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// CalendarFeed returns the caller's calendar feed, which may be inactive. It omits boards
// that the caller can no longer see.
func (v *View) CalendarFeed(ctx context.Context) (board.CalendarFeed, error) {
	feed := board.CalendarFeed{BoardIDs: []string{}}
	var boards string
	found, err := v.one(ctx, "SELECT boards, created_at FROM calendar_feeds WHERE user_id = $1", []any{v.caller.UserID},
		&boards, &feed.CreatedAt)
	if err != nil || !found || boards == "" {
		feed.Active = found
		return feed, err
	}
	feed.Active = true
	var a sqldb.Args
	visibleIDs, err := v.texts(ctx, v.boardsOf(CardPage{IncludeArchived: true}, &a), a...)
	for _, id := range strings.Fields(boards) {
		if slices.Contains(visibleIDs, id) {
			feed.BoardIDs = append(feed.BoardIDs, id)
		}
	}
	return feed, err
}

// SetCalendarFeed writes the caller's calendar feed. Hash is the hash of the feed's new
// URL, or nil to keep the URL. The boards must be loaded. SetCalendarFeed returns a
// not_found error if hash is nil and the caller has no feed.
func (tx *Tx) SetCalendarFeed(ctx context.Context, hash []byte, boards []string) (board.CalendarFeed, error) {
	if len(boards) > 0 {
		tx.workspace = tx.On(boards[0]).WorkspaceID // for the audit entry; the boards do not change
	}
	text, args := "UPDATE calendar_feeds SET boards = $2 WHERE user_id = $1", []any{tx.caller.UserID, strings.Join(boards, " ")}
	if hash != nil {
		text = `INSERT INTO calendar_feeds (user_id, hash, boards, created_at) VALUES ($1, $3, $2, $4)
			ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, boards = excluded.boards, created_at = excluded.created_at`
		args = append(args, hash, int64(tx.now))
	}
	n, err := tx.affected(ctx, text, args...)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	if err != nil {
		return board.CalendarFeed{}, err
	}
	return tx.CalendarFeed(ctx)
}

// DeleteCalendarFeed deletes the caller's calendar feed.
func (tx *Tx) DeleteCalendarFeed(ctx context.Context) error {
	return tx.exec(ctx, "DELETE FROM calendar_feeds WHERE user_id = $1", tx.caller.UserID)
}

// FeedOwner returns the ids of the owner and of the boards of the calendar feed whose URL
// has the given hash. UserID is "" if there is no such feed.
func (v *View) FeedOwner(ctx context.Context, hash []byte) (userID string, boards []string, err error) {
	var text string
	_, err = v.one(ctx, "SELECT f.user_id, f.boards FROM calendar_feeds f JOIN users u ON u.id = f.user_id WHERE f.hash = $1 "+
		"AND u.deleted_at IS NULL", []any{hash}, &userID, &text)
	return userID, strings.Fields(text), err
}

// FeedCards returns at most limit open cards that are not done and are due between from
// and to, inclusive, ordered by due date. It covers all cards of the given boards or, if
// boards is empty, the cards that are assigned to the caller. It omits boards that the
// caller cannot see, that are confidential, archived or in the trash, or whose calendar
// is disabled.
func (v *View) FeedCards(ctx context.Context, boards []string, from, to string, limit int) ([]board.FeedCard, error) {
	var (
		a   sqldb.Args
		out []board.FeedCard
	)
	calendar := board.Features{Calendar: true}.Bits()
	user := a.Add(v.caller.UserID)
	text := `SELECT c.id, c.title, c.description, b.name, l.name, c.due_date, c.due_at, c.start_date, c.start_at, c.time_zone,
		c.created_at, c.updated_at
		FROM workspace_members wm JOIN boards b ON b.workspace_id = wm.workspace_id LEFT JOIN board_members bm ON bm.board_id = b.id
		AND bm.user_id = wm.user_id
		JOIN cards c ON c.board_id = b.id JOIN lists l ON l.id = c.list_id
		WHERE wm.user_id = ` + user + " AND " + visible + " AND b.visibility <> 'confidential' AND b.features & " + a.Add(calendar) + ` <> 0
		AND b.archived_at IS NULL AND b.trashed_at IS NULL AND ` + search.OpenCard + ` AND c.done_at IS NULL
		AND c.due_date >= ` + a.Add(from) + " AND c.due_date <= " + a.Add(to)
	if len(boards) > 0 {
		text += " AND b.id IN (" + a.In(boards) + ")"
	} else {
		text += " AND c.id IN (SELECT k.card_id FROM card_assignees k WHERE k.user_id = " + user + ")"
	}
	err := v.each(ctx, text+" ORDER BY c.due_date, c.id LIMIT "+a.Add(limit), a, func(rows *sql.Rows) error {
		var c board.FeedCard
		err := rows.Scan(&c.ID, &c.Title, &c.Description, &c.Board, &c.List, &c.DueDate, &c.DueAt, &c.StartDate, &c.StartAt,
			&c.TimeZone, &c.CreatedAt, &c.UpdatedAt)
		out = append(out, c)
		return err
	})
	return out, err
}
