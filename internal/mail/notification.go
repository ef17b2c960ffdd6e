package mail

import (
	"fmt"

	"cardwall/internal/board"
)

// Notifications tells a person what happened, within minutes or once a day. Of
// what happened on a confidential board it says that something did.
func Notifications(kind board.LetterKind, link string, l board.NotificationLetter) (Message, error) {
	all := len(l.Items) + l.More
	subject, button := "", "Open it"
	switch {
	case all == 1:
		subject = subjectOf(l.Items[0])
	case kind == board.LetterDigest:
		subject = fmt.Sprintf("Your day: %d notifications", all)
	default:
		subject = fmt.Sprintf("%s, and %d more", subjectOf(l.Items[0]), all-1)
	}
	if all > 1 {
		button = "Open all notifications"
	}
	c := content{
		Button: button, Link: link, Unsubscribe: l.Unsubscribe, Settings: l.SettingsLink,
		Small: "You get this email because of your settings of notifications.",
	}
	for _, item := range l.Items {
		entry := entry{Headline: headline(item), Link: item.Link}
		switch {
		case item.Confidential:
		case item.Excerpt != nil:
			entry.Text = oneLine(*item.Excerpt)
		case item.Kind == board.NotifyDue && item.Card != nil:
			entry.Text = dueOf(item.Card.Due)
		}
		if !item.Confidential {
			entry.Place = line(item.Board.Name)
		}
		c.Entries = append(c.Entries, entry)
	}
	if l.More > 0 {
		c.Paragraphs = []string{fmt.Sprintf("The newest %d of %d:", len(l.Items), all)}
	}
	m, err := compose(subject, c)
	m.unsubscribe = l.Unsubscribe
	return m, err
}

// entry is one notification in a letter.
type entry struct{ Headline, Text, Place, Link string }

// subjectOf says what happened without the words of anybody.
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
		return "A card of yours is due"
	case board.NotifyComment:
		return "New comment on a card of yours"
	case board.NotifyWatched:
	}
	return "A card that you watch changed"
}

// headline says in a sentence what happened.
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
			return "A card of yours on a confidential board is due"
		case board.NotifyComment, board.NotifyWatched:
		}
		return "Something happened on a confidential board"
	}
	who, what := "Somebody", line(n.Board.Name)
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
		return fmt.Sprintf("%s assigned you: %s", who, what)
	case board.NotifyInvitation:
		return fmt.Sprintf("%s shared a board with you: %s", who, what)
	case board.NotifyDue:
		return fmt.Sprintf("%s: %s", dueWords(n), what)
	case board.NotifyComment:
		return fmt.Sprintf("%s commented: %s", who, what)
	case board.NotifyWatched:
	}
	return fmt.Sprintf("%s %s: %s", who, deed(n.Event), what)
}

// dueWords say how near the due date was when the reminder was written.
func dueWords(n board.NotificationItem) string {
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

// dueOf says when a card is due, in the zone that its time was given in.
func dueOf(d board.Due) string {
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

// deed is what somebody did to a card or board that is watched.
func deed(k board.Kind) string {
	switch k {
	case board.KindCardCreated:
		return "added a card"
	case board.KindCardMoved:
		return "moved a card"
	case board.KindCardCompleted:
		return "finished a card"
	case board.KindCardReopened:
		return "reopened a card"
	case board.KindCardArchived:
		return "archived a card"
	case board.KindCardRestored:
		return "restored a card"
	case board.KindCardDueDateChanged:
		return "changed a due date"
	case board.KindStatusPosted:
		return "posted a status update"
	}
	return "changed something"
}
