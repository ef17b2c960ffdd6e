package board

import (
	"slices"
	"time"
)

// NotificationKind is the reason why a person is notified.
type NotificationKind string

// The kinds of notifications, strongest reason first. A person with several
// reasons is notified once, for the strongest.
const (
	NotifyMention    NotificationKind = "mention"    // someone mentioned the person
	NotifyAssignment NotificationKind = "assignment" // someone assigned a card to the person
	NotifyInvitation NotificationKind = "invitation" // someone shared a board with the person
	NotifyDue        NotificationKind = "due"        // a card assigned to the person is due, or will be soon
	NotifyComment    NotificationKind = "comment"    // someone commented on a card that concerns the person; see NotificationChannels
	NotifyWatched    NotificationKind = "watched"    // another change to a card or board that the person watches
)

// NotificationKinds returns all kinds, strongest first.
func NotificationKinds() []NotificationKind {
	return []NotificationKind{NotifyMention, NotifyAssignment, NotifyInvitation, NotifyDue, NotifyComment, NotifyWatched}
}

// NotificationChannel is how a person gets notifications of a kind. Every channel
// except off shows them in the application.
type NotificationChannel string

// The channels, quietest first.
const (
	ChannelOff         NotificationChannel = "off"
	ChannelApplication NotificationChannel = "application"
	ChannelDigest      NotificationChannel = "digest" // also in the daily email
	ChannelMail        NotificationChannel = "mail"   // also in an email within minutes
)

// Reminder is how long before the due time a person is reminded of a card.
type Reminder string

// The reminders. RemindHour does not apply to cards that are due all day.
const (
	RemindWeek Reminder = "week"
	RemindDay  Reminder = "day"
	RemindHour Reminder = "hour"
	RemindDue  Reminder = "due"
)

// Reminders returns all reminders, earliest first.
func Reminders() []Reminder { return []Reminder{RemindWeek, RemindDay, RemindHour, RemindDue} }

// Ahead returns the time between the reminder and the due time.
func (r Reminder) Ahead() time.Duration {
	switch r {
	case RemindWeek:
		return 7 * 24 * time.Hour
	case RemindDay:
		return 24 * time.Hour
	case RemindHour:
		return time.Hour
	case RemindDue:
		return 0
	}
	return 0
}

// DaysAhead is like Ahead, but in days, for a card that is due all day. It returns
// false for RemindHour.
func (r Reminder) DaysAhead() (int, bool) {
	switch r {
	case RemindWeek:
		return 7, true
	case RemindDay:
		return 1, true
	case RemindDue:
		return 0, true
	case RemindHour:
	}
	return 0, false
}

// AllDayReminderTime returns the time at which people in a time zone are reminded of a
// card that is due all day: the given hour, daysAhead days before the due date.
func AllDayReminderTime(day time.Time, daysAhead, hour int, zone *time.Location) Instant {
	return InstantOf(wallTime(day.AddDate(0, 0, -daysAhead).Add(time.Duration(hour)*time.Hour), zone))
}

// Notification informs a person about an event.
type Notification struct {
	ID       string           `json:"id" doc:"The notification's id." example:"ntf_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Kind     NotificationKind `json:"kind" enum:"mention,assignment,invitation,due,comment,watched" doc:"Why the caller was notified." example:"mention"`
	Event    Kind             `json:"event" doc:"The kind of event, as in the board's activity; card.due for a reminder." kinds:"notification" example:"comment.added"`
	At       Instant          `json:"at" format:"date-time" doc:"When the event happened." example:"2026-03-02T09:00:00.000Z"`
	Actor    NotifiedBy       `json:"actor" doc:"The actor that caused the event."`
	Board    NotifiedBoard    `json:"board" doc:"The board that the event happened on."`
	Card     *NotifiedCard    `json:"card" doc:"The card that the event concerns; null if the notification is about the board."`
	Excerpt  *string          `json:"excerpt" doc:"The beginning of the comment; null if the notification is not about a comment." example:"@Ada Lovelace, can you look at this?"`
	Reminder *Reminder        `json:"reminder" enum:"week,day,hour,due" doc:"How long before the due date the reminder was sent; null if the notification is not a reminder." example:"day"`
	ReadAt   *Instant         `json:"readAt" format:"date-time" doc:"When the notification was read; null if it is unread." example:"2026-03-02T09:05:00.000Z"`
	Path     string           `json:"path" doc:"The path of the card or board in the application." example:"/cards/crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`

	Confidential bool `json:"-"` // its content must not appear in an email
}

// NotifiedBy is the actor that caused a notification.
type NotifiedBy struct {
	Actor
	Name *string `json:"name" doc:"The person's name; null if the actor is not a person." example:"Ada Lovelace"`
}

// NotifiedBoard is the board of a notification.
type NotifiedBoard struct {
	ID   string `json:"id" doc:"The board's id." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name string `json:"name" doc:"The board's name." example:"Launch"`
}

// NotifiedCard is the card of a notification.
type NotifiedCard struct {
	ID     string `json:"id" doc:"The card's id." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Number int    `json:"number" doc:"The card's number on the board." example:"7"`
	Title  string `json:"title" doc:"The card's title." example:"Write the press release"`
	Due
}

// EmailDelay is how long a notification email waits for further notifications.
const EmailDelay = 3 * time.Minute

// NotificationSettings holds how a person wants to be notified.
type NotificationSettings struct {
	Channels   NotificationChannels `json:"ways" doc:"How the caller is notified, for each kind of notification."`
	Mail       bool                 `json:"mail" doc:"Whether notification emails are sent at all; false if the caller has unsubscribed." example:"true"`
	QuietFrom  *string              `json:"quietFrom" doc:"The start of quiet hours, HH:MM in the caller's time zone; null if there are none. Emails are held back during quiet hours." example:"22:00"`
	QuietUntil *string              `json:"quietUntil" doc:"The end of quiet hours, HH:MM, on the next day if it is earlier than quietFrom; null if there are none." example:"07:00"`
	DigestHour *int                 `json:"digestHour" doc:"The hour, 0 to 23 in the caller's time zone, at which the daily email is sent; null if there is no daily email." example:"8"`
	Reminders  []Reminder           `json:"reminders" enum:"week,day,hour,due" doc:"How long before a card is due the caller is reminded." example:"[\"day\",\"due\"]"`
	RemindHour int                  `json:"remindHour" doc:"The hour, 0 to 23 in the caller's time zone, at which reminders are sent for cards that are due on a day without a time." example:"9"`
	TimeZone   string               `json:"timeZone" doc:"The time zone of these times, from the caller's profile." example:"Europe/London"`
}

// NotificationChannels holds the channel for each kind.
type NotificationChannels struct {
	Mention    NotificationChannel `json:"mention" enum:"off,application,digest,mail" doc:"How the caller is notified when someone mentions the caller." example:"mail"`
	Assignment NotificationChannel `json:"assignment" enum:"off,application,digest,mail" doc:"How the caller is notified when someone assigns a card to the caller." example:"mail"`
	Invitation NotificationChannel `json:"invitation" enum:"off,application,digest,mail" doc:"How the caller is notified when someone shares a board with the caller." example:"mail"`
	Due        NotificationChannel `json:"due" enum:"off,application,digest,mail" doc:"How the caller is reminded of assigned cards that are due." example:"mail"`
	Comment    NotificationChannel `json:"comment" enum:"off,application,digest,mail" doc:"How the caller is notified of comments on cards that the caller is assigned to, has commented on or watches." example:"digest"`
	Watched    NotificationChannel `json:"watched" enum:"off,application,digest,mail" doc:"How the caller is notified of other changes to cards and boards that the caller watches." example:"application"`
}

// DefaultNotificationSettings returns the settings of a person who has not
// changed any.
func DefaultNotificationSettings() NotificationSettings {
	hour := 8
	return NotificationSettings{
		Channels: NotificationChannels{Mention: ChannelMail, Assignment: ChannelMail, Invitation: ChannelMail, Due: ChannelMail,
			Comment: ChannelDigest, Watched: ChannelApplication},
		Mail: true, DigestHour: &hour, Reminders: []Reminder{RemindDay, RemindDue}, RemindHour: 9,
	}
}

// Of returns the channel for the given kind.
func (c NotificationChannels) Of(k NotificationKind) NotificationChannel {
	switch k {
	case NotifyMention:
		return c.Mention
	case NotifyAssignment:
		return c.Assignment
	case NotifyInvitation:
		return c.Invitation
	case NotifyDue:
		return c.Due
	case NotifyComment:
		return c.Comment
	case NotifyWatched:
		return c.Watched
	}
	return ChannelOff
}

// Check returns an error for the caller if a channel, time, hour or reminder is invalid.
func (s NotificationSettings) Check() error {
	for _, k := range NotificationKinds() {
		if !slices.Contains([]NotificationChannel{ChannelOff, ChannelApplication, ChannelDigest, ChannelMail}, s.Channels.Of(k)) {
			return Invalid("ways.%s must be one of off, application, digest, mail.", k)
		}
	}
	if (s.QuietFrom == nil) != (s.QuietUntil == nil) {
		return Invalid("quietFrom and quietUntil must be given together, or both be null.")
	}
	if s.QuietFrom != nil {
		from, okFrom := minuteOf(*s.QuietFrom)
		until, okUntil := minuteOf(*s.QuietUntil)
		if !okFrom || !okUntil || from == until {
			return Invalid("quietFrom and quietUntil must be two different times of day in the form HH:MM.")
		}
	}
	if s.DigestHour != nil && (*s.DigestHour < 0 || *s.DigestHour > 23) || s.RemindHour < 0 || s.RemindHour > 23 {
		return Invalid("digestHour and remindHour must be hours from 0 to 23.")
	}
	for i, r := range s.Reminders {
		if !slices.Contains(Reminders(), r) || slices.Contains(s.Reminders[:i], r) {
			return Invalid("reminders must be a list of week, day, hour and due, each at most once.").
				In("reminders", RuleValue)
		}
	}
	return nil
}

// EmailDueAt returns the time at which an email about a notification created now is
// due, or 0 if no email is sent. For ChannelMail, the email waits for further
// notifications and for the end of the quiet hours.
func (s NotificationSettings) EmailDueAt(channel NotificationChannel, now Instant, zone *time.Location) Instant {
	if !s.Mail {
		return 0
	}
	switch channel {
	case ChannelMail:
		at := now + Instant(EmailDelay.Milliseconds())
		return max(at, s.quietEnd(at, zone))
	case ChannelDigest:
		if s.DigestHour == nil {
			return 0
		}
		return nextTimeOfDay(now, *s.DigestHour*60, zone)
	case ChannelOff, ChannelApplication:
	}
	return 0
}

// quietEnd returns the end of the quiet hours that contain the instant at, or 0
// if at is outside quiet hours.
func (s NotificationSettings) quietEnd(at Instant, zone *time.Location) Instant {
	if s.QuietFrom == nil || s.QuietUntil == nil {
		return 0
	}
	from, _ := minuteOf(*s.QuietFrom)
	until, _ := minuteOf(*s.QuietUntil)
	local := at.Time().In(zone)
	minute := local.Hour()*60 + local.Minute()
	quiet := minute >= from && minute < until
	if from > until {
		quiet = minute >= from || minute < until
	}
	if !quiet {
		return 0
	}
	return nextTimeOfDay(at, until, zone)
}

// nextTimeOfDay returns the first instant later than after at which clocks in the zone show
// the given minute of the day.
func nextTimeOfDay(after Instant, minute int, zone *time.Location) Instant {
	y, m, d := after.Time().In(zone).Date()
	for day := 0; ; day++ {
		at := InstantOf(wallTime(time.Date(y, m, d+day, 0, minute, 0, 0, time.UTC), zone))
		if at > after {
			return at
		}
	}
}

// minuteOf returns the minute of the day for a time in the form HH:MM. It returns false
// for any other string.
func minuteOf(s string) (int, bool) {
	t, err := time.Parse("15:04", s)
	return t.Hour()*60 + t.Minute(), err == nil && len(s) == len("15:04")
}
