package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListNotificationsInput is the input of ListNotifications.
type ListNotificationsInput struct {
	Unread bool `json:"unread,omitempty" doc:"Whether to return only unread notifications. Defaults to false." example:"true"`
	op.Paging
}

// ListNotifications returns the caller's notifications about objects that the
// caller can still see, newest first.
func ListNotifications(ctx context.Context, v *store.View, in ListNotificationsInput) (op.Page[board.Notification], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.Notification]{}, err
	}
	all, err := v.Notifications(ctx, in.Unread, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(n board.Notification) any { return n.ID }), err
}

// NotificationCount is the number of unread notifications.
type NotificationCount struct {
	Unread int `json:"unread" doc:"The number of unread notifications; 100 means 100 or more." example:"3"`
}

// GetNotificationCount counts the caller's unread notifications about objects
// that the caller can still see.
func GetNotificationCount(ctx context.Context, v *store.View, _ Nothing) (NotificationCount, error) {
	n, _, err := v.Unread(ctx)
	return NotificationCount{n}, err
}

// MarkNotificationInput is the input of MarkNotification.
type MarkNotificationInput struct {
	NotificationID string `json:"notificationId" maxLength:"64" doc:"The id of the notification." example:"ntf_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Read           bool   `json:"read" doc:"Whether the notification is read." example:"true"`
}

// MarkNotification marks a notification of the caller as read or unread. It
// returns a not_found error for any other notification.
func MarkNotification(ctx context.Context, tx *store.Tx, in MarkNotificationInput) (board.Notification, error) {
	n, err := tx.Notification(ctx, in.NotificationID)
	if err != nil || (n.ReadAt != nil) == in.Read {
		return n, err
	}
	if err := tx.MarkNotification(ctx, n.ID, in.Read); err != nil {
		return n, err
	}
	return tx.Notification(ctx, n.ID)
}

// MarkAllNotificationsInput is the input of MarkAllNotifications.
type MarkAllNotificationsInput struct {
	UpTo string `json:"upTo,omitempty" maxLength:"64" doc:"The id of the newest notification that the caller has seen. Later ones stay unread. If it is absent, all notifications are marked as read." example:"ntf_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// MarkAllNotifications marks the caller's notifications as read: those up to UpTo,
// or all of them if UpTo is empty. It returns the number that are still unread.
func MarkAllNotifications(ctx context.Context, tx *store.Tx, in MarkAllNotificationsInput) (NotificationCount, error) {
	if err := tx.MarkNotifications(ctx, in.UpTo); err != nil {
		return NotificationCount{}, err
	}
	return GetNotificationCount(ctx, tx.View, Nothing{})
}

// notificationSlice is the maximum number of notifications that one transaction marks.
const notificationSlice = 2000

// markInSlices runs before MarkAllNotifications. If the caller has many unread
// notifications, it marks them in separate transactions. Marking tens of thousands in one
// transaction would block other writers.
func markInSlices(ctx context.Context, db *store.DB, caller board.Caller, in *MarkAllNotificationsInput) error {
	many := false
	if err := db.Read(ctx, caller, func(v *store.View) (err error) {
		many, err = v.HasManyUnread(ctx, notificationSlice)
		return err
	}); err != nil {
		return err
	}
	for many {
		if _, err := db.WriteSliceFor(ctx, caller, func(tx *store.Tx) error {
			n, err := tx.MarkSomeNotifications(ctx, in.UpTo, notificationSlice)
			many = n == notificationSlice
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// GetNotificationSettings returns the caller's notification settings.
func GetNotificationSettings(ctx context.Context, v *store.View, _ Nothing) (board.NotificationSettings, error) {
	return v.NotificationSettings(ctx)
}

// SetNotificationSettingsInput holds the new settings, which replace all previous ones.
type SetNotificationSettingsInput struct {
	Channels   board.NotificationChannels `json:"ways" doc:"How the caller is notified, for each kind of notification."`
	Mail       bool                       `json:"mail" doc:"Whether notification emails are sent at all." example:"true"`
	QuietFrom  string                     `json:"quietFrom,omitempty" maxLength:"5" doc:"The start of quiet hours, HH:MM in the caller's time zone. Notification emails wait until the quiet hours end, except for the daily email. If it is absent, there are no quiet hours." example:"22:00"`
	QuietUntil string                     `json:"quietUntil,omitempty" maxLength:"5" doc:"The end of quiet hours, HH:MM. Required with quietFrom." example:"07:00"`
	DigestHour *int                       `json:"digestHour,omitempty" minimum:"0" maximum:"23" doc:"The hour, in the caller's time zone, at which the daily email is sent. If it is absent, there is no daily email." example:"8"`
	Reminders  []board.Reminder           `json:"reminders" maxItems:"4" enum:"week,day,hour,due" doc:"How long before a card is due the caller is reminded." example:"[\"day\",\"due\"]"`
	RemindHour int                        `json:"remindHour" minimum:"0" maximum:"23" doc:"The hour, in the caller's time zone, at which reminders are sent for cards that are due on a day without a time." example:"9"`
}

// SetNotificationSettings replaces the caller's notification settings.
func SetNotificationSettings(ctx context.Context, tx *store.Tx, in SetNotificationSettingsInput) (board.NotificationSettings, error) {
	have, err := tx.NotificationSettings(ctx)
	if err != nil {
		return have, err
	}
	s := board.NotificationSettings{Channels: in.Channels, Mail: in.Mail, DigestHour: in.DigestHour, Reminders: in.Reminders,
		RemindHour: in.RemindHour, TimeZone: have.TimeZone}
	if in.QuietFrom != "" {
		s.QuietFrom = &in.QuietFrom
	}
	if in.QuietUntil != "" {
		s.QuietUntil = &in.QuietUntil
	}
	if err := s.Check(); err != nil {
		return have, err
	}
	return s, tx.SetNotificationSettings(ctx, s)
}

// UnsubscribeInput holds the secret from the link of an email.
type UnsubscribeInput struct {
	Token string `json:"token" maxLength:"200" doc:"The value of the token parameter in the unsubscribe link." example:"Zm9yLXRoZS1leGFtcGxl"`
}

// Unsubscribed is the state after Unsubscribe.
type Unsubscribed struct {
	Mail bool `json:"mail" doc:"Whether notification emails are still sent; always false." example:"false"`
}

// Unsubscribe stops a person's notification emails. Anyone who has the link from one of
// the emails can do this. It also succeeds if the emails are already stopped or the
// account no longer exists.
func Unsubscribe(ctx context.Context, tx *store.Tx, in UnsubscribeInput) (Unsubscribed, error) {
	userID, ok := tx.UnsubscribedUser(in.Token)
	if !ok {
		return Unsubscribed{}, board.Invalid("The link is not valid. Use the unsubscribe link exactly as it is in " +
			"the email.")
	}
	_, err := tx.DisableNotificationEmails(ctx, userID)
	return Unsubscribed{}, err
}
