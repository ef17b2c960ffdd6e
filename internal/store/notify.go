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

// Who is told of a change is written with the change, from the same events as
// the activity and the deliveries: nothing is told that was not committed, and
// nobody is told who does not see the board. A change that nobody can be told of
// by name (most are) costs one look at who watches.

// happening is an event with whom it may concern.
type happening struct {
	*pendingEvent
	text     string   // in which somebody may be mentioned
	before   string   // what it was before: who was mentioned there knows
	assigned []string // to whom the card is, by this change
	invited  string   // who got a role on the board
	comment  string   // the comment that was added
	edited   string   // the comment that was changed
	watched  bool     // whether who watches is told
}

// happeningOf is what an event means to people; false for nothing.
func happeningOf(e *pendingEvent) (happening, bool) {
	h := happening{pendingEvent: e}
	c := e.event.Changes
	text := func(field string) (from, to string) {
		from, _ = c[field].From.(string)
		to, _ = c[field].To.(string)
		return from, to
	}
	switch e.event.Kind {
	case board.KindCommentAdded:
		h.text = e.event.Text
		_, h.comment = text("commentId")
	case "comment.edited":
		h.before, h.text = e.event.Before, e.event.Text
		_, h.edited = text("commentId")
	case board.KindCardCreated:
		if !e.event.Copied {
			_, h.text = text("description")
		}
		h.assigned, _ = c["assignees"].To.([]string)
		h.watched = true
	case board.KindCardUpdated:
		h.before, h.text = text("description")
	case board.KindCardAssigneesChanged:
		before, _ := c["assignees"].From.([]string)
		after, _ := c["assignees"].To.([]string)
		h.assigned = slices.DeleteFunc(slices.Clone(after), func(id string) bool { return slices.Contains(before, id) })
	case board.KindCardMoved:
		_, to := text("listId")
		h.watched = to != "" // on the board that it left nobody sees it any more
	case board.KindCardCompleted, board.KindCardReopened, board.KindCardArchived, board.KindCardRestored, board.KindCardDueDateChanged, board.KindStatusPosted:
		h.watched = true
	case "board_member.added":
		_, h.invited = text("userId")
	}
	return h, h.watched || h.text != "" || h.comment != "" || h.invited != "" || len(h.assigned) > 0
}

// notify writes whom the transaction's events concern.
func (tx *Tx) notify(ctx context.Context) error {
	if tx.quiet {
		return nil
	}
	var (
		all           []happening
		cards, boards []string
		known         = map[string]bool{} // a list can move with thousands of cards
	)
	add := func(to *[]string, id string) {
		if id != "" && !known[id] {
			known[id] = true
			*to = append(*to, id)
		}
	}
	for i := range tx.pending {
		h, ok := happeningOf(&tx.pending[i])
		if !ok {
			continue
		}
		all = append(all, h)
		if h.watched || h.comment != "" {
			add(&cards, h.event.CardID)
			add(&boards, h.access.BoardID)
		}
	}
	if len(all) == 0 {
		return nil
	}
	w, err := tx.watchers(ctx, cards, boards)
	if err != nil {
		return fmt.Errorf("find who watches: %w", err)
	}
	var rows [][]any
	for _, h := range all {
		told, err := tx.concerned(ctx, h, w)
		if err != nil {
			return fmt.Errorf("find whom %s concerns: %w", h.event.Kind, err)
		}
		more, err := tx.notificationRows(ctx, h, told)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	if len(rows) == 0 {
		return nil
	}
	return tx.insert(ctx, notificationColumns, rows)
}

// watchers are who follow cards and boards, and who want to hear no more of a
// card.
type watchers struct {
	cards  map[string][]string
	muted  map[string][]string
	boards map[string][]string
}

func (tx *Tx) watchers(ctx context.Context, cards, boards []string) (watchers, error) {
	w := watchers{cards: map[string][]string{}, muted: map[string][]string{}, boards: map[string][]string{}}
	if len(boards) == 0 {
		return w, nil
	}
	for len(boards) > 0 || len(cards) > 0 {
		var a sqldb.Args
		someBoards, someCards := boards[:min(len(boards), 64)], cards[:min(len(cards), 128)]
		boards, cards = boards[len(someBoards):], cards[len(someCards):]
		text := ""
		if len(someBoards) > 0 {
			text = "SELECT 1, board_id, user_id FROM board_visits WHERE watching = 1 AND board_id IN (" + a.In(someBoards) + ")"
		}
		if len(someCards) > 0 {
			if text != "" {
				text += " UNION ALL "
			}
			text += "SELECT 2 + watching, card_id, user_id FROM card_watches WHERE card_id IN (" + a.In(someCards) + ")"
		}
		if err := tx.each(ctx, text, a, func(rows *sql.Rows) error {
			var (
				which    int
				of, user string
			)
			err := rows.Scan(&which, &of, &user)
			switch which {
			case 1:
				w.boards[of] = append(w.boards[of], user)
			case 2:
				w.muted[of] = append(w.muted[of], user)
			default:
				w.cards[of] = append(w.cards[of], user)
			}
			return err
		}); err != nil {
			return w, err
		}
	}
	return w, nil
}

// concerned are whom a happening concerns and why, without its actor. Whether
// they see the board is asked later.
func (tx *Tx) concerned(ctx context.Context, h happening, w watchers) (map[string]board.NotificationKind, error) {
	told := map[string]board.NotificationKind{}
	tell := func(kind board.NotificationKind, ids ...string) {
		for _, id := range ids {
			if _, known := told[id]; !known {
				told[id] = kind
			}
		}
	}
	mentioned, err := tx.mentioned(ctx, h)
	if err != nil {
		return nil, err
	}
	tell(board.NotifyMention, mentioned...)
	tell(board.NotifyAssignment, h.assigned...)
	if h.invited != "" {
		tell(board.NotifyInvitation, h.invited)
	}
	if h.comment != "" || h.watched {
		var follow []string
		if h.comment != "" {
			if follow, err = tx.texts(ctx, "SELECT user_id FROM card_assignees WHERE card_id = $1 UNION SELECT author_id FROM comments WHERE card_id = $1 AND author_id IS NOT NULL", h.event.CardID); err != nil {
				return nil, err
			}
		}
		follow = slices.Concat(follow, w.cards[h.event.CardID], w.boards[h.access.BoardID])
		follow = slices.DeleteFunc(follow, func(id string) bool { return slices.Contains(w.muted[h.event.CardID], id) })
		kind := board.NotifyWatched
		if h.comment != "" {
			kind = board.NotifyComment
		}
		tell(kind, follow...)
	}
	if a := tx.caller.Actor; a.Type == board.ActorPerson && a.ID != nil {
		delete(told, *a.ID)
	}
	return told, nil
}

// mentioned are the people of the board whom a text mentions, and the one
// before it did not.
func (tx *Tx) mentioned(ctx context.Context, h happening) ([]string, error) {
	if !slices.Contains([]byte(h.text), '@') {
		return nil, nil
	}
	var people []board.UserRef
	if err := tx.each(ctx, `SELECT u.id, u.name FROM boards b JOIN workspace_members wm ON wm.workspace_id = b.workspace_id JOIN users u ON u.id = wm.user_id
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = u.id WHERE b.id = $1 AND u.deleted_at IS NULL AND `+visible+" ORDER BY u.id",
		[]any{h.access.BoardID}, func(rows *sql.Rows) error {
			var u board.UserRef
			err := rows.Scan(&u.ID, &u.Name)
			people = append(people, u)
			return err
		}); err != nil {
		return nil, err
	}
	known := board.Mentioned(h.before, people)
	return slices.DeleteFunc(board.Mentioned(h.text, people), func(id string) bool { return slices.Contains(known, id) }), nil
}

const notificationColumns = "notifications (id, user_id, kind, event, board_id, card_id, comment_id, actor_type, actor_id, reminder, once, created_at, way, mail_at)"

// notificationRows are the rows of those of the concerned who see the board and
// want to be told. The board's own row says who sees it, as this transaction
// leaves it.
func (tx *Tx) notificationRows(ctx context.Context, h happening, told map[string]board.NotificationKind) ([][]any, error) {
	if len(told) == 0 {
		return nil, nil
	}
	ids := make([]string, 0, len(told))
	for id := range told {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	people, err := tx.recipients(ctx, h.access.BoardID, ids)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	actor := tx.caller.Actor
	for _, p := range people {
		kind := told[p.id]
		way := p.settings.Ways.Of(kind)
		if way == board.WayOff {
			continue
		}
		rows = append(rows, []any{
			tx.NewID("ntf_"), p.id, string(kind), string(h.event.Kind), boardOf(h.event.CardID, h.access.BoardID), optional(h.event.CardID), optional(h.comment + h.edited),
			string(actor.Type), actor.ID, nil, nil, int64(tx.now), string(way), nullable(p.settings.Leaves(way, tx.now, p.zone)),
		})
		tx.notified = append(tx.notified, p.id)
	}
	return rows, nil
}

// boardOf is the board of a notification that is about no card.
func boardOf(cardID, boardID string) any {
	if cardID != "" {
		return nil
	}
	return boardID
}

// recipient is somebody who can be told.
type recipient struct {
	id       string
	zone     *time.Location
	settings board.NotificationSettings
}

// recipients are those of the people who see a board, in the order of their ids.
func (v *View) recipients(ctx context.Context, boardID string, ids []string) (out []recipient, err error) {
	err = sqldb.InChunks(ids, func(in string, args []any) error {
		return v.each(ctx, fmt.Sprintf(`SELECT u.id, u.time_zone, `+settingsColumns+` FROM users u JOIN boards b ON b.id = $%d
			JOIN workspace_members wm ON wm.workspace_id = b.workspace_id AND wm.user_id = u.id LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = u.id
			LEFT JOIN notification_settings s ON s.user_id = u.id WHERE u.id IN (%s) AND u.deleted_at IS NULL AND b.trashed_at IS NULL AND `+visible+" ORDER BY u.id", len(args)+1, in),
			append(args, boardID), func(rows *sql.Rows) error {
				var (
					r recipient
					s settingsScan
				)
				if err := rows.Scan(append([]any{&r.id, &s.zone}, s.dest()...)...); err != nil {
					return err
				}
				if r.settings, err = s.result(); err != nil {
					return err
				}
				r.zone, err = board.LoadZone("timeZone", s.zone)
				out = append(out, r)
				return err
			})
	})
	return out, err
}
