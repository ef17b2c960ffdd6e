package board

import (
	"slices"
	"strings"
)

// NotificationTrigger is the part of an event that determines who may be notified of
// it.
type NotificationTrigger struct {
	Text     string   // text that may mention people
	Before   string   // the text before the change; people mentioned in it are not notified again
	Assigned []string // people to whom the event assigned the card
	Invited  string   // the person who received a role on the board
	Comment  string   // id of the comment that was added
	Edited   string   // id of the comment that was edited
	Watched  bool     // whether people who watch the card or the board are notified
}

// NotificationTriggerOf returns the trigger of an event. It returns false if the
// event notifies no one, which is true of most events.
func NotificationTriggerOf(e Event) (NotificationTrigger, bool) {
	var t NotificationTrigger
	change := func(field string) (from, to string) {
		from, _ = e.Changes[field].From.(string)
		to, _ = e.Changes[field].To.(string)
		return from, to
	}
	switch e.Kind {
	case KindCommentAdded:
		t.Text = e.Text
		_, t.Comment = change("commentId")
	case KindCommentEdited:
		t.Before, t.Text = e.Before, e.Text
		_, t.Edited = change("commentId")
	case KindCardCreated:
		if !e.Copied {
			_, t.Text = change("description")
		}
		t.Assigned, _ = e.Changes["assignees"].To.([]string)
		t.Watched = true
	case KindCardUpdated:
		t.Before, t.Text = change("description")
	case KindCardAssigneesChanged:
		before, _ := e.Changes["assignees"].From.([]string)
		after, _ := e.Changes["assignees"].To.([]string)
		t.Assigned = without(after, before)
	case KindCardMoved:
		_, to := change("listId")
		t.Watched = to != "" // a card that left the board is no longer visible there
	case KindCardCompleted, KindCardReopened, KindCardArchived, KindCardRestored, KindCardDueDateChanged, KindStatusPosted:
		t.Watched = true
	case KindBoardMemberAdded:
		_, t.Invited = change("userId")
	}
	return t, t.Watched || t.Text != "" || t.Comment != "" || t.Invited != "" || len(t.Assigned) > 0
}

// MayMention reports whether the text can mention anyone. If so, the caller must load
// the people of the board.
func (t NotificationTrigger) MayMention() bool { return strings.ContainsAny(t.Text, "@＠") }

// Followers are the people who follow a card.
type Followers struct {
	Card      []string // its assignees and the authors of its comments
	Watching  []string // people who watch the card or its board
	Unwatched []string // people who muted this card
}

// Reasons returns the people whom the event may notify, each with the strongest
// reason. It excludes the actor. The caller must check whether a person can see the
// board and wants to be notified.
func (t NotificationTrigger) Reasons(actor Actor, mentioned []string, f Followers) map[string]NotificationKind {
	reasons := map[string]NotificationKind{}
	add := func(kind NotificationKind, ids []string) {
		for _, id := range ids {
			if _, known := reasons[id]; !known {
				reasons[id] = kind
			}
		}
	}
	add(NotifyMention, mentioned)
	add(NotifyAssignment, t.Assigned)
	if t.Invited != "" {
		add(NotifyInvitation, []string{t.Invited})
	}
	switch {
	case t.Comment != "":
		add(NotifyComment, without(slices.Concat(f.Card, f.Watching), f.Unwatched))
	case t.Watched:
		add(NotifyWatched, without(f.Watching, f.Unwatched))
	}
	if actor.Type == ActorPerson && actor.ID != nil {
		delete(reasons, *actor.ID)
	}
	return reasons
}

func without(all, removed []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(removed, id) })
}
