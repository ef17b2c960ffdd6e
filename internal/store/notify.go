package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/mention"
	"cardwall/internal/sqldb"
)

// Notifications are written in the transaction of the change, from the same events as
// the activity and the webhook deliveries. This way, nobody is notified of a change that
// was not committed, or of a board that they cannot see. board.NotificationTrigger
// decides whom an event notifies, and why.

// trigger is an event of the transaction that may notify people.
type trigger struct {
	*pendingEvent
	board.NotificationTrigger
}

// triggers holds the events of a transaction that may notify people.
type triggers struct {
	all           []trigger
	cards, boards []string // ids whose watchers are notified
}

// triggers returns the events that may notify people. A quiet transaction has none.
func (tx *Tx) triggers() (out triggers) {
	if tx.quiet {
		return out
	}
	known := map[string]bool{} // a map, because a list can move with thousands of cards
	add := func(to *[]string, id string) {
		if id != "" && !known[id] {
			known[id] = true
			*to = append(*to, id)
		}
	}
	for i := range tx.pending {
		p := &tx.pending[i]
		t, ok := board.NotificationTriggerOf(p.event)
		if !ok {
			continue
		}
		out.all = append(out.all, trigger{p, t})
		if t.Watched || t.Comment != "" {
			if p.event.Kind != board.KindCardCreated { // nobody watches a new card
				add(&out.cards, p.event.CardID)
			}
			add(&out.boards, p.access.BoardID)
		}
	}
	return out
}

// expectWatchers announces the first watcher query, so that it shares a round trip.
func (due triggers) expectWatchers(tx *Tx) {
	if text, args := watchersOf(due.cards, due.boards); text != "" {
		tx.run.Expect(text, args...)
	}
}

// notify writes the notifications for the transaction's events.
func (tx *Tx) notify(ctx context.Context, due triggers) error {
	if len(due.all) == 0 {
		return nil
	}
	w, err := tx.watchers(ctx, due.cards, due.boards)
	if err != nil {
		return fmt.Errorf("find watchers: %w", err)
	}
	var rows [][]any
	for _, t := range due.all {
		reasons, err := tx.reasons(ctx, t, w)
		if err != nil {
			return fmt.Errorf("find the people to notify of %s: %w", t.event.Kind, err)
		}
		more, err := tx.notificationRows(ctx, t, reasons)
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

// watchers holds the people who watch cards and boards, and the people who turned off
// notifications for a card. The keys are card and board ids.
type watchers struct {
	cards  map[string][]string
	muted  map[string][]string
	boards map[string][]string
}

// The maximum number of boards and cards in one watcher query.
const (
	maxWatchedBoards = 64
	maxWatchedCards  = 128
)

// watchersOf returns the query for the watchers of the first maxWatchedBoards boards and
// maxWatchedCards cards, or "" if there are neither boards nor cards.
func watchersOf(cards, boards []string) (text string, a sqldb.Args) {
	if len(boards) > 0 {
		text = "SELECT 1, board_id, user_id FROM board_visits WHERE watching = 1 AND board_id IN (" +
			a.In(boards[:min(len(boards), maxWatchedBoards)]) + ")"
	}
	if len(cards) > 0 {
		if text != "" {
			text += " UNION ALL "
		}
		text += "SELECT 2 + watching, card_id, user_id FROM card_watches WHERE card_id IN (" +
			a.In(cards[:min(len(cards), maxWatchedCards)]) + ")"
	}
	return text, a
}

func (tx *Tx) watchers(ctx context.Context, cards, boards []string) (watchers, error) {
	w := watchers{cards: map[string][]string{}, muted: map[string][]string{}, boards: map[string][]string{}}
	if len(boards) == 0 {
		return w, nil
	}
	for len(boards) > 0 || len(cards) > 0 {
		text, a := watchersOf(cards, boards)
		boards, cards = boards[min(len(boards), maxWatchedBoards):], cards[min(len(cards), maxWatchedCards):]
		if err := tx.each(ctx, text, a, func(rows *sql.Rows) error {
			var (
				relation int // the first column of the query
				id, user string
			)
			err := rows.Scan(&relation, &id, &user)
			switch relation {
			case 1:
				w.boards[id] = append(w.boards[id], user)
			case 2:
				w.muted[id] = append(w.muted[id], user)
			default:
				w.cards[id] = append(w.cards[id], user)
			}
			return err
		}); err != nil {
			return w, err
		}
	}
	return w, nil
}

// reasons returns the people whom an event may notify, each with the reason. It does not
// check whether these people can see the board.
func (tx *Tx) reasons(ctx context.Context, t trigger, w watchers) (map[string]board.NotificationKind, error) {
	mentioned, err := tx.mentioned(ctx, t)
	if err != nil {
		return nil, err
	}
	card, boardID := t.event.CardID, t.access.BoardID
	f := board.Followers{Watching: slices.Concat(w.cards[card], w.boards[boardID]), Unwatched: w.muted[card]}
	if t.Comment != "" {
		f.Card, err = tx.texts(ctx, `SELECT user_id FROM card_assignees WHERE card_id = $1
			UNION SELECT author_id FROM comments WHERE card_id = $1 AND author_id IS NOT NULL`, card)
	}
	return t.Reasons(tx.caller.Actor, mentioned, f), err
}

// mentioned returns the ids of the people whom an event mentions and who can see its
// board.
func (tx *Tx) mentioned(ctx context.Context, t trigger) ([]string, error) {
	if !t.MayMention() {
		return nil, nil
	}
	var people []board.UserRef
	if err := tx.each(ctx, `SELECT u.id, u.name FROM boards b
		JOIN workspace_members wm ON wm.workspace_id = b.workspace_id JOIN users u ON u.id = wm.user_id
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = u.id
		WHERE b.id = $1 AND u.deleted_at IS NULL AND `+visible+" ORDER BY u.id",
		[]any{t.access.BoardID}, func(rows *sql.Rows) error {
			var u board.UserRef
			err := rows.Scan(&u.ID, &u.Name)
			people = append(people, u)
			return err
		}); err != nil {
		return nil, err
	}
	return mention.Added(t.Before, t.Text, people), nil
}

const notificationColumns = "notifications (id, user_id, kind, event, board_id, card_id, comment_id, actor_type, actor_id, " +
	"reminder, once, created_at, way, mail_at)"

// notificationRows returns one row for each person who wants to be notified and who can
// still see the board at the end of this transaction.
func (tx *Tx) notificationRows(
	ctx context.Context, t trigger, reasons map[string]board.NotificationKind,
) ([][]any, error) {
	if len(reasons) == 0 {
		return nil, nil
	}
	people, err := tx.recipients(ctx, t.access.BoardID, slices.Sorted(maps.Keys(reasons)))
	if err != nil {
		return nil, err
	}
	boardID := t.access.BoardID
	if t.event.CardID != "" {
		boardID = "" // the notification follows the card to other boards
	}
	var rows [][]any
	actor := tx.caller.Actor
	for _, p := range people {
		kind := reasons[p.id]
		channel := p.settings.Channels.Of(kind)
		if channel == board.ChannelOff {
			continue
		}
		rows = append(rows, []any{
			tx.NewID("ntf_"), p.id, string(kind), string(t.event.Kind),
			null(boardID), null(t.event.CardID), null(t.Comment + t.Edited),
			string(actor.Type), actor.ID, nil, nil,
			int64(tx.now), string(channel), null(p.settings.EmailDueAt(channel, tx.now, p.zone)),
		})
		tx.effects.Notified = append(tx.effects.Notified, p.id)
	}
	return rows, nil
}

// recipient is a person who can be notified.
type recipient struct {
	id       string
	zone     *time.Location
	settings board.NotificationSettings
}

// recipients returns the given people who can see a board, ordered by id.
func (v *View) recipients(ctx context.Context, boardID string, ids []string) (out []recipient, err error) {
	err = sqldb.InChunks(ids, func(in string, args []any) error {
		return v.each(ctx, fmt.Sprintf(`SELECT u.id, u.time_zone, `+settingsColumns+` FROM users u JOIN boards b ON b.id = $%d
			JOIN workspace_members wm ON wm.workspace_id = b.workspace_id AND wm.user_id = u.id LEFT
			JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = u.id
			LEFT JOIN notification_settings s ON s.user_id = u.id WHERE u.id IN (%s) AND u.deleted_at IS NULL AND b.trashed_at IS NULL
			AND `+visible+" ORDER BY u.id", len(args)+1, in),
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
