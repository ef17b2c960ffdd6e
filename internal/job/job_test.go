package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/job"
	"cardwall/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a service with a board that has cards in several lists, and the owner of the
// board.
type world struct {
	*apptest.Service
	ada              *apptest.Person
	workspace, board string
}

const cardsOnBoard = 260 // enough for a job with several parts

func both(t *testing.T, fn func(t *testing.T, w *world)) {
	t.Helper()
	apptest.BothWith(t, apptest.Options{NoJobs: true}, func(t *testing.T, s *apptest.Service) { fn(t, newWorld(s)) })
}

func newWorld(s *apptest.Service) *world {
	s.T.Helper()
	ada := s.Person("Ada")
	w := &world{Service: s, ada: ada, workspace: ada.Workspace("Engines", board.PlanTeam)}
	w.board = ada.Must("create_board", map[string]any{"workspaceId": w.workspace, "name": "Launch"}).ID()
	ada.Must("create_label", map[string]any{"boardId": w.board, "name": "Bug", "color": "red"})
	for i := range 2 {
		list := ada.Must("create_list", map[string]any{"boardId": w.board, "name": fmt.Sprint("List ", i)}).ID()
		w.Write(board.Person(ada.ID, board.ScopeWrite), func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.List(ctx, list, board.Edit); err != nil {
				return err
			}
			ranks, err := board.RanksAfter("", cardsOnBoard/2)
			if err != nil {
				return err
			}
			cards := make([]store.WholeCard, cardsOnBoard/2)
			for n := range cards {
				text := fmt.Sprint("Text ", n)
				cards[n].Card = board.Card{ID: tx.NewID("crd_"), ListID: list, Rank: ranks[n], Title: fmt.Sprint("Card ", n), Description: &text}
				cards[n].Checklists = []board.Checklist{{ID: tx.NewID("chk_"), Title: "Steps", Items: []board.ChecklistItem{
					{ID: tx.NewID("chi_"), Title: "One"}}}}
			}
			tx.Emit(w.board, board.BoardEvent(board.KindBoardUpdated, board.Changes{})) // also updates the counters of the board
			return tx.InsertCards(ctx, w.board, cards)
		})
	}
	return w
}

// copy starts a job that copies the board, and returns its id.
func (w *world) copy() (id string) {
	w.T.Helper()
	w.Write(board.Person(w.ada.ID, board.ScopeWrite), func(ctx context.Context, tx *store.Tx) error {
		in, err := tx.Workspace(ctx, w.workspace, board.CreateBoards)
		if err != nil {
			return err
		}
		j, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobCopyBoard, Workspace: in, Name: "Launch again",
			Input: app.CopyBoardInput{BoardInput: app.BoardInput{BoardID: w.board}, Name: "Launch again", IncludeCards: true}})
		id = j.ID
		return err
	})
	return id
}

// run runs an engine until the job has ended and no job has leftovers, or until sliced
// returns true after a slice. It passes the number of slices so far to sliced, which may
// be nil, and returns the job.
func (w *world) run(holder, id string, sliced func(n int) (stop bool)) board.Job {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.T.Context())
	defer cancel()
	e := job.New(job.Options{DB: w.DB, Holder: holder, Draft: app.DraftJob, Log: slog.New(slog.DiscardHandler),
		Lists: job.Lists{Draft: app.DraftListJob, Show: app.ShowListJob, Event: app.EventOfListJob},
		Moves: job.Moves{Check: app.CheckListMove, Start: app.StartListMove, Continue: app.ContinueListMove}})
	var mu sync.Mutex // slices of the job and of the sweep run in different goroutines
	n := 0
	e.OnSlice(func() {
		mu.Lock()
		defer mu.Unlock()
		if n++; sliced != nil && sliced(n) {
			cancel()
		}
	})
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	apptest.Await(w.T, "the job has ended without leftovers", func() (board.JobState, bool) {
		j := w.job(id)
		left, err := w.DB.HasJobLeftovers(w.T.Context())
		if err != nil {
			w.T.Fatal(err)
		}
		return j.State, ctx.Err() != nil || j.State.Ended() && !left
	})
	cancel()
	running.Wait()
	if err := w.DB.ReleaseLeases(context.Background(), holder); err != nil { // as a server does when it stops
		w.T.Fatal(err)
	}
	return w.job(id)
}

func (w *world) job(id string) (j board.Job) {
	w.T.Helper()
	if err := w.DB.Read(context.Background(), board.Person(w.ada.ID, board.ScopeRead), func(v *store.View) (err error) {
		j, err = v.Job(context.Background(), id)
		return err
	}); err != nil {
		w.T.Fatal(err)
	}
	return j
}

// A server that stops begins no more slices, even if it has a free connection.
func TestStoppedServerBeginsNoSlice(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range 10_000 {
			if _, err := w.DB.WriteSlice(ctx, func(*store.Tx) error {
				t.Errorf("slice %d began after the end", i)
				return nil
			}); !errors.Is(err, context.Canceled) {
				t.Fatalf("slice %d: got error %v, want context.Canceled", i, err)
			}
		}
	})
}

// boards returns the names of all boards in the database, including hidden ones.
func (w *world) boards() []string { return w.Column("SELECT name FROM boards ORDER BY name, id") }

// contents describes the content of a board without ids.
func (w *world) contents(boardID string) []string {
	return slices.Concat(
		w.Column("SELECT name || open_cards || ' ' || all_cards || ' ' || open_lists || ' ' || next_number || ' ' || version || "+
			"CASE WHEN trashed_at IS NULL THEN '' ELSE ' trashed' END FROM boards WHERE id = $1", boardID),
		w.Column("SELECT l.name || ': ' || c.number || ' ' || c.title || ' ' || c.description || ' ' || c.items_total || ' ' || c.rank "+
			"FROM cards c JOIN lists l ON l.id = c.list_id WHERE c.board_id = $1 ORDER BY l.rank, c.rank", boardID),
		w.Column("SELECT i.title FROM checklist_items i JOIN checklists k ON k.id = i.checklist_id JOIN cards c ON c.id = k.card_id "+
			"WHERE c.board_id = $1", boardID),
		w.Column("SELECT version || ' ' || type FROM activity WHERE board_id = $1 ORDER BY version", boardID),
		w.Column("SELECT name FROM labels WHERE board_id = $1", boardID),
		w.Column("SELECT role FROM board_members WHERE board_id = $1", boardID))
}

// TestInterruptedJobRunsOnce interrupts a job after each of its slices. The server either
// shuts down or loses its lease. The result must be that of a job that was not
// interrupted.
func TestInterruptedJobRunsOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		all := 0
		j := w.run("first", w.copy(), func(n int) bool { all = n; return false })
		if j.State != board.JobDone || len(j.BoardIDs) != 1 || j.Done != j.Total || j.Total < cardsOnBoard {
			t.Fatalf("got job %+v, want it done", j)
		}
		want := w.contents(j.BoardIDs[0])
		if all < 8 {
			t.Fatalf("got %d slices, want at least 8", all)
		}
		for at := 1; at < all; at++ {
			for _, killed := range []bool{false, true} {
				before := len(w.boards())
				id := w.copy()
				w.run("one", id, func(n int) bool {
					if n == at && killed {
						w.Clock.Advance(time.Minute) // the lease of the server expires
					}
					return n == at
				})
				j := w.run("two", id, nil)
				if j.State != board.JobDone || len(j.BoardIDs) != 1 {
					t.Fatalf("interrupted after slice %d: got job %+v, want it done", at, j)
				}
				if got := w.contents(j.BoardIDs[0]); !slices.Equal(got, want) {
					t.Fatalf("interrupted after slice %d: the board is\n%q, want\n%q", at, got, want)
				}
				if got := len(w.boards()); got != before+1 {
					t.Fatalf("interrupted after slice %d: got %d boards, want %d", at, got, before+1)
				}
			}
		}
	})
}

// TestCancelledJobLeavesNothing cancels a job after each of its slices.
func TestCancelledJobLeavesNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		before := w.boards()
		for at := 1; at <= 9; at++ {
			id := w.copy()
			j := w.run("one", id, func(n int) bool {
				if n == at {
					w.ada.Must("cancel_job", map[string]any{"jobId": id})
				}
				return false
			})
			if j.State != board.JobCancelled || len(j.BoardIDs) != 0 || j.EndedAt == nil {
				t.Fatalf("canceled after slice %d: got job %+v, want it canceled", at, j)
			}
			if got := w.boards(); !slices.Equal(got, before) {
				t.Fatalf("canceled after slice %d: the boards are %q, want %q", at, got, before)
			}
			if got := w.Column("SELECT id FROM cards WHERE board_id <> $1", w.board); len(got) != 0 {
				t.Fatalf("canceled after slice %d: %d copied cards are left, want none", at, len(got))
			}
		}
	})
}

// TestUnfinishedBoardIsInvisible looks for the board of a running job in the lists of
// boards and in search results, and tries to open and restore it.
func TestUnfinishedBoardIsInvisible(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		looked := 0
		id := w.copy()
		j := w.run("one", id, func(int) bool {
			hidden := w.Column("SELECT id FROM boards WHERE trashed_at IS NOT NULL")
			if len(hidden) == 0 {
				return false
			}
			looked++
			if looked%3 == 1 {
				w.CheckConsistency()
			}
			in := map[string]any{"workspaceId": w.workspace}
			for _, name := range []string{"list_boards", "list_trashed_boards"} {
				if got := w.ada.All(name, "id", in); slices.Contains(got, hidden[0]) {
					t.Errorf("%s lists the unfinished board", name)
				}
			}
			for _, name := range []string{"get_board", "restore_board"} {
				w.ada.Refused(board.CodeNotFound, name, map[string]any{"boardId": hidden[0]})
			}
			in = map[string]any{"workspaceId": w.workspace, "q": "card", "limit": 200}
			if got := w.ada.All("search_cards", "id", in); len(got) != cardsOnBoard {
				t.Errorf("search finds %d cards, want %d", len(got), cardsOnBoard)
			}
			return false
		})
		if looked == 0 || j.State != board.JobDone {
			t.Fatalf("found the hidden board %d times, and got job %+v; want at least once, and the job done", looked, j)
		}
		if got := w.ada.Must("get_board", map[string]any{"boardId": j.BoardIDs[0]}); got.Get("openCards") != float64(cardsOnBoard) {
			t.Errorf("the finished board has %v cards, want %d", got.Get("openCards"), cardsOnBoard)
		}
		want := "copy_board " + j.BoardIDs[0]
		if got := w.Column("SELECT operation || ' ' || subject FROM audit WHERE operation = 'copy_board'"); !slices.Equal(got, []string{want}) {
			t.Errorf("got audit entries %q, want %q", got, want)
		}
	})
}

// TestJobEndsWithItsOwner removes something that a job needs, before the job runs. The job
// must fail with a reason.
func TestJobEndsWithItsOwner(t *testing.T) {
	t.Parallel()
	for what, remove := range map[string]func(w *world){
		"its workspace": func(w *world) {
			w.Write(board.Person(w.ada.ID, board.ScopeAdmin), func(ctx context.Context, tx *store.Tx) error {
				return tx.TrashWorkspace(ctx, w.workspace)
			})
		},
		"its owner": func(w *world) {
			w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, w.ada.ID) })
		},
		"the source before it is read": func(w *world) {
			w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				for {
					if gone, err := tx.PurgeBoard(ctx, w.board, 100); gone || err != nil {
						return err
					}
				}
			})
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, w *world) {
				id := w.copy()
				remove(w)
				j := w.run("one", id, nil)
				if j.State != board.JobFailed || j.Error == nil || j.Error.Message == "" || j.Error.Code == board.CodeInternal {
					t.Errorf("got job %+v with %+v, want it failed with a reason", j, j.Error)
				}
				if got := w.Column("SELECT board_id FROM job_boards"); len(got) != 0 {
					t.Errorf("got %d leftover hidden boards, want 0", len(got))
				}
			})
		})
	}
}

// TestFailedJobIsClaimedAgain gives up a failed job while its server runs another job and
// renews its leases. Another server must be able to claim the failed job when its wait has
// ended, although the other job is still running.
func TestFailedJobIsClaimedAgain(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		failed, other := w.copy(), w.copy()
		for _, id := range []string{failed, other} {
			if j, err := w.DB.ClaimJob(t.Context(), "one", id, 10*time.Second); err != nil || j == nil {
				t.Fatalf("got job %v, error %v; want the job to be claimed", j, err)
			}
		}
		if err := w.DB.YieldJob(t.Context(), failed, "one", 10*time.Second); err != nil {
			t.Fatal(err)
		}
		var claimed []string
		for range 4 {
			w.Clock.Advance(4 * time.Second)
			if err := w.DB.RenewJobs(t.Context(), "one", 10*time.Second); err != nil {
				t.Fatal(err)
			}
			j, err := w.DB.ClaimJob(t.Context(), "two", "", 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if j == nil {
				claimed = append(claimed, "")
			} else {
				claimed = append(claimed, j.ID)
			}
		}
		if want := []string{"", "", failed, ""}; !slices.Equal(claimed, want) {
			t.Errorf("got jobs %q claimed after 4, 8, 12 and 16 s, want %q", claimed, want)
		}
	})
}

// TestJobsTakeTurns starts jobs in two organizations. The jobs of the second one must not
// wait for all jobs of the first.
func TestJobsTakeTurns(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		bob := w.Person("Bob")
		other := bob.Workspace("Others", board.PlanFree)
		start := func(p *apptest.Person, workspace string) (id string) {
			w.Clock.Advance(time.Millisecond)
			w.Write(board.Person(p.ID, board.ScopeWrite), func(ctx context.Context, tx *store.Tx) error {
				in, err := tx.Workspace(ctx, workspace, board.CreateBoards)
				if err != nil {
					return err
				}
				j, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobCopyBoard, Workspace: in, Name: "Copy"})
				id = j.ID
				return err
			})
			return id
		}
		a1, a2, a3 := start(w.ada, w.workspace), start(w.ada, w.workspace), start(w.ada, w.workspace)
		b1, b2 := start(bob, other), start(bob, other)
		var got []string
		for range 6 {
			w.Clock.Advance(time.Millisecond)
			j, err := w.DB.ClaimJob(t.Context(), "one", "", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if j == nil {
				break
			}
			got = append(got, j.ID)
		}
		// At most two jobs run on the Team plan, and one on the Free plan.
		if want := []string{a1, b1, a2}; !slices.Equal(got, want) {
			t.Errorf("got jobs claimed in order %q, want %q, while %q wait", got, want, []string{a3, b2})
		}
		err := w.DB.Write(t.Context(), board.Person(bob.ID, board.ScopeWrite), func(tx *store.Tx) error {
			in, err := tx.Workspace(t.Context(), other, board.CreateBoards)
			if err != nil {
				return err
			}
			_, err = tx.InsertJob(t.Context(), store.NewJob{Kind: board.JobCopyBoard, Workspace: in, Name: "Copy"})
			return err
		})
		if !board.IsCode(err, board.CodeLimitReached) {
			t.Errorf("third job on the Free plan: got error %v, want %s", err, board.CodeLimitReached)
		}
	})
}

// A retry with the idempotency key of a request that started a job returns the result of the job once
// the job is done.
func TestRetryReturnsTheResultOfTheJob(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{NoJobs: true, JobWait: time.Millisecond}, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		in := map[string]any{"boardId": w.board, "name": "Launch again", "includeCards": true}
		started, waiting := w.ada.Keyed("copy", "copy_board", in), w.ada.Keyed("copy", "copy_board", in)
		if started.Status != 202 || waiting.Status != 202 || waiting.ID() != started.ID() {
			t.Fatalf("got %d %s, then %d %s; want 202 and the same job twice", started.Status, started.Raw, waiting.Status, waiting.Raw)
		}
		w.run("a", started.ID(), nil)
		done := w.ada.Keyed("copy", "copy_board", in)
		if done.Status != 201 || done.Header.Get("Idempotent-Replayed") != "true" || done.Text("name") != "Launch again" {
			t.Errorf("after the job, got %d %s; want 201 and the board", done.Status, done.Raw)
		}
		if got := w.boards(); !slices.Equal(got, []string{"Launch", "Launch again"}) {
			t.Errorf("got the boards %q, want one copy", got)
		}
	})
}

// logLines is a log that sends its lines to a channel.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// A sweep that fails before it deletes anything is logged, and so is its recovery.
func TestFailingSweepIsLogged(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{NoJobs: true})
	rename := func(from, to string) { apptest.Change(t, s.DB, "ALTER TABLE "+from+" RENAME TO "+to) }
	rename("job_lists", "job_lists_elsewhere")
	lines := make(logLines, 100)
	e := job.New(job.Options{DB: s.DB, Holder: "srv_1", Log: slog.New(slog.NewTextHandler(lines, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	defer running.Wait()
	defer cancel()
	await := func(message string) {
		for line := ""; !strings.Contains(line, message); {
			line, _ = apptest.Receive(t, "the log contains "+message, lines)
		}
	}
	await(`msg="job leftovers not deleted"`)
	rename("job_lists_elsewhere", "job_lists")
	await(`msg="recovered: job leftovers not deleted"`)
}
