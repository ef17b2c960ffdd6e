package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store/search"
)

// RemindedUntil returns the time up to which reminders have been written, or 0 if the
// database has no such time yet.
func (v *View) RemindedUntil(ctx context.Context) (at board.Instant, err error) {
	var text string
	found, err := v.one(ctx, "SELECT value FROM settings WHERE key = $1", []any{remindedSetting}, &text)
	if err != nil || !found {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return board.Instant(n), err
}

// SetRemindedUntil records the time up to which reminders have been written.
func (tx *Tx) SetRemindedUntil(ctx context.Context, at board.Instant) error {
	return tx.exec(ctx, "INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
		remindedSetting, strconv.FormatInt(int64(at), 10))
}

const remindedSetting = "reminded_until"

// reminder reminds a person of a card's due date.
type reminder struct {
	recipient
	cardID string
	due    string // the due date or time as the database stores it
	kind   board.Reminder
}

// remindersFrom joins open cards that are not done with their assignees and the
// assignees' settings.
const remindersFrom = ` FROM cards c JOIN lists l ON l.id = c.list_id
	JOIN boards b ON b.id = c.board_id AND b.archived_at IS NULL AND b.trashed_at IS NULL
	JOIN card_assignees k ON k.card_id = c.id JOIN users u ON u.id = k.user_id AND u.deleted_at IS NULL
	JOIN workspace_members wm ON wm.workspace_id = b.workspace_id AND wm.user_id = u.id
	LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = u.id
	LEFT JOIN notification_settings s ON s.user_id = u.id
	WHERE c.done_at IS NULL AND ` + search.OpenCard + ` AND ` + visible

// HasDueReminders reports whether Remind may have reminders to write. If not, the caller
// needs no write transaction.
func (v *View) HasDueReminders(ctx context.Context, after, until board.Instant) (bool, error) {
	due, err := v.remindersDue(ctx, after, until)
	return len(due) > 0, err
}

// Remind writes the reminders whose time is in (after, until] and returns the number of
// reminders written. It writes each kind of reminder only once for the same person, card
// and due date.
func (tx *Tx) Remind(ctx context.Context, after, until board.Instant) (int64, error) {
	due, err := tx.remindersDue(ctx, after, until)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, r := range due {
		written, err := tx.insertReminder(ctx, r)
		if err != nil {
			return n, fmt.Errorf("write reminder: %w", err)
		}
		n += written
	}
	return n, nil
}

func (v *View) remindersDue(ctx context.Context, after, until board.Instant) ([]reminder, error) {
	var due []reminder
	for _, kind := range board.Reminders() {
		ahead := board.Instant(kind.Ahead().Milliseconds())
		found, err := v.reminders(ctx, kind, "c.due_at", " AND c.due_at > $1 AND c.due_at <= $2 ORDER BY c.id, u.id",
			int64(after+ahead), int64(until+ahead))
		if err != nil {
			return nil, fmt.Errorf("find due cards: %w", err)
		}
		due = append(due, found...)
	}
	days, err := v.dayReminders(ctx, after, until)
	return append(due, days...), err
}

// dayReminders returns the reminders of cards that are due on a day rather than at a
// time. Their times depend on the time zone and the hour in people's settings.
func (v *View) dayReminders(ctx context.Context, after, until board.Instant) ([]reminder, error) {
	type localHour struct {
		zone string
		hour int
	}
	var hours []localHour
	if err := v.each(ctx, "SELECT DISTINCT u.time_zone, COALESCE(s.remind_hour, $1) FROM users u LEFT JOIN notification_settings s "+
		"ON s.user_id = u.id WHERE u.deleted_at IS NULL ORDER BY 1, 2",
		[]any{board.DefaultNotificationSettings().RemindHour}, func(rows *sql.Rows) error {
			var h localHour
			err := rows.Scan(&h.zone, &h.hour)
			hours = append(hours, h)
			return err
		}); err != nil {
		return nil, err
	}
	var due []reminder
	for _, h := range hours {
		zone, err := board.LoadZone("timeZone", h.zone)
		if err != nil {
			continue // the time zone database no longer contains this zone
		}
		for _, kind := range board.Reminders() {
			ahead, ok := kind.DaysAhead()
			if !ok {
				continue
			}
			for _, day := range dueDays(after, until, ahead, h.hour, zone) {
				found, err := v.reminders(ctx, kind, "c.due_date", " AND c.due_at IS NULL AND c.due_date = $1 AND u.time_zone = $2 "+
					"AND COALESCE(s.remind_hour, $3) = $4 ORDER BY c.id, u.id",
					day, h.zone, board.DefaultNotificationSettings().RemindHour, h.hour)
				if err != nil {
					return nil, fmt.Errorf("find cards due on %s: %w", day, err)
				}
				due = append(due, found...)
			}
		}
	}
	return due, nil
}

// dueDays returns the due dates whose reminder time is in (after, until].
func dueDays(after, until board.Instant, ahead, hour int, zone *time.Location) (days []string) {
	first := after.Time().In(zone)
	for day := time.Date(first.Year(), first.Month(), first.Day()+ahead-1, 0, 0, 0, 0, time.UTC); ; day = day.AddDate(0, 0, 1) {
		at := board.AllDayReminderTime(day, ahead, hour, zone)
		if at > until {
			return days
		}
		if at > after {
			days = append(days, day.Format(board.DateLayout))
		}
	}
}

// reminders returns the reminders that a query selects, except reminders that people have
// turned off. Column contains the due date or time.
func (v *View) reminders(ctx context.Context, kind board.Reminder, column, rest string, args ...any) (out []reminder, err error) {
	err = v.each(ctx, "SELECT c.id, CAST("+column+" AS TEXT), u.id, u.time_zone, "+settingsColumns+remindersFrom+rest, args,
		func(rows *sql.Rows) error {
			r := reminder{kind: kind}
			var s settingsScan
			if err := rows.Scan(append([]any{&r.cardID, &r.due, &r.id, &s.zone}, s.dest()...)...); err != nil {
				return err
			}
			if r.settings, err = s.result(); err != nil {
				return err
			}
			for _, enabled := range r.settings.Reminders {
				if enabled == kind && r.settings.Channels.Due != board.ChannelOff {
					r.zone, err = zoneOf(r.settings)
					out = append(out, r)
					return err
				}
			}
			return nil
		})
	return out, err
}

func (tx *Tx) insertReminder(ctx context.Context, r reminder) (int64, error) {
	channel := r.settings.Channels.Due
	n, err := tx.affected(ctx, "INSERT INTO "+notificationColumns+" VALUES ($1, $2, $3, $4, NULL, $5, NULL, $6, NULL, $7, $8, $9, "+
		"$10, $11) ON CONFLICT DO NOTHING",
		tx.NewID("ntf_"), r.id, string(board.NotifyDue), board.KindCardDue, r.cardID, string(board.ActorSystem), string(r.kind),
		r.cardID+" "+r.due+" "+string(r.kind),
		int64(tx.now), string(channel), null(r.settings.EmailDueAt(channel, tx.now, r.zone)))
	if n > 0 {
		tx.effects.Notified = append(tx.effects.Notified, r.id)
	}
	return n, err
}
