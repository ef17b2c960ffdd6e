package job_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
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

// wall is a board with cards in several lists, and its owner.
type wall struct {
	*apptest.Service
	ada              *apptest.Person
	workspace, board string
}

const cardsOnWall = 260 // enough for several parts

func both(t *testing.T, fn func(t *testing.T, w *wall)) {
	t.Helper()
	apptest.BothWith(t, apptest.Options{NoJobs: true}, func(t *testing.T, s *apptest.Service) { fn(t, newWall(s)) })
}

func newWall(s *apptest.Service) *wall {
	s.T.Helper()
	ada := s.Person("Ada")
	w := &wall{Service: s, ada: ada, workspace: ada.Workspace("Engines", board.PlanTeam)}
	w.board = ada.Must("create_board", map[string]any{"workspaceId": w.workspace, "name": "Launch"}).ID()
	ada.Must("create_label", map[string]any{"boardId": w.board, "name": "Bug", "color": "red"})
	for i := range 2 {
		list := ada.Must("create_list", map[string]any{"boardId": w.board, "name": fmt.Sprint("List ", i)}).ID()
		w.Write(board.Person(ada.ID, board.ScopeWrite), func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.List(ctx, list, board.Edit); err != nil {
				return err
			}
			ranks, err := board.RanksAfter("", cardsOnWall/2)
			if err != nil {
				return err
			}
			cards := make([]store.WholeCard, cardsOnWall/2)
			for n := range cards {
				text := fmt.Sprint("Text ", n)
				cards[n].Card = board.Card{ID: tx.NewID("crd_"), ListID: list, Rank: ranks[n], Title: fmt.Sprint("Card ", n), Description: &text}
				cards[n].Checklists = []board.Checklist{{ID: tx.NewID("chk_"), Title: "Steps", Items: []board.ChecklistItem{
					{ID: tx.NewID("chi_"), Title: "One"}}}}
			}
			tx.Emit(w.board, board.BoardEvent(board.KindBoardUpdated, board.Changes{})) // which also writes the counts
			return tx.InsertCards(ctx, w.board, cards)
		})
	}
	return w
}

// copy starts a job that copies the board.
func (w *wall) copy() (id string) {
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

// run runs an engine until the job has ended and nothing is left of it, or until
// stopped is true after a slice.
func (w *wall) run(holder, id string, sliced func(n int) (stop bool)) board.Job {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.T.Context())
	defer cancel()
	e := job.New(job.Options{DB: w.DB, Holder: holder, Draft: app.DraftJob, Log: slog.New(slog.DiscardHandler),
		Lists: job.Lists{Draft: app.DraftListJob, Show: app.ShowListJob, Event: app.EventOfListJob},
		Moves: job.Moves{Check: app.CheckListMove, Start: app.StartListMove, Continue: app.ContinueListMove}})
	var mu sync.Mutex // slices of a job and of the sweep end in different goroutines
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
	var j board.Job
	for end := time.Now().Add(time.Minute); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.T.Fatalf("the job is still %s", j.State)
		}
		j = w.job(id)
		left, err := w.DB.JobsLeft(w.T.Context())
		if err != nil {
			w.T.Fatal(err)
		}
		if j.State.Ended() && !left {
			break
		}
	}
	cancel()
	running.Wait()
	return w.job(id)
}

func (w *wall) job(id string) (j board.Job) {
	w.T.Helper()
	if err := w.DB.Read(context.Background(), board.Person(w.ada.ID, board.ScopeRead), func(v *store.View) (err error) {
		j, err = v.Job(context.Background(), id)
		return err
	}); err != nil {
		w.T.Fatal(err)
	}
	return j
}

// boards returns the names of all boards in the database, hidden ones too.
func (w *wall) boards() []string { return w.Column("SELECT name FROM boards ORDER BY name, id") }

// contents describes a board without its ids.
func (w *wall) contents(boardID string) []string {
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

// TestInterruptedJobRunsOnce stops a job after each of its slices, by a server
// that ends and by one that no longer renews its lease, and compares the result
// with that of a job that was not interrupted.
func TestInterruptedJobRunsOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
		all := 0
		j := w.run("first", w.copy(), func(n int) bool { all = n; return false })
		if j.State != board.JobDone || len(j.BoardIDs) != 1 || j.Done != j.Total || j.Total < cardsOnWall {
			t.Fatalf("the job is %+v, want it done", j)
		}
		want := w.contents(j.BoardIDs[0])
		if all < 8 {
			t.Fatalf("the job had %d slices, want several", all)
		}
		for at := 1; at < all; at++ {
			for _, killed := range []bool{false, true} {
				before := len(w.boards())
				id := w.copy()
				w.run("one", id, func(n int) bool {
					if n == at && killed {
						w.Clock.Advance(time.Minute) // the lease of the server ends
					}
					return n == at
				})
				j := w.run("two", id, nil)
				if j.State != board.JobDone || len(j.BoardIDs) != 1 {
					t.Fatalf("interrupted after slice %d: the job is %+v, want it done", at, j)
				}
				if got := w.contents(j.BoardIDs[0]); !slices.Equal(got, want) {
					t.Fatalf("interrupted after slice %d: the board is\n%q, want\n%q", at, got, want)
				}
				if got := len(w.boards()); got != before+1 {
					t.Fatalf("interrupted after slice %d: %d boards, want %d", at, got, before+1)
				}
			}
		}
	})
}

// TestCancelledJobLeavesNothing cancels a job after each of its slices.
func TestCancelledJobLeavesNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
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
				t.Fatalf("cancelled after slice %d: the job is %+v", at, j)
			}
			if got := w.boards(); !slices.Equal(got, before) {
				t.Fatalf("cancelled after slice %d: the boards are %q, want %q", at, got, before)
			}
			if got := w.Column("SELECT id FROM cards WHERE board_id <> $1", w.board); len(got) != 0 {
				t.Fatalf("cancelled after slice %d: %d cards are left", at, len(got))
			}
		}
	})
}

// TestUnfinishedBoardIsInvisible looks for the board of a running job wherever
// boards are listed.
func TestUnfinishedBoardIsInvisible(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
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
			if got := w.ada.All("search_cards", "id", in); len(got) != cardsOnWall {
				t.Errorf("search finds %d cards, want %d", len(got), cardsOnWall)
			}
			return false
		})
		if looked == 0 || j.State != board.JobDone {
			t.Fatalf("the board was looked for %d times; the job is %+v", looked, j)
		}
		if got := w.ada.Must("get_board", map[string]any{"boardId": j.BoardIDs[0]}); got.Get("openCards") != float64(cardsOnWall) {
			t.Errorf("the finished board has %v cards, want %d", got.Get("openCards"), cardsOnWall)
		}
		want := "copy_board " + j.BoardIDs[0]
		if got := w.Column("SELECT operation || ' ' || subject FROM audit WHERE operation = 'copy_board'"); !slices.Equal(got, []string{want}) {
			t.Errorf("the audit log has %q, want %q", got, want)
		}
	})
}

// TestJobEndsWithItsOwner removes what a job needs while it runs.
func TestJobEndsWithItsOwner(t *testing.T) {
	t.Parallel()
	for what, remove := range map[string]func(w *wall){
		"its workspace": func(w *wall) {
			w.Write(board.Person(w.ada.ID, board.ScopeAdmin), func(ctx context.Context, tx *store.Tx) error {
				return tx.TrashWorkspace(ctx, w.workspace)
			})
		},
		"its owner": func(w *wall) {
			w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, w.ada.ID) })
		},
		"the source before it is read": func(w *wall) {
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
			both(t, func(t *testing.T, w *wall) {
				id := w.copy()
				remove(w)
				j := w.run("one", id, nil)
				if j.State != board.JobFailed || j.Error == nil || j.Error.Message == "" || j.Error.Code == board.CodeInternal {
					t.Errorf("the job is %+v with %+v, want it failed with a reason", j, j.Error)
				}
				if got := w.Column("SELECT board_id FROM job_boards"); len(got) != 0 {
					t.Errorf("%d hidden boards are left", len(got))
				}
			})
		})
	}
}

// TestJobsTakeTurns starts jobs of two organizations: the second one does not
// wait for all of the first.
func TestJobsTakeTurns(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *wall) {
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
		// At most two run for the plan team, and one for the plan free.
		if want := []string{a1, b1, a2}; !slices.Equal(got, want) {
			t.Errorf("the order is %q, want %q; then %q wait", got, want, []string{a3, b2})
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
			t.Errorf("a third job on the plan free: %v, want %s", err, board.CodeLimitReached)
		}
	})
}
