package mail

import (
	"fmt"

	"cardwall/internal/board"
)

// composeNotifications composes an email about new notifications or a daily
// summary. For a confidential board, it contains only the kind of notification.
func composeNotifications(kind board.EmailKind, link string, e board.NotificationEmail) (Message, error) {
	all := len(e.Items) + e.More
	subject, button := "", "View notification"
	switch {
	case all == 1:
		subject = subjectOf(e.Items[0])
	case kind == board.EmailDigest:
		subject = fmt.Sprintf("Your daily summary: %d notifications", all)
	default:
		subject = fmt.Sprintf("%s, and %d more", subjectOf(e.Items[0]), all-1)
	}
	if all > 1 {
		button = "View all notifications"
	}
	c := content{
		Button: button, Link: link, Unsubscribe: e.Unsubscribe, Settings: e.SettingsLink,
		Footer: "You received this email because of your notification settings.",
	}
	for _, item := range e.Items {
		entry := entry{Headline: headline(item), Link: item.Link}
		switch {
		case item.Confidential:
		case item.Excerpt != nil:
			entry.Text = oneLine(*item.Excerpt)
		case item.Kind == board.NotifyDue && item.Card != nil:
			entry.Text = dueText(item.Card.Due)
		}
		if !item.Confidential {
			entry.Place = line(item.Board.Name)
		}
		c.Entries = append(c.Entries, entry)
	}
	if e.More > 0 {
		c.Paragraphs = []string{fmt.Sprintf("The newest %d of %d notifications:", len(e.Items), all)}
	}
	m, err := render(subject, c)
	m.unsubscribe = e.Unsubscribe
	return m, err
}

// entry is one notification in an email.
type entry struct{ Headline, Text, Place, Link string }

// subjectOf returns the subject for a notification. It contains no text that a
// person typed.
func subjectOf(n board.NotificationItem) string {
	if n.Confidential {
		return headline(n)
	}
	switch n.Kind {
	case board.NotifyMention:
		return "You were mentioned"
	case board.NotifyAssignment:
		return "You were assigned a card"
	case board.NotifyInvitation:
		return "A board was shared with you"
	case board.NotifyDue:
		return "Reminder: your card is due"
	case board.NotifyComment:
		return "New comment on your card"
	case board.NotifyWatched:
	}
	return "A card you watch was updated"
}

// headline returns one sentence about what happened.
func headline(n board.NotificationItem) string {
	if n.Confidential {
		switch n.Kind {
		case board.NotifyMention:
			return "You were mentioned on a confidential board"
		case board.NotifyAssignment:
			return "You were assigned a card on a confidential board"
		case board.NotifyInvitation:
			return "A confidential board was shared with you"
		case board.NotifyDue:
			return "Your card on a confidential board is due"
		case board.NotifyComment, board.NotifyWatched:
		}
		return "New activity on a confidential board"
	}
	who, what := "Someone", line(n.Board.Name)
	switch {
	case n.Actor.Name != nil:
		who = line(*n.Actor.Name)
	case n.Actor.Type == board.ActorAutomation:
		who = "An automation"
	}
	if n.Card != nil {
		what = line(n.Card.Title)
	}
	switch n.Kind {
	case board.NotifyMention:
		return fmt.Sprintf("%s mentioned you: %s", who, what)
	case board.NotifyAssignment:
		return fmt.Sprintf("%s assigned you to a card: %s", who, what)
	case board.NotifyInvitation:
		return fmt.Sprintf("%s shared a board with you: %s", who, what)
	case board.NotifyDue:
		return fmt.Sprintf("%s: %s", reminderText(n), what)
	case board.NotifyComment:
		return fmt.Sprintf("%s commented on a card: %s", who, what)
	case board.NotifyWatched:
	}
	return fmt.Sprintf("%s %s: %s", who, verb(n.Event), what)
}

// reminderText returns how close the due date was at the time of the reminder.
func reminderText(n board.NotificationItem) string {
	if n.Reminder == nil || n.Card == nil {
		return "Due"
	}
	switch *n.Reminder {
	case board.RemindWeek:
		return "Due in a week"
	case board.RemindDay:
		return "Due in a day"
	case board.RemindHour:
		return "Due in an hour"
	case board.RemindDue:
	}
	if n.Card.DueAt == nil {
		return "Due today"
	}
	return "Due now"
}

// dueText returns when a card is due, in the time zone of the due date.
func dueText(d board.Due) string {
	if d.DueDate == nil {
		return ""
	}
	if d.DueAt == nil || d.TimeZone == nil {
		return "Due on " + *d.DueDate
	}
	zone, err := board.LoadZone("timeZone", *d.TimeZone)
	if err != nil {
		return "Due on " + *d.DueDate
	}
	return "Due on " + d.DueAt.Time().In(zone).Format("2006-01-02 at 15:04") + " (" + *d.TimeZone + ")"
}

// verb returns what a person did with a watched card or board.
func verb(k board.Kind) string {
	if info, _ := k.Info(); info.Verb != "" {
		return info.Verb
	}
	return "made a change"
}
