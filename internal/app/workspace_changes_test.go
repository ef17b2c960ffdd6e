package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// feed reads the changes of a workspace.
type feed struct {
	p        *apptest.Person
	in       fields
	versions map[string]int64 // the last version that it has read, by board
	types    []string
	more     bool
}

func newFeed(p *apptest.Person, in fields) *feed {
	return &feed{p: p, in: in, versions: map[string]int64{}}
}

// page reads a page. It reports an error if a change of a board is missing or repeated, and returns the number
// of changes.
func (f *feed) page() int {
	f.p.T.Helper()
	a := f.p.Must("list_workspace_changes", f.in)
	entries, _ := a.Get("changes").([]any)
	for _, e := range entries {
		e := e.(map[string]any)
		id, version := e["boardId"].(string), int64(e["boardVersion"].(float64))
		if last, known := f.versions[id]; known && version != last+1 {
			f.p.T.Errorf("board %s: got version %d after %d", id, version, last)
		}
		f.versions[id] = version
		f.types = append(f.types, e["type"].(string))
	}
	delete(f.in, "from")
	f.in["since"], f.more = a.Text("cursor"), a.Get("more") == true
	return len(entries)
}

// rest reads all pages.
func (f *feed) rest() {
	f.p.T.Helper()
	for f.page(); f.more; f.page() {
	}
}

func TestWorkspaceChanges(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		one, lists, _ := newBoardWithCards(ada, workspace, 1, 2)
		two, _, _ := newBoardWithCards(ada, workspace, 1, 0)
		newBoardWithCards(ada, ada.Workspace("Others", board.PlanBusiness), 1, 1)
		f := newFeed(ada, fields{"workspaceId": workspace, "limit": 2})
		f.rest()
		if len(f.types) != 6 || len(f.versions) != 2 {
			t.Errorf("got the changes %v, want those of the boards and lists, and two cards", f.types)
		}
		tag := ada.Must("list_workspace_changes", f.in).Header.Get("ETag")
		again := ada.CallWith("list_workspace_changes", f.in, http.Header{"If-None-Match": {tag}})
		if again.Status != http.StatusNotModified {
			t.Errorf("without changes: got status %d, body %s; want 304", again.Status, again.Raw)
		}
		f.types = nil
		ada.Must("create_card", fields{"listId": lists[0], "title": "New"})
		ada.Must("archive_board", fields{"boardId": two})
		f.rest()
		if !slices.Equal(f.types, []string{"card.created", "board.archived"}) {
			t.Errorf("got %v, want the new changes", f.types)
		}
		from := newFeed(ada, fields{"workspaceId": workspace, "from": ada.Must("list_board_changes",
			fields{"boardId": two, "limit": 200}).Data.([]any)[2].(map[string]any)["at"]})
		if from.rest(); !slices.Contains(from.types, "board.archived") || from.versions[one] == 1 {
			t.Errorf("with from: got %v, want the last changes", from.types)
		}
		for field, value := range map[string]any{"since": "bm8", "from": "2026-01-01T00:00:00.000Z"} {
			ada.Refused(board.CodeInvalidRequest, "list_workspace_changes", with(f.in, field, value))
		}
		outsider := s.Person("Eve")
		outsider.Refused(board.CodeNotFound, "list_workspace_changes", fields{"workspaceId": workspace})
		guest := s.Person("Guest").Joins(workspace, board.WorkspaceGuest)
		ada.Must("share_board", fields{"boardId": one, "userId": guest.ID, "role": "viewer"})
		seen := newFeed(guest, fields{"workspaceId": workspace})
		if seen.rest(); len(seen.versions) != 1 || seen.versions[one] == 0 {
			t.Errorf("a guest sees changes of the boards %v, want only of %s", seen.versions, one)
		}
	})
}

// The feed of a workspace to which several people write on two servers has each change once, in the order of the
// versions of its board.
func TestWorkspaceChangesWhileOthersWrite(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		servers := []*apptest.Person{ada, ada.At(s.Node())}
		var lists []string
		boards := map[string]bool{}
		for range 5 {
			boardID, ids, _ := newBoardWithCards(ada, workspace, 1, 0)
			lists, boards[boardID] = append(lists, ids[0]), true
		}
		f := newFeed(ada, fields{"workspaceId": workspace, "limit": 3})
		var (
			writers sync.WaitGroup
			clock   sync.RWMutex // no transaction takes a minute
		)
		for w := range 4 {
			writers.Go(func() {
				for i := range 25 {
					clock.RLock()
					servers[w%2].Must("create_card", fields{"listId": lists[rand.IntN(len(lists))], "title": fmt.Sprint(w, "-", i)})
					clock.RUnlock()
				}
			})
		}
		done := make(chan struct{})
		go func() { writers.Wait(); close(done) }()
		for reading := true; reading; {
			select {
			case <-done:
				reading = false
			default:
				if f.page() > 0 && rand.IntN(20) == 0 {
					clock.Lock()
					s.Clock.Advance(time.Minute) // so that the cursor names other boards
					clock.Unlock()
				}
			}
		}
		f.rest()
		if n := len(f.types); n != 5*2+4*25 {
			t.Errorf("got %d changes, want %d", n, 5*2+4*25)
		}
		for id := range boards {
			if version := int64(ada.Must("get_board", fields{"boardId": id}).Get("version").(float64)); f.versions[id] != version {
				t.Errorf("board %s: read up to version %d, want %d", id, f.versions[id], version)
			}
		}
	})
}

// While more boards change within a minute than a cursor can name, the changes of the others wait.
func TestWorkspaceChangesOfManyBoards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		for i := range 40 {
			ada.Must("create_board", fields{"workspaceId": workspace, "name": fmt.Sprint("Board ", i)})
		}
		f := newFeed(ada, fields{"workspaceId": workspace, "limit": 200})
		if f.rest(); len(f.versions) != 16 {
			t.Errorf("got changes of %d boards at once, want 16", len(f.versions))
		}
		s.Clock.Advance(2 * time.Minute)
		if f.rest(); len(f.versions) != 40 {
			t.Errorf("after two minutes: got changes of %d boards, want 40", len(f.versions))
		}
	})
}

// A cursor is valid for 30 days, also if there were no changes.
func TestOldCursorOfWorkspaceChanges(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		boardID, _, _ := newBoardWithCards(ada, workspace, 1, 0)
		f := newFeed(ada, fields{"workspaceId": workspace})
		for range 4 {
			f.rest()
			s.Clock.Advance(10 * 24 * time.Hour)
		}
		ada.Must("update_board", fields{"boardId": boardID, "name": "Late"})
		if f.rest(); !slices.Equal(f.types, []string{"board.created", "list.created", "board.updated"}) {
			t.Errorf("got %v, want all changes", f.types)
		}
		s.Clock.Advance(31 * 24 * time.Hour)
		a := ada.Refused(board.CodeInvalidRequest, "list_workspace_changes", f.in)
		if !strings.Contains(string(a.Raw), `"reason":"changes_removed"`) {
			t.Errorf("got %s, want changes_removed", a.Raw)
		}
		if late := newFeed(ada, fields{"workspaceId": workspace}); late.page() != 0 {
			t.Errorf("got %v, want no change of the last 30 days", late.types)
		}
	})
}

// Changes with versions that a job has reserved are in the feed when the job has ended, and later changes of the
// board after them.
func TestWorkspaceChangesOfAJob(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{NoJobs: true}, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		job := w.newJob()
		f := newFeed(w.owner, fields{"workspaceId": w.workspace})
		f.rest()
		s.Clock.Advance(2 * time.Minute)
		w.owner.Must("update_board", fields{"boardId": w.second, "name": "Before"})
		f.rest() // from here on, the cursor does not name the board
		at := s.Clock.Now().UnixMilli()
		first := int64(w.owner.Must("get_board", fields{"boardId": w.board}).Get("version").(float64)) + 1
		s.Write(board.Person(w.owner.ID), func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Board(ctx, w.board, board.Edit)
			if err == nil {
				tx.ReserveVersions(w.board, 3)
			}
			return err
		})
		s.Column("INSERT INTO pending_activity (job_id, board_id, first, last, at, list_id, first_number, used) "+
			"VALUES ($1, $2, $3, $4, $5, $6, 1, '{}') RETURNING job_id", job, w.board, first, first+2, at, w.list)
		f.types = nil
		for range 3 {
			s.Clock.Advance(2 * time.Minute)
			w.make("create_label", fields{"boardId": w.board, "name": "Later", "color": "red"})
			w.owner.Must("update_board", fields{"boardId": w.second, "name": s.Clock.Now().String()})
			f.rest()
		}
		if !slices.Equal(f.types, slices.Repeat([]string{"board.updated"}, 3)) {
			t.Errorf("while the job runs: got %v, want the changes of the other board", f.types)
		}
		for version := first; version < first+3; version++ {
			s.Column("INSERT INTO activity (board_id, version, id, type, at, actor_type, changes) VALUES ($1, $2, $3, 'card.created', $4, "+
				"'system', '{}') RETURNING id", w.board, version, fmt.Sprint("act_", version), at)
		}
		s.Column("DELETE FROM pending_activity WHERE job_id = $1 RETURNING job_id", job)
		f.types = nil
		f.in["limit"] = 2
		f.rest()
		want := append(slices.Repeat([]string{"card.created"}, 3), slices.Repeat([]string{"label.created"}, 3)...)
		if !slices.Equal(f.types, want) {
			t.Errorf("after the job: got %v, want %v", f.types, want)
		}
	})
}
