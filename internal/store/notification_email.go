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

// maxEmailItems is how many notifications one email tells of.
const maxEmailItems = 20

// emailKindOf is the email that goes out one way.
func emailKindOf(way board.Way) board.EmailKind {
	if way == board.WayDigest {
		return board.EmailDigest
	}
	return board.EmailNotify
}

// QueueNotificationEmails has emails written about the notifications whose time to
// leave has come, at most so many, and tells how many. An email that waits
// already takes them with it.
func (tx *Tx) QueueNotificationEmails(ctx context.Context, most int) (int, error) {
	type post struct {
		user string
		way  board.Way
	}
	var all []post
	if err := tx.each(ctx, `SELECT DISTINCT n.user_id, n.way FROM notifications n WHERE n.mail_at IS NOT NULL AND n.mail_at <= $1
		AND NOT EXISTS (SELECT 1 FROM letters l WHERE l.about = n.user_id AND l.kind = CASE WHEN n.way = 'digest' THEN 'digest' ELSE 'notify' END) ORDER BY n.user_id, n.way LIMIT $2`,
		[]any{int64(tx.now), most}, func(rows *sql.Rows) error {
			var p post
			err := rows.Scan(&p.user, &p.way)
			all = append(all, p)
			return err
		}); err != nil {
		return 0, err
	}
	for _, p := range all {
		if err := tx.InsertEmail(ctx, emailKindOf(p.way), p.user, tx.now); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// HasNotificationEmails tells whether QueueNotificationEmails has something to do.
func (v *View) HasNotificationEmails(ctx context.Context) (bool, error) {
	n, err := v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM notifications WHERE mail_at IS NOT NULL AND mail_at <= $1 LIMIT 1) AS n", int64(v.now))
	return n > 0, err
}

// EmailNotifications takes the notifications that an email tells of: all
// that wait to leave that way, and at another attempt the same again. What
// was read, or is not the person's to see any more, is none of them; it then
// leaves in no email. More is how many there are beyond those answered.
func (tx *Tx) EmailNotifications(ctx context.Context, emailID, userID string, way board.Way) (items []board.Notification, more int, err error) {
	if err := tx.exec(ctx, "UPDATE notifications SET letter_id = $1, mail_at = NULL WHERE user_id = $2 AND way = $3 AND mail_at IS NOT NULL AND read_at IS NULL",
		emailID, userID, string(way)); err != nil {
		return nil, 0, err
	}
	if items, err = tx.notifications(ctx, userID, "AND n.letter_id = $2 AND n.read_at IS NULL ORDER BY n.id DESC LIMIT $3", emailID, maxEmailItems); err != nil || len(items) < maxEmailItems {
		return items, 0, err
	}
	all, err := tx.count(ctx, "SELECT count(*)"+notificationSeen+" AND n.letter_id = $2 AND n.read_at IS NULL", userID, emailID)
	return items, all - len(items), err
}

// unsubscribeMAC is how long the signature in an address is.
const unsubscribeMAC = 16

// UnsubscribeToken is what the address in a person's emails ends with: it lets
// its holder end such emails, and nothing else.
func (v *View) UnsubscribeToken(userID string) string {
	return base64.RawURLEncoding.EncodeToString(append(v.db.unsubscribeMAC(userID), userID...))
}

// UnsubscribedUser is whose emails the token ends; false for one that this
// service did not sign.
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
