package notify_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/notify"
	"cardwall/internal/store"
)

type fields = apptest.Fields

// world is a service with a board that has one list. Ada owns the board.
type world struct {
	*apptest.Service
	ada, bob    *apptest.Person
	board, list string
	scheduler   *notify.Scheduler
}

func newWorld(s *apptest.Service, zone string) *world {
	d := &world{Service: s, ada: s.Person("Ada"), bob: s.Person("Bob"),
		scheduler: notify.New(s.DB, "srv_one", slog.New(slog.DiscardHandler))}
	d.ada.Must("update_profile", fields{"timeZone": zone})
	workspace := d.ada.Workspace("Engines", board.PlanTeam)
	d.bob.Joins(workspace, board.WorkspaceMember)
	d.board = d.ada.Must("create_board", fields{"workspaceId": workspace, "name": "Launch"}).ID()
	d.list = d.ada.Must("create_list", fields{"boardId": d.board, "name": "To do"}).ID()
	s.Clock.Stop()
	return d
}

// at sets the clock to a time in RFC 3339 format and runs the scheduler once.
func (d *world) at(text string) {
	d.T.Helper()
	to, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d.T.Fatal(err)
	}
	d.Clock.Advance(to.Sub(d.Clock.Now()))
	d.run(d.scheduler)
}

func (d *world) run(s *notify.Scheduler) {
	d.T.Helper()
	if err := s.RunOnce(d.T.Context()); err != nil {
		d.T.Fatalf("run the scheduler: %v", err)
	}
}

func (d *world) card(title string, due fields, assignees ...*apptest.Person) string {
	d.T.Helper()
	ids := []string{}
	for _, p := range assignees {
		ids = append(ids, p.ID)
	}
	return d.ada.Must("create_card", fields{"listId": d.list, "title": title, "due": due, "assignees": ids}).ID()
}

// reminded returns a person's reminders in the form "TITLE REMINDER", oldest first.
func reminded(p *apptest.Person) (out []string) {
	p.T.Helper()
	a := p.Must("list_notifications", fields{"limit": 200})
	for i := range a.Each("id") {
		if a.Text(fmt.Sprint(i, ".kind")) == "due" {
			out = append(out, a.Text(fmt.Sprint(i, ".card.title"))+" "+a.Text(fmt.Sprint(i, ".reminder")))
		}
	}
	slices.Reverse(out)
	return out
}

// want fails the test unless a person has exactly the given reminders.
func (d *world) want(p *apptest.Person, want ...string) {
	d.T.Helper()
	if got := reminded(p); !slices.Equal(got, want) {
		d.T.Errorf("at %s: %s got reminders %q, want %q", d.Clock.Now().UTC().Format(time.RFC3339), p.Name, got, want)
	}
}

func TestRemindersOfADueTime(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		d := newWorld(s, "Europe/Zurich")
		d.at("2031-03-10T09:00:00Z") // the first run writes no earlier reminders
		d.card("Past", fields{"dueDate": "2031-03-10", "dueTime": "08:00", "timeZone": "UTC"}, d.ada)
		card := d.card("Timed", fields{"dueDate": "2031-03-12", "dueTime": "11:00", "timeZone": "Europe/Zurich"}, d.ada)
		d.card("Nobody's", fields{"dueDate": "2031-03-12", "dueTime": "11:00", "timeZone": "Europe/Zurich"})
		d.at("2031-03-11T09:59:59Z")
		d.want(d.ada)
		d.at("2031-03-11T10:00:00Z")
		d.want(d.ada, "Timed day")
		d.at("2031-03-11T10:00:15Z")
		d.want(d.ada, "Timed day")
		// A new date causes new reminders. The previous date causes no more.
		d.ada.Must("set_card_due", fields{"cardId": card, "dueDate": "2031-03-13", "dueTime": "11:00", "timeZone": "Europe/Zurich"})
		d.at("2031-03-12T10:00:00Z")
		d.want(d.ada, "Timed day", "Timed day")
		d.at("2031-03-13T10:00:00Z")
		d.want(d.ada, "Timed day", "Timed day", "Timed due")
	})
}

func TestRemindersOfADueDate(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		d := newWorld(s, "America/New_York")
		d.bob.Must("update_profile", fields{"timeZone": "Asia/Tokyo"})
		d.at("2031-03-05T00:00:00Z")
		// Daylight saving time begins in New York on 9 March 2031: 9:00 is 14:00 UTC on the day before, and 13:00 UTC on that day.
		d.card("All day", fields{"dueDate": "2031-03-09"}, d.ada, d.bob)
		d.at("2031-03-07T23:59:59Z")
		d.want(d.bob)
		d.at("2031-03-08T00:00:00Z")
		d.want(d.bob, "All day day")
		d.want(d.ada)
		d.at("2031-03-08T13:59:00Z")
		d.want(d.ada)
		d.at("2031-03-08T14:00:00Z")
		d.want(d.ada, "All day day")
		d.at("2031-03-09T12:59:00Z")
		d.want(d.ada, "All day day")
		d.at("2031-03-09T13:00:00Z")
		d.want(d.ada, "All day day", "All day due")
		d.want(d.bob, "All day day", "All day due")
	})
}

// People get no reminders of cards that are done, archived or invisible to them, and no
// reminders that they have disabled.
func TestNoReminders(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		d := newWorld(s, "UTC")
		d.at("2031-03-10T00:00:00Z")
		due := fields{"dueDate": "2031-03-11", "dueTime": "12:00", "timeZone": "UTC"}
		d.ada.Must("update_card", fields{"cardId": d.card("Done", due, d.ada), "done": true})
		d.ada.Must("archive_card", fields{"cardId": d.card("Archived", due, d.ada)})
		d.ada.Must("clear_card_due", fields{"cardId": d.card("Cleared", due, d.ada)})
		d.card("Seen", due, d.ada, d.bob)
		other := d.ada.Must("create_list", fields{"boardId": d.board, "name": "Old"}).ID()
		d.ada.Must("move_card", fields{"cardId": d.card("In an archived list", due, d.ada), "listId": other})
		d.ada.Must("archive_list", fields{"listId": other})
		settings := d.ada.Must("get_notification_settings", nil)
		in := fields{"ways": settings.Get("ways"), "mail": true, "reminders": []string{"hour"}, "remindHour": 9}
		d.ada.Must("set_notification_settings", in)
		d.ada.Must("update_board", fields{"boardId": d.board, "visibility": "private"})
		d.at("2031-03-10T12:00:00Z")
		d.at("2031-03-11T11:00:00Z")
		d.at("2031-03-11T12:00:00Z")
		d.want(d.ada, "Seen hour")
		d.want(d.bob)
		d.ada.Must("update_board", fields{"boardId": d.board, "visibility": "workspace"})
		d.ada.Must("archive_board", fields{"boardId": d.board})
		d.at("2031-03-12T12:00:00Z")
		d.want(d.bob)
	})
}

// If several servers share a database, only one of them does the scheduled work. If it
// dies, another server continues where it stopped. No reminder is written twice, even
// if two servers work concurrently.
func TestRemindersOfSeveralServers(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		d := newWorld(s, "UTC")
		d.at("2031-03-10T00:00:00Z")
		d.at("2031-03-10T00:30:00Z")
		d.card("Seen", fields{"dueDate": "2031-03-11", "dueTime": "12:00", "timeZone": "UTC"}, d.ada)
		two := notify.New(s.Node().DB, "srv_two", slog.New(slog.DiscardHandler))
		d.run(two)
		// The first server dies at 00:31; the second takes over hours later.
		d.Clock.Advance(12 * time.Hour)
		d.run(two)
		d.want(d.ada, "Seen day")
		// Each reminder is written only once even by servers that ignore the lease.
		var wg sync.WaitGroup
		from, until := board.InstantOf(d.Clock.Now().Add(-24*time.Hour)), board.InstantOf(d.Clock.Now())
		for range 4 {
			wg.Go(func() {
				if err := s.DB.Write(context.Background(), board.System(), func(tx *store.Tx) error {
					_, err := tx.Remind(context.Background(), from, until)
					return err
				}); err != nil {
					t.Errorf("remind: %v", err)
				}
			})
		}
		wg.Wait()
		d.want(d.ada, "Seen day")
		// A reminder that is more than a day late is not sent.
		d.card("Late", fields{"dueDate": "2031-03-12", "dueTime": "13:00", "timeZone": "UTC"}, d.ada)
		d.Clock.Advance(26 * time.Hour)
		d.run(two)
		d.Clock.Advance(60 * time.Hour)
		d.run(two)
		d.want(d.ada, "Seen day", "Late day", "Seen due")
	})
}

// A mail service can unsubscribe a person with one request, without signing in.
func TestOneClickUnsubscribes(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		var token string
		s.Write(board.System(), func(_ context.Context, tx *store.Tx) error { token = tx.UnsubscribeToken(ada.ID); return nil })
		post := func(token, body string) int {
			return s.Browser().Do(request("POST", "/unsubscribe?token="+token, body)).Status
		}
		if got := post(token, "something=else"); got != 400 {
			t.Errorf("another body: got status %d, want 400", got)
		}
		if got := post(strings.ToUpper(token), "List-Unsubscribe=One-Click"); got != 404 {
			t.Errorf("another token: got status %d, want 404", got)
		}
		if ada.Must("get_notification_settings", nil).Get("mail") != true {
			t.Error("a rejected request unsubscribed the person")
		}
		if a := s.Browser().Do(request("GET", "/unsubscribe?token="+token, "")); a.Status == 405 ||
			ada.Must("get_notification_settings", nil).Get("mail") != true {
			t.Errorf("opening the page: got status %d, want a status other than 405 and no change to the settings", a.Status)
		}
		for range 2 {
			if got := post(token, "List-Unsubscribe=One-Click"); got != 200 {
				t.Errorf("one click: got status %d, want 200", got)
			}
		}
		if ada.Must("get_notification_settings", nil).Get("mail") != false {
			t.Error("the person is still subscribed after the click")
		}
	})
}
