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

// notificationWorld is a workspace with two people and a list on a board that both see.
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

// notificationsOf returns a person's notifications, newest first: kind, event and actor.
func notificationsOf(p *apptest.Person) (out []string) {
	p.T.Helper()
	a := p.Must("list_notifications", fields{"limit": 200})
	for i := range a.Each("id") {
		by, _ := a.Get(fmt.Sprint(i, ".actor.name")).(string)
		out = append(out, a.Text(fmt.Sprint(i, ".kind"))+" "+a.Text(fmt.Sprint(i, ".event"))+" "+by)
	}
	return out
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// An event notifies each person it concerns once, and never its actor.
func TestNotificationsOfEachKind(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		ada, bob := o.ada, o.bob
		clear := func() {
			ada.Must("mark_all_notifications", nil)
			bob.Must("mark_all_notifications", nil)
		}
		unread := func(p *apptest.Person) []string {
			n := len(p.All("list_notifications", "id", fields{"unread": true}))
			if count := p.Must("get_notification_count", nil).Get("unread"); count != float64(n) {
				t.Errorf("the unread count of %s is %v, want %d as in the list", p.Name, count, n)
			}
			return notificationsOf(p)[:n]
		}

		card := o.card(ada, fields{"title": "Press release", "assignees": []string{bob.ID, ada.ID},
			"description": "@Bob knows, @Ada too"})
		same(t, "assigned to a new card that also mentions Bob", unread(bob), "mention card.created Ada")
		same(t, "the creator of the card", unread(ada))
		clear()
		ada.Must("set_card_assignees", fields{"cardId": card, "remove": []string{bob.ID}})
		same(t, "unassigned", unread(bob))
		ada.Must("set_card_assignees", fields{"cardId": card, "add": []string{bob.ID}})
		same(t, "assigned", unread(bob), "assignment card.assignees_changed Ada")
		bob.Must("set_card_assignees", fields{"cardId": o.card(bob, fields{"title": "Own"}), "add": []string{bob.ID}})
		same(t, "assigned by Bob himself", unread(bob), "assignment card.assignees_changed Ada")
		clear()

		ada.Must("add_comment", fields{"cardId": card, "text": "Soon"})
		same(t, "a comment on an assigned card", unread(bob), "comment comment.added Ada")
		bob.Must("add_comment", fields{"cardId": card, "text": "Sure, @ada."})
		same(t, "a mention by first name", unread(ada), "mention comment.added Bob")
		clear()
		comment := ada.Must("add_comment", fields{"cardId": o.card(ada, fields{"title": "Nobody's"}), "text": "Hm"}).ID()
		same(t, "a comment on a card of somebody else", unread(bob))
		ada.Must("edit_comment", fields{"commentId": comment, "text": "Hm, @Bob?"})
		same(t, "an edited comment that now mentions Bob", unread(bob), "mention comment.edited Ada")
		ada.Must("edit_comment", fields{"commentId": comment, "text": "Hm! @Bob?"})
		same(t, "an edited comment that already mentioned Bob", unread(bob), "mention comment.edited Ada")
		ada.Must("delete_comment", fields{"commentId": comment})
		same(t, "a deleted comment", unread(bob))
		ada.Must("update_card", fields{"cardId": card, "description": "@Bob knows. So does `@Ada`, x@Bob.com"})
		same(t, "an edited description that already mentioned Bob", unread(bob))
		clear()

		private := ada.Must("create_board",
			fields{"workspaceId": o.workspace, "name": "Secret", "visibility": "private"}).ID()
		ada.Must("share_board", fields{"boardId": private, "userId": bob.ID, "role": "viewer"})
		same(t, "a shared board", unread(bob), "invitation board_member.added Ada")
		clear()

		if w := bob.Must("get_card_watch", fields{"cardId": card}); w.Get("watching") != true || w.Get("asked") != false {
			t.Errorf("Bob is assigned to the card, and get_card_watch returns %s", w.Raw)
		}
		ada.Must("unwatch_card", fields{"cardId": card})
		bob.Must("unwatch_card", fields{"cardId": card})
		if w := bob.Must("get_card_watch", fields{"cardId": card}); w.Get("watching") != false {
			t.Errorf("Bob unwatched the card, and get_card_watch returns %s", w.Raw)
		}
		ada.Must("add_comment", fields{"cardId": card, "text": "Anyone?"})
		same(t, "a comment on an unwatched card", unread(bob))
		ada.Must("add_comment", fields{"cardId": card, "text": "@Bob!"})
		same(t, "a mention on an unwatched card", unread(bob), "mention comment.added Ada")
		clear()
		bob.Must("watch_card", fields{"cardId": card})
		ada.Must("update_card", fields{"cardId": card, "done": true})
		ada.Must("update_card", fields{"cardId": card, "title": "Two"})
		same(t, "a watched card", unread(bob), "watched card.completed Ada")
		clear()
		ada.Must("watch_board", fields{"boardId": o.board})
		other := o.card(bob, fields{"title": "Watched"})
		bob.Must("add_comment", fields{"cardId": other, "text": "So"})
		bob.Must("archive_card", fields{"cardId": other})
		same(t, "a watched board", unread(ada), "watched card.archived Bob", "comment comment.added Bob",
			"watched card.created Bob")
		ada.Must("unwatch_board", fields{"boardId": o.board})
		o.card(bob, fields{"title": "Unwatched"})
		if n := len(unread(ada)); n != 3 {
			t.Errorf("after unwatching the board there are %d notifications, want 3", n)
		}
		clear()

		ada.Must("copy_board", fields{"boardId": o.board, "name": "Again", "includeCards": true})
		ada.Must("copy_card", fields{"cardId": card, "title": "Again", "includeAssignees": false})
		same(t, "copies of a card that mentions Bob", unread(bob))
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
			t.Fatalf("the notifications in pages of one are %v, want 3", ids)
		}
		if a := o.bob.Must("mark_notification", fields{"notificationId": ids[2], "read": true}); a.Get("readAt") == nil {
			t.Errorf("marked as read: %s", a.Raw)
		}
		if a := o.bob.Must("get_session", nil); a.Get("unread") != float64(2) {
			t.Errorf("the session has %v unread notifications, want 2", a.Get("unread"))
		}
		if a := o.bob.Must("mark_notification", fields{"notificationId": ids[2], "read": false}); a.Get("readAt") != nil {
			t.Errorf("marked as unread: %s", a.Raw)
		}
		o.ada.Refused(board.CodeNotFound, "mark_notification", fields{"notificationId": ids[0], "read": true})
		if a := o.bob.Must("mark_all_notifications", fields{"upTo": ids[1]}); a.Get("unread") != float64(1) {
			t.Errorf("marked as read up to the second: %s", a.Raw)
		}
		same(t, "still unread", o.bob.All("list_notifications", "id", fields{"unread": true}), ids[0])
		const kept = 90 * 24 * time.Hour
		s.Clock.Advance(kept + time.Minute)
		keep := app.Retention{Notifications: board.Age(kept)}
		if done, err := app.Retain(t.Context(), s.DB, "one", keep, time.Minute); err != nil || done.Notifications != 3 {
			t.Errorf("after 90 days: %+v %v", done, err)
		}
	})
}

// Notifications that are switched off in the settings are not stored. Invalid settings are
// rejected.
func TestNotificationSettings(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		if a := o.bob.Must("get_notification_settings", nil); a.Text("ways.mention") != "mail" ||
			a.Get("digestHour") != float64(8) || a.Get("quietFrom") != nil {
			t.Errorf("the default settings are %s", a.Raw)
		}
		o.bob.Must("set_notification_settings", notificationSettings(fields{"assignment": "off"}))
		o.card(o.ada, fields{"title": "Yours", "assignees": []string{o.bob.ID}})
		same(t, "switched off", notificationsOf(o.bob))
		for _, change := range []fields{
			{"quietUntil": nil}, {"quietFrom": "25:00"}, {"quietUntil": "22:00"}, {"digestHour": 24}, {"remindHour": -1},
			{"reminders": []string{"day", "day"}}, {"reminders": []string{"year"}}, {"mention": "pigeon"},
		} {
			o.bob.Refused(board.CodeInvalidRequest, "set_notification_settings", notificationSettings(change))
		}
		if a := o.bob.Must("get_notification_settings", nil); a.Text("quietFrom") != "22:00" ||
			a.Get("remindHour") != float64(6) || a.Text("reminders.0") != "hour" {
			t.Errorf("the settings are %s", a.Raw)
		}
	})
}

// A person who can no longer see something can no longer see the notifications about it.
func TestNotificationsEndWithAccess(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		card := o.card(o.ada, fields{"title": "Yours", "assignees": []string{o.bob.ID}})
		id := o.bob.All("list_notifications", "id", nil)[0]
		o.ada.Must("update_board", fields{"boardId": o.board, "visibility": "private"})
		same(t, "a board that became private", notificationsOf(o.bob))
		o.bob.Refused(board.CodeNotFound, "mark_notification", fields{"notificationId": id, "read": true})
		if a := o.bob.Must("get_notification_count", nil); a.Get("unread") != float64(0) {
			t.Errorf("the unread count is %v, want %v", a.Get("unread"), float64(0))
		}
		o.ada.Must("add_comment", fields{"cardId": card, "text": "@Bob"})
		same(t, "a mention of a person who cannot see the board", notificationsOf(o.bob))
		o.ada.Must("update_board", fields{"boardId": o.board, "visibility": "workspace"})
		same(t, "a board that became visible again", notificationsOf(o.bob), "assignment card.created Ada")
		o.ada.Must("trash_board", fields{"boardId": o.board})
		same(t, "a board in the trash", notificationsOf(o.bob))
	})
}

// An email is sent when it is due. It contains the notifications that are unread and visible at
// that time. No two emails contain the same notification.
func TestNotificationEmails(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		o := newNotificationWorld(s)
		s.Clock.Stop()
		s.Clock.Advance(time.Until(nextMidnight()) + 36*time.Hour) // noon of a day
		sendEmails := func() (out []string) {
			s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.QueueNotificationEmails(ctx, 10)
				return err
			})
			for _, l := range emails(s) {
				if l.Notifications == nil {
					continue
				}
				out = append(out, fmt.Sprint(l.To, " ", l.Kind, " ", len(l.Notifications.Items)+l.Notifications.More))
			}
			return out
		}
		card := o.card(o.ada, fields{"title": "Yours", "assignees": []string{o.bob.ID}})
		same(t, "emails at once", sendEmails())
		o.card(o.ada, fields{"title": "Yours too", "assignees": []string{o.bob.ID}})
		s.Clock.Advance(board.EmailDelay)
		same(t, "emails after the delay", sendEmails(), "bob@example.com notify 2")
		same(t, "emails after that", sendEmails())
		o.ada.Must("add_comment", fields{"cardId": card, "text": "Soon"}) // for the digest
		o.card(o.ada, fields{"title": "Read", "assignees": []string{o.bob.ID}})
		o.bob.Must("mark_notification", fields{"notificationId": o.bob.All("list_notifications", "id", nil)[0], "read": true})
		s.Clock.Advance(time.Hour)
		same(t, "emails about a notification that was read", sendEmails())
		s.Clock.Advance(20 * time.Hour) // past eight o'clock
		same(t, "emails at the hour of the digest", sendEmails(), "bob@example.com digest 1")
		same(t, "emails after the digest", sendEmails())
		s.Clock.Advance(24 * time.Hour)
		same(t, "emails after a day without changes", sendEmails())

		// Quiet hours delay immediate emails.
		o.bob.Must("set_notification_settings",
			notificationSettings(fields{"assignment": "mail", "quietFrom": "08:00", "quietUntil": "20:00"}))
		o.card(o.ada, fields{"title": "Quiet", "assignees": []string{o.bob.ID}})
		s.Clock.Advance(time.Hour)
		same(t, "emails in quiet hours", sendEmails())
		s.Clock.Advance(12 * time.Hour)
		same(t, "emails after quiet hours", sendEmails(), "bob@example.com notify 1")

		// If access is lost between the event and the email, the email leaves the event out.
		s.Clock.Advance(10 * time.Hour)
		o.card(o.ada, fields{"title": "Lost", "assignees": []string{o.bob.ID}})
		o.ada.Must("update_board", fields{"boardId": o.board, "visibility": "private"})
		s.Clock.Advance(24 * time.Hour)
		same(t, "emails after Bob lost access", sendEmails())
		o.ada.Must("update_board", fields{"boardId": o.board, "visibility": "workspace"})
		s.Clock.Advance(24 * time.Hour)
		same(t, "emails after Bob regained access", sendEmails())

		// The link unsubscribes from emails. Notifications in the application continue.
		var token string
		s.Write(board.System(), func(_ context.Context, tx *store.Tx) error {
			token = tx.UnsubscribeToken(o.bob.ID)
			return nil
		})
		o.card(o.ada, fields{"title": "Last", "assignees": []string{o.bob.ID}})
		s.Browser().Must("unsubscribe", fields{"token": token})
		s.Browser().Refused(board.CodeInvalidRequest, "unsubscribe", fields{"token": token[1:]})
		s.Clock.Advance(48 * time.Hour)
		same(t, "emails after unsubscribing", sendEmails())
		if a := o.bob.Must("get_notification_settings", nil); a.Get("mail") != false || a.Text("ways.assignment") != "mail" {
			t.Errorf("after unsubscribing, the settings are %s", a.Raw)
		}
		if got := notificationsOf(o.bob); len(got) == 0 || got[0] != "assignment card.created Ada" {
			t.Errorf("after unsubscribing, the notifications in the application are %q", got)
		}
	})
}

func nextMidnight() time.Time {
	return time.Now().UTC().Truncate(24 * time.Hour)
}

// A failed email is retried with the same notifications.
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
				l, err := app.NextEmail(ctx, tx, time.Minute)
				if err != nil || l == nil || l.Notifications == nil || len(l.Notifications.Items) != 1 || l.Attempt != attempt+1 {
					t.Errorf("attempt %d: %+v %v", attempt, l, err)
				}
				return err
			})
			s.Clock.Advance(2 * time.Minute)
		}
	})
}

// After any sequence of actions, nobody has a notification about something that they cannot see,
// or about an action of their own.
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
		o.ada.Must("add_comment", fields{"cardId": cards[0], "text": "@Bob, @Dan and @Cleo, who does not see it"})
		rapid.Check(t, func(r *rapid.T) {
			for range rapid.IntRange(4, 12).Draw(r, "acts") {
				by := rapid.SampledFrom(people).Draw(r, "by")
				whom := rapid.SampledFrom(people).Draw(r, "whom")
				n := rapid.IntRange(0, 1).Draw(r, "board")
				switch rapid.IntRange(0, 7).Draw(r, "act") {
				case 0:
					by.Call("add_comment", fields{"cardId": cards[n], "text": "@" + whom.Name + " and @" + by.Name})
				case 1:
					by.Call("set_card_assignees", fields{"cardId": cards[n], "add": []string{whom.ID}})
				case 2:
					o.ada.Call("share_board", fields{"boardId": boards[n], "userId": whom.ID, "role": "editor"})
				case 3:
					o.ada.Call("remove_board_member", fields{"boardId": boards[n], "userId": whom.ID})
				case 4:
					o.ada.Call("update_board", fields{"boardId": boards[n],
						"visibility": rapid.SampledFrom([]string{"workspace", "private", "confidential"}).Draw(r, "visibility")})
				case 5:
					by.Call("watch_board", fields{"boardId": boards[n]})
				case 6:
					by.Call("move_card_to_board", fields{"cardId": cards[n], "listId": lists[1-n]})
				case 7:
					by.Call("update_card", fields{"cardId": cards[n], "done": rapid.Bool().Draw(r, "done")})
				}
			}
			for _, p := range people {
				a := p.Must("list_notifications", fields{"limit": 200})
				sees := p.All("list_boards", "id", fields{"includeArchived": true})
				for i := range a.Each("id") {
					if on := a.Text(fmt.Sprint(i, ".board.id")); !slices.Contains(sees, on) {
						r.Fatalf("%s has a notification about a board that the person cannot see: %s", p.Name, a.Raw)
					}
					if a.Get(fmt.Sprint(i, ".actor.id")) == p.ID {
						r.Fatalf("%s has a notification about the person's own action: %s", p.Name, a.Raw)
					}
				}
			}
			// Notifications are stored only for people who could see the board at the time, and never for
			// the actor.
			if own := s.Column("SELECT n.id FROM notifications n WHERE n.actor_id = n.user_id"); len(own) > 0 {
				r.Fatalf("the stored notifications %v are about the person's own actions", own)
			}
			if got := s.Column("SELECT n.id FROM notifications n WHERE n.user_id = '" + people[4].ID + "'"); len(got) > 0 {
				r.Fatalf("a stranger has the notifications %v", got)
			}
		})
		if all := s.Column("SELECT kind FROM notifications"); len(all) < 2 {
			t.Errorf("only %d notifications were written: %s", len(all), strings.Join(all, " "))
		}
	})
}
