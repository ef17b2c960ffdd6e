package store

import (
	"context"
	"database/sql"
	"fmt"
	"unicode/utf8"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// maxCounted is the number at which counting unread notifications stops.
const maxCounted = 100

// maxExcerpt is the maximum length of the excerpt of a comment, in characters.
const maxExcerpt = 280

const (
	notificationSelect = `SELECT n.id, n.kind, n.event, n.created_at, n.actor_type, n.actor_id, a.name, n.reminder, n.read_at,
		b.id, b.name, b.visibility, c.id, c.number, c.title, c.due_date, c.due_at, c.start_date, c.start_at, c.time_zone, m.text`
	// notificationFrom selects the notifications of a person that the person may still
	// see. If a card was moved, access to its current board decides.
	notificationFrom = ` FROM notifications n LEFT JOIN cards c ON c.id = n.card_id JOIN boards b ON b.id = COALESCE(c.board_id, n.board_id)
		JOIN workspace_members wm ON wm.workspace_id = b.workspace_id AND wm.user_id = n.user_id
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = n.user_id
		LEFT JOIN comments m ON m.id = n.comment_id
		LEFT JOIN users a ON a.id = n.actor_id AND n.actor_type = 'person'
		WHERE n.user_id = $1 AND b.trashed_at IS NULL AND ` + visible
)

func scanNotification(rows *sql.Rows) (board.Notification, error) {
	var (
		n          board.Notification
		visibility board.Visibility
		card       struct {
			id, title sql.NullString
			number    sql.NullInt64
			due       board.Due
		}
		text *string
	)
	err := rows.Scan(&n.ID, &n.Kind, &n.Event, &n.At, &n.Actor.Type, &n.Actor.ID, &n.Actor.Name, &n.Reminder, &n.ReadAt,
		&n.Board.ID, &n.Board.Name, &visibility, &card.id, &card.number, &card.title,
		&card.due.DueDate, &card.due.DueAt, &card.due.StartDate, &card.due.StartAt, &card.due.TimeZone, &text)
	n.Path = "/boards/" + n.Board.ID
	if card.id.Valid {
		n.Card = &board.NotifiedCard{ID: card.id.String, Number: int(card.number.Int64), Title: card.title.String, Due: card.due}
		n.Path = "/cards/" + card.id.String
	}
	if text != nil {
		short := excerpt(*text)
		n.Excerpt = &short
	}
	n.Confidential = visibility == board.Confidential
	return n, err
}

// excerpt truncates text to maxExcerpt characters, and marks the truncation with an
// ellipsis.
func excerpt(text string) string {
	end := 0
	for range maxExcerpt {
		_, size := utf8.DecodeRuneInString(text[end:])
		if size == 0 {
			return text
		}
		end += size
	}
	if end == len(text) {
		return text
	}
	return text[:end] + "…"
}

func (v *View) notifications(ctx context.Context, userID, rest string, args ...any) ([]board.Notification, error) {
	out := []board.Notification{}
	err := v.each(ctx, notificationSelect+notificationFrom+" "+rest, append([]any{userID}, args...), func(rows *sql.Rows) error {
		n, err := scanNotification(rows)
		out = append(out, n)
		return err
	})
	return out, err
}

// Notifications returns a page of the caller's notifications, newest first. If unread is
// true, it returns only unread notifications. If before is not "", it returns only
// notifications older than the notification with that id. It omits notifications about
// boards that the caller may no longer see.
func (v *View) Notifications(ctx context.Context, unread bool, before string, limit int) ([]board.Notification, error) {
	condition := ""
	if unread {
		condition = "AND n.read_at IS NULL "
	}
	return v.notifications(ctx, v.caller.UserID, condition+"AND ($2 = '' OR n.id < $2) ORDER BY n.id DESC LIMIT $3", before, limit)
}

// Notification returns one of the caller's notifications, or a not_found error if the
// caller has no such notification or may no longer see it.
func (v *View) Notification(ctx context.Context, id string) (board.Notification, error) {
	found, err := v.notifications(ctx, v.caller.UserID, "AND n.id = $2", id)
	if err == nil && len(found) == 0 {
		err = board.NotFound()
	}
	if err != nil {
		return board.Notification{}, err
	}
	return found[0], nil
}

// Unread returns the number of the caller's unread notifications, at most maxCounted,
// and the id of the newest, or "" if there are none.
func (v *View) Unread(ctx context.Context) (n int, newest string, err error) {
	_, err = v.one(ctx, fmt.Sprintf("SELECT count(*), COALESCE(max(id), '') FROM (SELECT n.id AS id"+notificationFrom+
		" AND n.read_at IS NULL ORDER BY n.id DESC LIMIT %d) AS u", maxCounted),
		[]any{v.caller.UserID}, &n, &newest)
	return n, newest, err
}

// HasManyUnread reports whether the caller has more than n unread notifications.
func (v *View) HasManyUnread(ctx context.Context, n int) (bool, error) {
	found, err := v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM notifications WHERE user_id = $1 AND read_at IS NULL LIMIT $2) AS n",
		v.caller.UserID, n+1)
	return found > n, err
}

// MarkNotification marks one of the caller's notifications as read or unread.
func (tx *Tx) MarkNotification(ctx context.Context, id string, read bool) error {
	var at board.Instant
	if read {
		at = tx.now
	}
	tx.effects.Notified = append(tx.effects.Notified, tx.caller.UserID)
	// A notification that was read once is never emailed, even if it is marked as unread
	// later.
	return tx.exec(ctx, "UPDATE notifications SET read_at = $1, mail_at = NULL WHERE id = $2 AND user_id = $3 AND (read_at IS NULL) "+
		"= ($4 = 1)", null(at), id, tx.caller.UserID, flag(read))
}

// MarkNotifications marks the caller's notifications up to and including the one with
// the id upTo as read, or all of them if upTo is "".
func (tx *Tx) MarkNotifications(ctx context.Context, upTo string) error {
	tx.effects.Notified = append(tx.effects.Notified, tx.caller.UserID)
	return tx.exec(ctx, "UPDATE notifications SET read_at = $1, mail_at = NULL WHERE user_id = $2 AND read_at IS NULL AND ($3 = '' "+
		"OR id <= $3)", int64(tx.now), tx.caller.UserID, upTo)
}

// MarkSomeNotifications is like MarkNotifications but marks at most limit notifications.
// It returns the number of notifications marked.
func (tx *Tx) MarkSomeNotifications(ctx context.Context, upTo string, limit int) (int64, error) {
	tx.effects.Notified = append(tx.effects.Notified, tx.caller.UserID)
	return tx.affected(ctx, "UPDATE notifications SET read_at = $1, mail_at = NULL WHERE id IN (SELECT id FROM notifications "+
		"WHERE user_id = $2 AND read_at IS NULL AND ($3 = '' OR id <= $3) ORDER BY id LIMIT $4)", int64(tx.now), tx.caller.UserID, upTo, limit)
}

// NotificationVersions returns an opaque version for each of the given people who have
// unread notifications. The version changes with the number of these notifications and
// with the newest of them. It does not depend on the person's access to the boards.
func (db *DB) NotificationVersions(ctx context.Context, userIDs []string) (map[string]string, error) {
	out := map[string]string{}
	err := db.Read(ctx, board.System(), func(v *View) error {
		return sqldb.InChunks(userIDs, func(in string, args []any) error {
			return v.each(ctx, "SELECT user_id, count(*), max(id) FROM notifications WHERE read_at IS NULL AND user_id IN ("+in+
				") GROUP BY user_id", args, func(rows *sql.Rows) error {
				var (
					user, newest string
					n            int
				)
				err := rows.Scan(&user, &n, &newest)
				out[user] = fmt.Sprint(n, newest)
				return err
			})
		})
	})
	return out, err
}
