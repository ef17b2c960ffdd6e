package app_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A list whose cards have long descriptions is copied by a job. The copy is like that of a small list,
// and a client that replays the changes gets the current board.
func TestCopyLargeList(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		const cards = 50
		for i := range cards {
			p.make("create_card", fields{"listId": p.here, "title": fmt.Sprint("Card ", i),
				"description": strings.Repeat("A okapi. ", 1800)})
		}
		p.ada.Must("archive_card", fields{"cardId": p.make("create_card", fields{"listId": p.here, "title": "Archived"})})
		end := p.make("create_list", fields{"boardId": p.from, "name": "End"})
		before, sent := boardState(p.ada, p.from), len(s.Outbox(p.from))
		v := p.version(p.from)
		a := p.bob.Must("copy_list", fields{"listId": p.here, "name": "Again"}) // a guest of the workspace
		waitForJobs(s)
		jobs := p.bob.Must("list_jobs", fields{"workspaceId": p.workspace})
		list := jobs.Text("0.listId")
		if a.Status == 201 && a.ID() != list || jobs.Text("0.kind") != "copy_list" || jobs.Text("0.state") != "done" ||
			jobs.Text("0.name") != "Again" {
			t.Fatalf("got response %s and jobs %s, want one finished copy_list job", a.Raw, jobs.Raw)
		}
		if got := p.ada.All("list_lists", "id", fields{"boardId": p.from}); !slices.Equal(got, []string{p.here, list, end}) {
			t.Errorf("got lists %v, want %v", got, []string{p.here, list, end})
		}
		from := p.ada.All("list_cards", "title", fields{"boardId": p.from, "list": p.here})
		in := fields{"boardId": p.from, "list": list, "archived": "true"}
		if got := p.ada.All("list_cards", "title", in); !slices.Equal(got, from) {
			t.Errorf("copied cards: got %v, want %v", got, from)
		}
		if got := len(s.Outbox(p.from)); p.version(p.from) != v+cards+2 || got != sent+cards+2 {
			t.Errorf("got version %d and %d events, want %d and %d", p.version(p.from), got, v+cards+2, sent+cards+2)
		}
		checkReplay(t, p.ada, before, boardState(p.ada, p.from), 7)
		s.CheckConsistency()
	})
}

// People change the copy of a list and other lists while the job records its activity. A client
// that replays the changes still gets the current board.
func TestChangesDuringCopyOfLargeList(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		for i := range 120 {
			p.make("create_card", fields{"listId": p.here, "title": fmt.Sprint("Card ", i), "labels": []string{p.bug, p.idea},
				"description": strings.Repeat("A zebra. ", 800)})
		}
		before := boardState(p.ada, p.from)
		var copying sync.WaitGroup
		copying.Go(func() { p.bob.Call("copy_list", fields{"listId": p.here, "name": "Again"}) })
		on := fields{"boardId": p.from}
		lists := apptest.Await(t, "the copy of the list appears", func() (lists []string, done bool) {
			p.make("create_card", fields{"listId": p.here, "title": "Meanwhile"})
			lists = p.ada.All("list_lists", "id", on)
			return lists, len(lists) == 2
		})
		pending := len(s.Column("SELECT job_id FROM pending_activity"))
		cards := p.ada.All("list_cards", "id", with(with(on, "list", lists[1]), "limit", 200))
		if len(cards) < 121 { // more if cards were created before the job read the list
			t.Fatalf("got %d cards when the copy became visible, want at least 121", len(cards))
		}
		p.ada.Must("update_card", fields{"cardId": cards[100], "title": "Renamed"})
		p.ada.Must("move_card", fields{"cardId": cards[110], "listId": p.here, "position": "top"})
		p.ada.Must("archive_card", fields{"cardId": cards[120]})
		p.ada.Must("delete_label", fields{"labelId": p.idea})
		p.ada.Must("remove_board_member", fields{"boardId": p.from, "userId": p.cyd.ID})
		copying.Wait()
		waitForJobs(s)
		t.Logf("pending activity entries when the lists were changed: %d", pending)
		checkReplay(t, p.ada, before, boardState(p.ada, p.from), 200)
		s.CheckConsistency()
	})
}

// If a job does not end in time, the response is the job, with the status 202.
func TestResponseIsTheUnfinishedJob(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{NoJobs: true, JobWait: time.Millisecond}, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		for i := range 50 {
			p.make("create_card", fields{"listId": p.here, "title": fmt.Sprint("Card ", i),
				"description": strings.Repeat("A okapi. ", 1800)})
		}
		a := p.ada.Must("copy_list", fields{"listId": p.here})
		jobs := p.ada.All("list_jobs", "id", fields{"workspaceId": p.workspace})
		if a.Status != 202 || a.Text("state") != "queued" || !slices.Equal(jobs, []string{a.ID()}) {
			t.Errorf("got status %d, %s and the jobs %v; want 202 and the only job, queued", a.Status, a.Raw, jobs)
		}
	})
}

// waitForJobs waits until all jobs have ended.
func waitForJobs(s *apptest.Service) {
	s.T.Helper()
	apptest.Await(s.T, "all jobs have ended", func() (open []string, done bool) {
		open = s.Column("SELECT id FROM jobs WHERE ended_at IS NULL")
		return open, len(open) == 0
	})
}

// If the board has no room for the cards of a list, copy_list fails and starts no job.
func TestCopyOfLargeListNeedsRoom(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.OpenCards = 800
	apptest.BothWith(t, apptest.Options{Limits: limits}, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		for i := range 400 {
			p.make("create_card", fields{"listId": p.here, "title": fmt.Sprint(i)})
		}
		a := p.ada.Call("copy_list", fields{"listId": p.here})
		if a.Status != 409 || a.Code != "limit_reached" {
			t.Errorf("got status %d, body %s; want 409 limit_reached", a.Status, a.Raw)
		}
		if got := s.Column("SELECT kind FROM jobs"); len(got) != 0 {
			t.Errorf("got jobs %v, want none", got)
		}
	})
}
