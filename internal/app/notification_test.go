package app_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// notificationWorld is a workspace with two people and a list on a board that both can see.
type notificationWorld struct {
	*apptest.Service
	ada, bob               *apptest.Person
	workspace, board, list string
}

func newNotificationWorld(s *apptest.Service) *notificationWorld {
	o := &notificationWorld{Service: s, ada: s.Person("Ada"), bob: s.Person("Bob")}
	o.workspace = o.ada.Workspace("Engines", board.PlanTeam)
	o.bob.Joins(o.workspace, board.WorkspaceMember)
	o.board = o.ada.Must("create_board", fields{"workspaceId": o.workspace, "name": "Launch"}).ID()
	o.list = o.ada.Must("create_list", fields{"boardId": o.board, "name": "To do"}).ID()
	return o
}

func (o *notificationWorld) card(by *apptest.Person, more fields) string {
	o.T.Helper()
	return by.Must("create_card", with(more, "listId", o.list)).ID()
}

// notificationsOf returns the kind, event and actor of a person's notifications, newest first.
func notificationsOf(p *apptest.Person) (out []string) {
	p.T.Helper()
	a := p.Must("list_notifications", fields{"limit": 200})
	for i := range a.Each("id") {
		by, _ := a.Get(fmt.Sprint(i, ".actor.name")).(string)
		out = append(out, a.Text(fmt.Sprint(i, ".kind"))+" "+a.Text(fmt.Sprint(i, ".event"))+" "+by)
	}
	return out
}

func wantStrings(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// An event notifies each person whom it concerns only once. It never notifies its actor.
func TestNotificationsOfEachKind(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		ada, bob := o.ada, o.bob
		markAllRead := func() {
			ada.Must("mark_all_notifications", nil)
			bob.Must("mark_all_notifications", nil)
		}
		unread := func(p *apptest.Person) []string {
			n := len(p.All("list_notifications", "id", fields{"unread": true}))
			if count := p.Must("get_notification_count", nil).Get("unread"); count != float64(n) {
				t.Errorf("%s: got the unread count %v, want %d as in the list", p.Name, count, n)
			}
			return notificationsOf(p)[:n]
		}

		card := o.card(ada, fields{"title": "Press release", "assignees": []string{bob.ID, ada.ID},
			"description": "@Bob knows, @Ada too"})
		wantStrings(t, "a new card that assigns and mentions Bob", unread(bob), "mention card.created Ada")
		wantStrings(t, "the creator of that card", unread(ada))
		markAllRead()
		ada.Must("set_card_assignees", fields{"cardId": card, "remove": []string{bob.ID}})
		wantStrings(t, "an unassignment", unread(bob))
		ada.Must("set_card_assignees", fields{"cardId": card, "add": []string{bob.ID}})
		wantStrings(t, "an assignment", unread(bob), "assignment card.assignees_changed Ada")
		bob.Must("set_card_assignees", fields{"cardId": o.card(bob, fields{"title": "Own"}), "add": []string{bob.ID}})
		wantStrings(t, "an assignment by Bob to himself", unread(bob), "assignment card.assignees_changed Ada")
		markAllRead()

		ada.Must("add_comment", fields{"cardId": card, "text": "Soon"})
		wantStrings(t, "a comment on an assigned card", unread(bob), "comment comment.added Ada")
		bob.Must("add_comment", fields{"cardId": card, "text": "Sure, @ada."})
		wantStrings(t, "a mention by first name", unread(ada), "mention comment.added Bob")
		markAllRead()
		comment := ada.Must("add_comment", fields{"cardId": o.card(ada, fields{"title": "Unassigned"}), "text": "Hm"}).ID()
		wantStrings(t, "a comment on a card that does not concern Bob", unread(bob))
		ada.Must("edit_comment", fields{"commentId": comment, "text": "Hm, @Bob?"})
		wantStrings(t, "an edited comment that now mentions Bob", unread(bob), "mention comment.edited Ada")
		ada.Must("edit_comment", fields{"commentId": comment, "text": "Hm! @Bob?"})
		wantStrings(t, "an edited comment that already mentioned Bob", unread(bob), "mention comment.edited Ada")
		ada.Must("delete_comment", fields{"commentId": comment})
		wantStrings(t, "a deleted comment", unread(bob))
		ada.Must("update_card", fields{"cardId": card, "description": "@Bob knows. So does `@Ada`, x@Bob.com"})
		wantStrings(t, "an edited description that already mentioned Bob", unread(bob))
		markAllRead()

		private := ada.Must("create_board",
			fields{"workspaceId": o.workspace, "name": "Secret", "visibility": "private"}).ID()
		ada.Must("share_board", fields{"boardId": private, "userId": bob.ID, "role": "viewer"})
		wantStrings(t, "a shared board", unread(bob), "invitation board_member.added Ada")
		markAllRead()

		if w := bob.Must("get_card_watch", fields{"cardId": card}); w.Get("watching") != true || w.Get("asked") != false {
			t.Errorf("get_card_watch of an assigned card: got %s, want watching true and asked false", w.Raw)
		}
		ada.Must("unwatch_card", fields{"cardId": card})
		bob.Must("unwatch_card", fields{"cardId": card})
		if w := bob.Must("get_card_watch", fields{"cardId": card}); w.Get("watching") != false {
			t.Errorf("get_card_watch after unwatch_card: got %s, want watching false", w.Raw)
		}
		ada.Must("add_comment", fields{"cardId": card, "text": "Anyone?"})
		wantStrings(t, "a comment on an unwatched card", unread(bob))
		ada.Must("add_comment", fields{"cardId": card, "text": "@Bob!"})
		wantStrings(t, "a mention on an unwatched card", unread(bob), "mention comment.added Ada")
		markAllRead()
		bob.Must("watch_card", fields{"cardId": card})
		ada.Must("update_card", fields{"cardId": card, "done": true})
		ada.Must("update_card", fields{"cardId": card, "title": "Two"})
		wantStrings(t, "a watched card", unread(bob), "watched card.completed Ada")
		markAllRead()
		ada.Must("watch_board", fields{"boardId": o.board})
		other := o.card(bob, fields{"title": "Watched"})
		bob.Must("add_comment", fields{"cardId": other, "text": "So"})
		bob.Must("archive_card", fields{"cardId": other})
		wantStrings(t, "a watched board", unread(ada), "watched card.archived Bob", "comment comment.added Bob",
			"watched card.created Bob")
		ada.Must("unwatch_board", fields{"boardId": o.board})
		o.card(bob, fields{"title": "Unwatched"})
		if n := len(unread(ada)); n != 3 {
			t.Errorf("after unwatch_board: got %d notifications, want 3", n)
		}
		markAllRead()

		ada.Must("copy_board", fields{"boardId": o.board, "name": "Again", "includeCards": true})
		ada.Must("copy_card", fields{"cardId": card, "title": "Again", "includeAssignees": false})
		wantStrings(t, "copies of a card that mentions Bob", unread(bob))
	})
}

func TestMarkingNotifications(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		for range 3 {
			o.card(o.ada, fields{"title": "Yours", "assignees": []string{o.bob.ID}})
		}
		ids := o.bob.All("list_notifications", "id", fields{"limit": 1})
		if len(ids) != 3 {
			t.Fatalf("in pages of one: got notifications %v, want 3", ids)
		}
		if a := o.bob.Must("mark_notification", fields{"notificationId": ids[2], "read": true}); a.Get("readAt") == nil {
			t.Errorf("mark_notification with read true: got %s, want readAt", a.Raw)
		}
		if a := o.bob.Must("get_session", nil); a.Get("unread") != float64(2) {
			t.Errorf("get_session: got %v unread notifications, want 2", a.Get("unread"))
		}
		if a := o.bob.Must("mark_notification", fields{"notificationId": ids[2], "read": false}); a.Get("readAt") != nil {
			t.Errorf("mark_notification with read false: got %s, want no readAt", a.Raw)
		}
		o.ada.Refused(board.CodeNotFound, "mark_notification", fields{"notificationId": ids[0], "read": true})
		if a := o.bob.Must("mark_all_notifications", fields{"upTo": ids[1]}); a.Get("unread") != float64(1) {
			t.Errorf("mark_all_notifications up to the second: got %s, want 1 unread", a.Raw)
		}
		wantStrings(t, "unread notifications", o.bob.All("list_notifications", "id", fields{"unread": true}), ids[0])
		const kept = 90 * 24 * time.Hour
		s.Clock.Advance(kept + time.Minute)
		keep := app.Retention{Notifications: board.Age(kept)}
		if done, err := app.Retain(t.Context(), s.DB, "one", keep, time.Minute); err != nil || done.Notifications != 3 {
			t.Errorf("after 90 days: got %+v, error %v; want 3 notifications removed", done, err)
		}
	})
}

// Notifications that a person has disabled are not stored. Invalid settings are rejected.
func TestNotificationSettings(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		if a := o.bob.Must("get_notification_settings", nil); a.Text("ways.mention") != "mail" ||
			a.Get("digestHour") != float64(8) || a.Get("quietFrom") != nil {
			t.Errorf("got default settings %s, want emails about mentions, a digest at 8:00 and no quiet hours", a.Raw)
		}
		o.bob.Must("set_notification_settings", notificationSettings(fields{"assignment": "off"}))
		o.card(o.ada, fields{"title": "Yours", "assignees": []string{o.bob.ID}})
		wantStrings(t, "a disabled kind", notificationsOf(o.bob))
		for _, change := range []fields{
			{"quietUntil": nil}, {"quietFrom": "25:00"}, {"quietUntil": "22:00"}, {"digestHour": 24}, {"remindHour": -1},
			{"reminders": []string{"day", "day"}}, {"reminders": []string{"year"}}, {"mention": "pigeon"},
		} {
			o.bob.Refused(board.CodeInvalidRequest, "set_notification_settings", notificationSettings(change))
		}
		if a := o.bob.Must("get_notification_settings", nil); a.Text("quietFrom") != "22:00" ||
			a.Get("remindHour") != float64(6) || a.Text("reminders.0") != "hour" {
			t.Errorf("got settings %s, want the last valid ones", a.Raw)
		}
	})
}

// A person who loses access to a board can no longer see the notifications about it.
func TestNotificationsEndWithAccess(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		card := o.card(o.ada, fields{"title": "Yours", "assignees": []string{o.bob.ID}})
		id := o.bob.All("list_notifications", "id", nil)[0]
		o.ada.Must("update_board", fields{"boardId": o.board, "visibility": "private"})
		wantStrings(t, "a board that became private", notificationsOf(o.bob))
		o.bob.Refused(board.CodeNotFound, "mark_notification", fields{"notificationId": id, "read": true})
		if a := o.bob.Must("get_notification_count", nil); a.Get("unread") != float64(0) {
			t.Errorf("got unread count %v, want 0", a.Get("unread"))
		}
		o.ada.Must("add_comment", fields{"cardId": card, "text": "@Bob"})
		wantStrings(t, "a mention of a person who cannot see the board", notificationsOf(o.bob))
		o.ada.Must("update_board", fields{"boardId": o.board, "visibility": "workspace"})
		wantStrings(t, "a board that became visible again", notificationsOf(o.bob), "assignment card.created Ada")
		o.ada.Must("trash_board", fields{"boardId": o.board})
		wantStrings(t, "a board in the trash", notificationsOf(o.bob))
	})
}

// A notification email contains the notifications that are unread and visible to the person when the
// email is sent. No two emails contain the same notification.
func TestNotificationEmails(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		s.Clock.Stop()
		s.Clock.Advance(time.Until(nextMidnight()) + 36*time.Hour) // noon UTC
		sendEmails := func() (out []string) {
			s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.QueueNotificationEmails(ctx, 10)
				return err
			})
			for _, e := range emails(s) {
				if e.Notifications == nil {
					continue
				}
				out = append(out, fmt.Sprint(e.To, " ", e.Kind, " ", len(e.Notifications.Items)+e.Notifications.More))
			}
			return out
		}
		card := o.card(o.ada, fields{"title": "Yours", "assignees": []string{o.bob.ID}})
		wantStrings(t, "emails before the delay", sendEmails())
		o.card(o.ada, fields{"title": "Yours too", "assignees": []string{o.bob.ID}})
		s.Clock.Advance(board.EmailDelay)
		wantStrings(t, "emails after the delay", sendEmails(), "bob@example.com notify 2")
		wantStrings(t, "emails after the first one", sendEmails())
		o.ada.Must("add_comment", fields{"cardId": card, "text": "Soon"}) // for the digest
		o.card(o.ada, fields{"title": "Read", "assignees": []string{o.bob.ID}})
		o.bob.Must("mark_notification", fields{"notificationId": o.bob.All("list_notifications", "id", nil)[0], "read": true})
		s.Clock.Advance(time.Hour)
		wantStrings(t, "emails about a notification that was read", sendEmails())
		s.Clock.Advance(20 * time.Hour) // after 8:00, the hour of the digest
		wantStrings(t, "emails at the hour of the digest", sendEmails(), "bob@example.com digest 1")
		wantStrings(t, "emails after the digest", sendEmails())
		s.Clock.Advance(24 * time.Hour)
		wantStrings(t, "emails after a day without changes", sendEmails())

		// Quiet hours delay immediate emails.
		o.bob.Must("set_notification_settings",
			notificationSettings(fields{"assignment": "mail", "quietFrom": "08:00", "quietUntil": "20:00"}))
		o.card(o.ada, fields{"title": "Quiet", "assignees": []string{o.bob.ID}})
		s.Clock.Advance(time.Hour)
		wantStrings(t, "emails in quiet hours", sendEmails())
		s.Clock.Advance(12 * time.Hour)
		wantStrings(t, "emails after quiet hours", sendEmails(), "bob@example.com notify 1")

		// If Bob loses access between the event and the email, the email omits the event.
		s.Clock.Advance(10 * time.Hour)
		o.card(o.ada, fields{"title": "Lost", "assignees": []string{o.bob.ID}})
		o.ada.Must("update_board", fields{"boardId": o.board, "visibility": "private"})
		s.Clock.Advance(24 * time.Hour)
		wantStrings(t, "emails after Bob lost access", sendEmails())
		o.ada.Must("update_board", fields{"boardId": o.board, "visibility": "workspace"})
		s.Clock.Advance(24 * time.Hour)
		wantStrings(t, "emails after Bob regained access", sendEmails())

		// The unsubscribe link stops the emails, but not the notifications in the application.
		var token string
		s.Write(board.System(), func(_ context.Context, tx *store.Tx) error {
			token = tx.UnsubscribeToken(o.bob.ID)
			return nil
		})
		o.card(o.ada, fields{"title": "Last", "assignees": []string{o.bob.ID}})
		s.Browser().Must("unsubscribe", fields{"token": token})
		s.Browser().Refused(board.CodeInvalidRequest, "unsubscribe", fields{"token": token[1:]})
		s.Clock.Advance(48 * time.Hour)
		wantStrings(t, "emails after unsubscribing", sendEmails())
		if a := o.bob.Must("get_notification_settings", nil); a.Get("mail") != false || a.Text("ways.assignment") != "mail" {
			t.Errorf("settings after unsubscribing: got %s, want mail false and the ways unchanged", a.Raw)
		}
		if got := notificationsOf(o.bob); len(got) == 0 || got[0] != "assignment card.created Ada" {
			t.Errorf("notifications after unsubscribing: got %q, want the assignment first", got)
		}
	})
}

func nextMidnight() time.Time {
	return time.Now().UTC().Truncate(24 * time.Hour)
}

// An email that could not be sent is retried with the same notifications.
func TestRetriedNotificationEmailIsComplete(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		o.card(o.ada, fields{"title": "Yours", "assignees": []string{o.bob.ID}})
		s.Clock.Advance(board.EmailDelay)
		for attempt := range 3 {
			s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				if _, err := tx.QueueNotificationEmails(ctx, 10); err != nil {
					return err
				}
				e, err := app.NextEmail(ctx, tx, time.Minute)
				if err != nil || e == nil || e.Notifications == nil || len(e.Notifications.Items) != 1 || e.Attempt != attempt+1 {
					t.Errorf("attempt %d: got email %+v, error %v; want one notification", attempt+1, e, err)
				}
				return err
			})
			s.Clock.Advance(2 * time.Minute)
		}
	})
}

// After any sequence of actions, nobody has a notification about a board that they cannot see or
// about their own action.
func TestNotificationsNeverRevealHiddenBoards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		people := []*apptest.Person{o.ada, o.bob, s.Person("Cleo").Joins(o.workspace, board.WorkspaceGuest),
			s.Person("Dan").Joins(o.workspace, board.WorkspaceMember), s.Person("Eve")}
		boards := []string{o.board,
			o.ada.Must("create_board", fields{"workspaceId": o.workspace, "name": "Other", "visibility": "private"}).ID()}
		lists := []string{o.list, o.ada.Must("create_list", fields{"boardId": boards[1], "name": "Else"}).ID()}
		var cards []string
		for _, l := range lists {
			cards = append(cards, o.ada.Must("create_card", fields{"listId": l, "title": "Card"}).ID())
		}
		o.ada.Must("add_comment", fields{"cardId": cards[0], "text": "@Bob, @Dan and @Cleo, who cannot see the board"})
		rapid.Check(t, func(r *rapid.T) {
			for range rapid.IntRange(4, 12).Draw(r, "actions") {
				actor := rapid.SampledFrom(people).Draw(r, "actor")
				target := rapid.SampledFrom(people).Draw(r, "target")
				n := rapid.IntRange(0, 1).Draw(r, "board")
				switch rapid.IntRange(0, 7).Draw(r, "action") {
				case 0:
					actor.Call("add_comment", fields{"cardId": cards[n], "text": "@" + target.Name + " and @" + actor.Name})
				case 1:
					actor.Call("set_card_assignees", fields{"cardId": cards[n], "add": []string{target.ID}})
				case 2:
					o.ada.Call("share_board", fields{"boardId": boards[n], "userId": target.ID, "role": "editor"})
				case 3:
					o.ada.Call("remove_board_member", fields{"boardId": boards[n], "userId": target.ID})
				case 4:
					o.ada.Call("update_board", fields{"boardId": boards[n],
						"visibility": rapid.SampledFrom([]string{"workspace", "private", "confidential"}).Draw(r, "visibility")})
				case 5:
					actor.Call("watch_board", fields{"boardId": boards[n]})
				case 6:
					actor.Call("move_card_to_board", fields{"cardId": cards[n], "listId": lists[1-n]})
				case 7:
					actor.Call("update_card", fields{"cardId": cards[n], "done": rapid.Bool().Draw(r, "done")})
				}
			}
			for _, p := range people {
				a := p.Must("list_notifications", fields{"limit": 200})
				visible := p.All("list_boards", "id", fields{"includeArchived": true})
				for i := range a.Each("id") {
					if id := a.Text(fmt.Sprint(i, ".board.id")); !slices.Contains(visible, id) {
						r.Fatalf("%s: got a notification about a hidden board: %s", p.Name, a.Raw)
					}
					if a.Get(fmt.Sprint(i, ".actor.id")) == p.ID {
						r.Fatalf("%s: got a notification about their own action: %s", p.Name, a.Raw)
					}
				}
			}
			// Notifications are never stored for the actor, or for a person outside the workspace.
			if own := s.Column("SELECT n.id FROM notifications n WHERE n.actor_id = n.user_id"); len(own) > 0 {
				r.Fatalf("got stored notifications %v about people's own actions, want none", own)
			}
			if got := s.Column("SELECT n.id FROM notifications n WHERE n.user_id = '" + people[4].ID + "'"); len(got) > 0 {
				r.Fatalf("got stored notifications %v for a stranger, want none", got)
			}
		})
		if all := s.Column("SELECT kind FROM notifications"); len(all) < 2 {
			t.Errorf("got %d stored notifications (%s), want at least 2", len(all), strings.Join(all, ", "))
		}
	})
}
