package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"strings"

	"cardwall/internal/board"
)

// maxEmailItems is the maximum number of notifications that one email shows.
const maxEmailItems = 20

// emailKindOf returns the kind of email for a notification channel.
func emailKindOf(channel board.NotificationChannel) board.EmailKind {
	if channel == board.ChannelDigest {
		return board.EmailDigest
	}
	return board.EmailNotify
}

// QueueNotificationEmails queues at most limit emails for notifications that are due to be
// emailed, and returns the number of emails queued. It skips people who already have such
// an email in the queue, because that email will include the notifications.
func (tx *Tx) QueueNotificationEmails(ctx context.Context, limit int) (int, error) {
	type recipient struct {
		user    string
		channel board.NotificationChannel
	}
	var due []recipient
	if err := tx.each(ctx, `SELECT DISTINCT n.user_id, n.way FROM notifications n WHERE n.mail_at IS NOT NULL AND n.mail_at <= $1
		AND NOT EXISTS (SELECT 1 FROM emails e WHERE e.about = n.user_id AND e.kind = CASE WHEN n.way = 'digest' THEN 'digest'
		ELSE 'notify' END) ORDER BY n.user_id, n.way LIMIT $2`,
		[]any{int64(tx.now), limit}, func(rows *sql.Rows) error {
			var p recipient
			err := rows.Scan(&p.user, &p.channel)
			due = append(due, p)
			return err
		}); err != nil {
		return 0, err
	}
	for _, p := range due {
		if err := tx.InsertEmail(ctx, emailKindOf(p.channel), p.user, tx.now); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// HasNotificationEmails reports whether a notification is due to be emailed.
func (v *View) HasNotificationEmails(ctx context.Context) (bool, error) {
	n, err := v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM notifications WHERE mail_at IS NOT NULL AND mail_at <= $1 "+
		"LIMIT 1) AS n", int64(v.now))
	return n > 0, err
}

// EmailNotifications assigns all notifications of a channel that have not been emailed yet
// to an email, and returns the newest of them. A later attempt to send the email returns
// the same notifications. It omits notifications that were read or that the person may no
// longer see. More is the number of further notifications, beyond the maxEmailItems that
// it returns.
func (tx *Tx) EmailNotifications(ctx context.Context, emailID, userID string, channel board.NotificationChannel,
) (items []board.Notification, more int, err error) {
	if err := tx.exec(ctx, "UPDATE notifications SET letter_id = $1, mail_at = NULL WHERE user_id = $2 AND way = $3 "+
		"AND mail_at IS NOT NULL AND read_at IS NULL",
		emailID, userID, string(channel)); err != nil {
		return nil, 0, err
	}
	if items, err = tx.notifications(ctx, userID, "AND n.letter_id = $2 AND n.read_at IS NULL ORDER BY n.id DESC LIMIT $3",
		emailID, maxEmailItems); err != nil || len(items) < maxEmailItems {
		return items, 0, err
	}
	all, err := tx.count(ctx, "SELECT count(*)"+notificationFrom+" AND n.letter_id = $2 AND n.read_at IS NULL", userID, emailID)
	return items, all - len(items), err
}

// unsubscribeMAC is the length of the signature in an unsubscribe token, in bytes.
const unsubscribeMAC = 16

// UnsubscribeToken returns the token for the unsubscribe links in a person's emails. The
// token allows its holder only to disable these emails.
func (v *View) UnsubscribeToken(userID string) string {
	return base64.RawURLEncoding.EncodeToString(append(v.db.unsubscribeMAC(userID), userID...))
}

// UnsubscribedUser returns the id of the person whose emails an unsubscribe token
// disables. It returns ok = false if this service did not sign the token.
func (v *View) UnsubscribedUser(token string) (userID string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) <= unsubscribeMAC || !strings.HasPrefix(string(raw[unsubscribeMAC:]), "usr_") {
		return "", false
	}
	userID = string(raw[unsubscribeMAC:])
	return userID, hmac.Equal(raw[:unsubscribeMAC], v.db.unsubscribeMAC(userID))
}

func (db *DB) unsubscribeMAC(userID string) []byte {
	m := hmac.New(sha256.New, db.cursors)
	m.Write([]byte("unsubscribe\x00" + userID))
	return m.Sum(nil)[:unsubscribeMAC]
}
