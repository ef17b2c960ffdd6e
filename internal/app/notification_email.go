package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// notificationEmail completes an email with the unread notifications that no
// earlier email of its kind contained. It assigns these notifications to the email, so
// that a retry contains the same ones. It returns false if there are none, if the
// person has disabled notification emails, or if the account no longer exists.
func notificationEmail(ctx context.Context, tx *store.Tx, e *board.Email, userID string) (ready bool, err error) {
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
	if e.Kind == board.EmailDigest {
		channel = board.ChannelDigest
	}
	items, more, err := tx.EmailNotifications(ctx, e.ID, userID, channel)
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
	e.To, e.Link, e.Notifications = p.Email, tx.Link(path), n
	return true, nil
}
