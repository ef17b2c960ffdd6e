package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// notificationEmail completes an email with the notifications that are unread
// since the last email of its kind. It is not ready if there are none, if the
// person wants no emails, or if the account no longer exists.
func notificationEmail(ctx context.Context, tx *store.Tx, l *board.Email, userID string) (ready bool, err error) {
	p, err := tx.ProfileOf(ctx, userID)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s, err := tx.NotificationSettingsOf(ctx, userID)
	if err != nil {
		return false, err
	}
	channel, path := board.ChannelMail, "/notifications"
	if l.Kind == board.EmailDigest {
		channel = board.ChannelDigest
	}
	items, more, err := tx.EmailNotifications(ctx, l.ID, userID, channel)
	if err != nil || !s.Mail || len(items) == 0 {
		return false, err
	}
	n := &board.NotificationEmail{
		More: more, SettingsLink: tx.Link("/profile/notifications"), Unsubscribe: tx.Link("/unsubscribe?token=" + tx.UnsubscribeToken(userID)),
	}
	for _, item := range items {
		n.Items = append(n.Items, board.NotificationItem{Notification: item, Link: tx.Link(item.Path)})
	}
	if len(items) == 1 {
		path = items[0].Path
	}
	l.To, l.Link, l.Notifications = p.Email, tx.Link(path), n
	return true, nil
}
