package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

const settingsColumns = "s.ways, s.mail, s.quiet_from, s.quiet_until, s.digest_hour, s.reminders, s.remind_hour"

// settingsScan holds the columns of a person's settings. They are NULL if the person has
// stored no settings.
type settingsScan struct {
	zone                string
	channels, reminders sql.NullString
	mail, digest, hour  sql.NullInt64
	from, until         *string
}

func (s *settingsScan) dest() []any {
	return []any{&s.channels, &s.mail, &s.from, &s.until, &s.digest, &s.reminders, &s.hour}
}

func (s *settingsScan) result() (board.NotificationSettings, error) {
	out := board.DefaultNotificationSettings()
	out.TimeZone = s.zone
	if !s.channels.Valid {
		return out, nil
	}
	if err := json.Unmarshal([]byte(s.channels.String), &out.Channels); err != nil {
		return out, fmt.Errorf("decode notification settings: %w", err)
	}
	out.Mail, out.QuietFrom, out.QuietUntil, out.RemindHour = s.mail.Int64 != 0, s.from, s.until, int(s.hour.Int64)
	out.DigestHour, out.Reminders = nil, []board.Reminder{}
	if s.digest.Valid {
		hour := int(s.digest.Int64)
		out.DigestHour = &hour
	}
	for _, r := range strings.Fields(s.reminders.String) {
		out.Reminders = append(out.Reminders, board.Reminder(r))
	}
	return out, nil
}

// NotificationSettings returns the caller's notification settings.
func (v *View) NotificationSettings(ctx context.Context) (board.NotificationSettings, error) {
	return v.NotificationSettingsOf(ctx, v.caller.UserID)
}

// NotificationSettingsOf returns a person's notification settings, for the service's own
// emails. It does not check permissions.
func (v *View) NotificationSettingsOf(ctx context.Context, userID string) (board.NotificationSettings, error) {
	var s settingsScan
	found, err := v.one(ctx, "SELECT u.time_zone, "+settingsColumns+" FROM users u LEFT JOIN notification_settings s ON s.user_id = "+
		"u.id WHERE u.id = $1 AND u.deleted_at IS NULL",
		[]any{userID}, append([]any{&s.zone}, s.dest()...)...)
	if err == nil && !found {
		err = board.NotFound()
	}
	if err != nil {
		return board.NotificationSettings{}, err
	}
	return s.result()
}

// SetNotificationSettings stores the caller's notification settings. They also apply to
// notifications that have not been emailed yet.
func (tx *Tx) SetNotificationSettings(ctx context.Context, s board.NotificationSettings) error {
	return tx.setNotificationSettings(ctx, tx.caller.UserID, s)
}

func (tx *Tx) setNotificationSettings(ctx context.Context, userID string, s board.NotificationSettings) error {
	channels, err := json.Marshal(s.Channels, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode notification settings: %w", err)
	}
	reminders := make([]string, len(s.Reminders))
	for i, r := range s.Reminders {
		reminders[i] = string(r)
	}
	if err := tx.exec(ctx, `INSERT INTO notification_settings (user_id, ways, mail, quiet_from, quiet_until, digest_hour,
		reminders, remind_hour) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (user_id) DO UPDATE SET ways = excluded.ways, mail = excluded.mail, quiet_from = excluded.quiet_from,
		quiet_until = excluded.quiet_until,
		digest_hour = excluded.digest_hour, reminders = excluded.reminders, remind_hour = excluded.remind_hour`,
		userID, string(channels), flag(s.Mail), s.QuietFrom, s.QuietUntil, s.DigestHour, strings.Join(reminders, " "), s.RemindHour); err != nil {
		return err
	}
	zone, err := board.LoadZone("timeZone", s.TimeZone)
	if err != nil {
		return err
	}
	for _, kind := range board.NotificationKinds() {
		channel := s.Channels.Of(kind)
		if err := tx.exec(ctx, "UPDATE notifications SET way = $1, mail_at = $2 WHERE user_id = $3 AND kind = $4 AND read_at IS NULL "+
			"AND mail_at IS NOT NULL",
			string(channel), null(s.EmailDueAt(channel, tx.now, zone)), userID, string(kind)); err != nil {
			return err
		}
	}
	return nil
}

// DisableNotificationEmails disables all notification emails to a person. It returns false
// if the account was deleted.
func (tx *Tx) DisableNotificationEmails(ctx context.Context, userID string) (bool, error) {
	s, err := tx.NotificationSettingsOf(ctx, userID)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	if err != nil || !s.Mail {
		return err == nil, err
	}
	s.Mail = false
	return true, tx.setNotificationSettings(ctx, userID, s)
}

// zoneOf returns the time zone of notification settings.
func zoneOf(s board.NotificationSettings) (*time.Location, error) {
	return board.LoadZone("timeZone", s.TimeZone)
}
