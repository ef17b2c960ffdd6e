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

// desk is a board of Ada's with one list, in a time zone.
type desk struct {
	*apptest.Service
	ada, bob    *apptest.Person
	board, list string
	rounds      *notify.Rounds
}

func newDesk(s *apptest.Service, zone string) *desk {
	d := &desk{Service: s, ada: s.Person("Ada"), bob: s.Person("Bob"), rounds: notify.New(s.DB, "srv_one", slog.New(slog.DiscardHandler))}
	d.ada.Must("update_profile", fields{"timeZone": zone})
	workspace := d.ada.Workspace("Engines", board.PlanTeam)
	d.bob.Joins(workspace, board.WorkspaceMember)
	d.board = d.ada.Must("create_board", fields{"workspaceId": workspace, "name": "Launch"}).ID()
	d.list = d.ada.Must("create_list", fields{"boardId": d.board, "name": "To do"}).ID()
	s.Clock.Stop()
	return d
}

// at sets the clock to an instant and runs a round.
func (d *desk) at(text string) {
	d.T.Helper()
	to, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d.T.Fatal(err)
	}
	d.Clock.Advance(to.Sub(d.Clock.Now()))
	d.round(d.rounds)
}

func (d *desk) round(r *notify.Rounds) {
	d.T.Helper()
	if err := r.Round(d.T.Context()); err != nil {
		d.T.Fatalf("round: %v", err)
	}
}

func (d *desk) card(title string, due fields, whom ...*apptest.Person) string {
	d.T.Helper()
	ids := []string{}
	for _, p := range whom {
		ids = append(ids, p.ID)
	}
	return d.ada.Must("create_card", fields{"listId": d.list, "title": title, "due": due, "assignees": ids}).ID()
}

// reminded returns a person's reminders, oldest first.
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

func (d *desk) want(p *apptest.Person, want ...string) {
	d.T.Helper()
	if got := reminded(p); !slices.Equal(got, want) {
		d.T.Errorf("at %s %s was reminded of %q, want %q", d.Clock.Now().UTC().Format(time.RFC3339), p.Name, got, want)
	}
}

func TestRemindersOfAnInstant(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		d := newDesk(s, "Europe/Zurich")
		d.at("2031-03-10T09:00:00Z") // the very first round does not look back
		d.card("Past", fields{"dueDate": "2031-03-10", "dueTime": "08:00", "timeZone": "UTC"}, d.ada)
		card := d.card("Timed", fields{"dueDate": "2031-03-12", "dueTime": "11:00", "timeZone": "Europe/Zurich"}, d.ada)
		d.card("Nobody's", fields{"dueDate": "2031-03-12", "dueTime": "11:00", "timeZone": "Europe/Zurich"})
		d.at("2031-03-11T09:59:59Z")
		d.want(d.ada)
		d.at("2031-03-11T10:00:00Z")
		d.want(d.ada, "Timed day")
		d.at("2031-03-11T10:00:15Z")
		d.want(d.ada, "Timed day")
		// A new date causes a new reminder; a date that was set before does not.
		d.ada.Must("set_card_due", fields{"cardId": card, "dueDate": "2031-03-13", "dueTime": "11:00", "timeZone": "Europe/Zurich"})
		d.at("2031-03-12T10:00:00Z")
		d.want(d.ada, "Timed day", "Timed day")
		d.at("2031-03-13T10:00:00Z")
		d.want(d.ada, "Timed day", "Timed day", "Timed due")
	})
}

func TestRemindersOfADay(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		d := newDesk(s, "America/New_York")
		d.bob.Must("update_profile", fields{"timeZone": "Asia/Tokyo"})
		d.at("2031-03-05T00:00:00Z")
		// Daylight saving begins there on 9 March 2031: nine o'clock is 14:00 UTC the day before, 13:00 on the day.
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

// People get no reminders of cards that are done, archived or invisible to them, or if they turned
// reminders off.
func TestNoReminders(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		d := newDesk(s, "UTC")
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

// With several servers, one runs the rounds. If it dies, another continues where it stopped. No
// reminder is sent twice, even if both believe that it is their turn.
func TestRemindersOfSeveralServers(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		d := newDesk(s, "UTC")
		d.at("2031-03-10T00:00:00Z")
		d.at("2031-03-10T00:30:00Z")
		d.card("Seen", fields{"dueDate": "2031-03-11", "dueTime": "12:00", "timeZone": "UTC"}, d.ada)
		two := notify.New(s.Node().DB, "srv_two", slog.New(slog.DiscardHandler))
		d.round(two)
		// The first server dies at 00:31; the second takes over hours later.
		d.Clock.Advance(12 * time.Hour)
		d.round(two)
		d.want(d.ada, "Seen day")
		// A third server ignores leases, but each reminder is still written only once.
		var group sync.WaitGroup
		from, until := board.InstantOf(d.Clock.Now().Add(-24*time.Hour)), board.InstantOf(d.Clock.Now())
		for range 4 {
			group.Go(func() {
				if err := s.DB.Write(context.Background(), board.System(), func(tx *store.Tx) error {
					_, err := tx.Remind(context.Background(), from, until)
					return err
				}); err != nil {
					t.Errorf("remind: %v", err)
				}
			})
		}
		group.Wait()
		d.want(d.ada, "Seen day")
		// A reminder that is a day late is not sent.
		d.card("Late", fields{"dueDate": "2031-03-12", "dueTime": "13:00", "timeZone": "UTC"}, d.ada)
		d.Clock.Advance(26 * time.Hour)
		d.round(two)
		d.Clock.Advance(60 * time.Hour)
		d.round(two)
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
			t.Errorf("another body: %d", got)
		}
		if got := post(strings.ToUpper(token), "List-Unsubscribe=One-Click"); got != 404 {
			t.Errorf("another token: %d", got)
		}
		if ada.Must("get_notification_settings", nil).Get("mail") != true {
			t.Error("the request was refused, but the person was unsubscribed")
		}
		if a := s.Browser().Do(request("GET", "/unsubscribe?token="+token, "")); a.Status == 405 ||
			ada.Must("get_notification_settings", nil).Get("mail") != true {
			t.Errorf("opening the page unsubscribed the person: %d", a.Status)
		}
		for range 2 {
			if got := post(token, "List-Unsubscribe=One-Click"); got != 200 {
				t.Errorf("a click: %d", got)
			}
		}
		if ada.Must("get_notification_settings", nil).Get("mail") != false {
			t.Error("the person is still subscribed after the click")
		}
	})
}
