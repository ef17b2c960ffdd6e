package board_test

import (
	"maps"
	"testing"

	"cardwall/internal/board"
	"cardwall/internal/mention"
)

func TestReasonsForNotifications(t *testing.T) {
	t.Parallel()
	ada, bob, cleo := "usr_ada", "usr_bob", "usr_cleo"
	people := []board.UserRef{{ID: ada, Name: "Ada"}, {ID: bob, Name: "Bob"}, {ID: cleo, Name: "Cleo"}}
	card := board.Card{ID: "crd_1", ListID: "lst_1"}
	comment := board.Comment{ID: "cmt_1"}
	edited := board.Changes{"commentId": {To: "cmt_1"}}
	type reasons = map[string]board.NotificationKind
	for name, c := range map[string]struct {
		event     board.Event
		followers board.Followers
		want      reasons
	}{
		"a comment notifies assignees, watchers and mentioned people": {
			event:     board.Event{Kind: board.KindCommentAdded, Text: "@Bob, please look", Changes: edited},
			followers: board.Followers{Card: []string{bob}, Watching: []string{cleo}},
			want:      reasons{bob: board.NotifyMention, cleo: board.NotifyComment},
		},
		"the actor is not notified": {
			event:     board.Event{Kind: board.KindCommentAdded, Text: "@Ada", Changes: edited},
			followers: board.Followers{Card: []string{ada}},
			want:      reasons{},
		},
		"a full-width @ mentions too": {
			event: board.Event{Kind: board.KindCommentAdded, Text: "＠Bob", Changes: edited},
			want:  reasons{bob: board.NotifyMention},
		},
		"a muted card notifies only of mentions": {
			event:     board.Event{Kind: board.KindCommentAdded, Text: "@Bob", Changes: edited},
			followers: board.Followers{Card: []string{bob, cleo}, Unwatched: []string{bob, cleo}},
			want:      reasons{bob: board.NotifyMention},
		},
		"an edited comment notifies newly mentioned people": {
			event:     board.Event{Kind: "comment.edited", Before: "@Bob", Text: "@Bob @Cleo", Changes: edited},
			followers: board.Followers{Card: []string{bob}, Watching: []string{bob}},
			want:      reasons{cleo: board.NotifyMention},
		},
		"a new assignee is notified, an earlier one is not": {
			event: board.Event{Kind: board.KindCardAssigneesChanged, Changes: board.Changes{
				"assignees": {From: []string{bob}, To: []string{bob, cleo}},
			}},
			followers: board.Followers{Watching: []string{bob}},
			want:      reasons{cleo: board.NotifyAssignment},
		},
		"a person who gets a role on a board is notified of an invitation": {
			event: board.Event{Kind: "board_member.added", Changes: board.Changes{"userId": {To: bob}}},
			want:  reasons{bob: board.NotifyInvitation},
		},
		"a completed card notifies people who watch it, not its assignees": {
			event:     board.CardCompleted(card),
			followers: board.Followers{Card: []string{bob}, Watching: []string{cleo}},
			want:      reasons{cleo: board.NotifyWatched},
		},
		"a card that leaves the board notifies no one there": {
			event:     board.Event{Kind: board.KindCardMoved, Changes: board.Changes{"listId": {From: "lst_1"}}},
			followers: board.Followers{Watching: []string{cleo}},
			want:      reasons{},
		},
		"a copied description mentions no one": {
			event: board.Event{Kind: board.KindCardCreated, Copied: true, Changes: board.Changes{"description": {To: "@Bob"}}},
			want:  reasons{},
		},
		"a changed list notifies no one": {
			event:     board.Event{Kind: "list.updated"},
			followers: board.Followers{Watching: []string{cleo}},
			want:      reasons{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := reasons{}
			if trigger, ok := board.NotificationTriggerOf(c.event); ok {
				if trigger.Comment != "" && trigger.Comment != comment.ID {
					t.Errorf("got comment %q, want %q", trigger.Comment, comment.ID)
				}
				var mentioned []string
				if trigger.MayMention() {
					mentioned = mention.Added(trigger.Before, trigger.Text, people)
				}
				got = trigger.Reasons(board.Actor{Type: board.ActorPerson, ID: &ada}, mentioned, c.followers)
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("got reasons %v, want %v", got, c.want)
			}
		})
	}
}
