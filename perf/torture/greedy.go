package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cardwall/perf/document"
	"cardwall/perf/fleet"
	"cardwall/perf/greedy"
	"cardwall/perf/process"
	"cardwall/perf/server"
)

const (
	greedySource    = 2000 // number of cards on the board that the neighbor copies
	greedyBoards    = 20   // number of boards in the file that the neighbor imports
	greedyCards     = 500  // number of cards on each of these boards
	greedySearchers = 4
	greedyExporters = 2 // the limit on concurrent exports per person
	greedyUploaders = 10
	greedyPause     = 500 * time.Millisecond // pause after a refusal
	greedyJobsEnd   = 2 * time.Minute        // time limit for all jobs to end after the last kill
	greedyClean     = time.Minute            // time limit for the server to delete the leftovers of jobs
)

// neighbor is a person who uses an installation as much as its plan allows while servers are killed. Its workload has
// a separate token.
type neighbor struct {
	*workload
	person server.Person
	source string // id of the board that the neighbor copies
	file   []byte // the file that the neighbor imports

	mu      sync.Mutex
	counts  map[string]int
	checked map[string]bool // ids of the boards that have been checked
	running sync.WaitGroup
}

// greedyNeighbor repeatedly kills a server on SQLite while a neighbor imports, copies, exports, searches and uploads.
// Other people's changes must not be lost. Each job must end. An incomplete board must never be visible, and no hidden
// data may remain.
func greedyNeighbor(t *trialRun) error {
	n, err := t.newServer("data", "")
	if err != nil {
		return err
	}
	w, err := t.newWorkload(n)
	if err != nil {
		return err
	}
	return w.runGreedy(func(query string) (string, error) {
		return process.Run("sqlite3", "-readonly", "-cmd", ".timeout 5000", filepath.Join(n.Data, "cardwall.db"), query)
	})
}

// greedyNeighborOfThree is like greedyNeighbor, but in each round kills one of three servers on PostgreSQL.
func greedyNeighborOfThree(t *trialRun) error {
	w, _, cluster, err := t.newFleet()
	if err != nil {
		return err
	}
	return w.runGreedy(func(query string) (string, error) { return cluster.Query(t.ctx, query) })
}

// runGreedy runs the trial. query runs an SQL query that returns a single value.
func (w *workload) runGreedy(query func(string) (string, error)) error {
	g, err := w.newGreedy()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	stop := w.StartWriters(20 * time.Millisecond)
	defer stop()
	g.start(ctx)
	if err := w.eachRound(func(int) error {
		if err := w.sleep(time.Duration(8000+mathrand.IntN(4000)) * time.Millisecond); err != nil {
			return err
		}
		n := w.Servers[mathrand.IntN(len(w.Servers))]
		n.Kill()
		return start(w.ctx, n)
	}); err != nil {
		return err
	}
	cancel()
	stop()
	g.running.Wait()
	if err := w.Servers[0].Doctor(w.ctx); err != nil {
		problem, _, _ := strings.Cut(err.Error(), "\n")
		w.fail("before all jobs ended: %s", problem)
	}
	if err := g.audit(query); err != nil {
		return err
	}
	w.note = g.summary()
	return w.audit()
}

// newGreedy creates the neighbor and its board.
func (w *workload) newGreedy() (*neighbor, error) {
	p, err := w.Servers[0].AddPerson(w.ctx, "Grete")
	if err != nil {
		return nil, err
	}
	own := &workload{w.trialRun, new(*w.Fleet)}
	own.Client = fleet.NewClient(p.Token, fleet.RequestTimeout)
	g := &neighbor{workload: own, person: p, counts: map[string]int{}, checked: map[string]bool{}}
	documents := document.NewGenerator(p.ID, 0, greedyCards, greedyCards, time.Now().UTC())
	var file bytes.Buffer
	if err := documents.WriteWorkspace(&file, 0, greedyBoards); err != nil {
		return nil, err
	}
	g.file = file.Bytes()
	documents = document.NewGenerator(p.ID, 1, greedySource, greedySource, time.Now().UTC())
	board := documents.Board(0)
	board.Board.Name = "Source"
	source, err := json.Marshal(board)
	if err != nil {
		return nil, err
	}
	if !g.finish(w.ctx, greedy.ImportPath(p.Workspace), source) {
		return nil, errors.New("the neighbor's board was not imported")
	}
	if err := g.checkBoards(w.ctx); err != nil {
		return nil, err
	}
	for id := range g.checked {
		g.source = id
	}
	if g.source == "" {
		return nil, errors.New("the neighbor has no board")
	}
	return g, nil
}

// count counts an action of the neighbor.
func (g *neighbor) count(action string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts[action]++
}

func (g *neighbor) summary() string {
	var all []string
	for action, n := range g.counts {
		all = append(all, fmt.Sprintf("%d %s", n, action))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// start starts the neighbor's work, which stops when ctx ends.
func (g *neighbor) start(ctx context.Context) {
	repeat := func(n int, work func()) {
		for range n {
			g.running.Go(func() {
				for ctx.Err() == nil {
					work()
				}
			})
		}
	}
	repeat(1, func() { g.finish(ctx, greedy.ImportPath(g.person.Workspace), g.file) })
	repeat(1, func() {
		g.finish(ctx, "/boards/"+g.source+"/copy", []byte(`{"name":"Source, copied","includeCards":true}`))
	})
	repeat(greedySearchers, func() { g.search(ctx) })
	repeat(greedyExporters, func() { g.export(ctx) })
	repeat(greedyUploaders, func() { g.uploadSlowly(ctx) })
	repeat(1, func() {
		if err := g.checkBoards(ctx); err != nil && ctx.Err() == nil && !isOutage(err) {
			g.Ledger.Report(fmt.Sprintf("read the neighbor's boards: %v", err))
		}
		_ = fleet.Sleep(ctx, greedyPause)
	})
}

// isOutage reports whether err means that the server was killed or refused the request.
func isOutage(err error) bool {
	var status fleet.StatusError
	return !errors.As(err, &status) || status.Code != 500 && status.Temporary()
}

// node returns a random server.
func (g *neighbor) node() *server.Server { return g.Servers[mathrand.IntN(len(g.Servers))] }

// finish starts a job, waits until it ends and reports whether it succeeded. While servers are killed or busy, finish
// retries with the same idempotency key. It gives up if servers have refused to start the job three times, if a
// response is unexpected, or if ctx ends.
func (g *neighbor) finish(ctx context.Context, path string, body []byte) bool {
	key := rand.Text()
	var job *greedy.Job
	for refused := 0; ; {
		var err error
		if job, err = greedy.Start(ctx, g.Client, g.node().Addr, path, key, bytes.NewReader(body), int64(len(body))); err == nil {
			break
		}
		if !g.shouldRetry(ctx, err) {
			return false
		}
		var status fleet.StatusError
		if errors.As(err, &status) {
			g.count("refused")
			if refused++; refused == 3 {
				return false // the caller tries again with a new key
			}
		}
		_ = fleet.Sleep(ctx, greedyPause)
	}
	if job == nil {
		g.count("finished without a job")
		return true
	}
	for !job.Ended() {
		err := fleet.Sleep(ctx, 200*time.Millisecond)
		if err == nil {
			err = job.Refresh(ctx, g.Client, g.node().Addr)
		}
		if err != nil && !g.shouldRetry(ctx, err) {
			return false
		}
	}
	return job.State == "done"
}

// shouldRetry reports whether the neighbor should retry after an error. It records errors that a killed or busy server
// does not explain.
func (g *neighbor) shouldRetry(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if !isOutage(err) {
		g.Ledger.Report(fmt.Sprintf("the neighbor got an unexpected response: %v", err))
		_ = fleet.Sleep(ctx, greedyPause)
		return false
	}
	return true
}

// attempt does work that counts as an action unless it fails. After an error, it pauses.
func (g *neighbor) attempt(ctx context.Context, action string, work func(addr string) error) {
	err := work(g.node().Addr)
	switch {
	case err == nil:
		g.count(action)
	case g.shouldRetry(ctx, err):
		_ = fleet.Sleep(ctx, greedyPause)
	}
}

func (g *neighbor) search(ctx context.Context) {
	g.attempt(ctx, "searches", func(addr string) error {
		return greedy.Search(ctx, g.Client, addr, document.FrequentWords+" "+document.FrequentWords)
	})
}

// export exports the workspace and reads the response at 20 kB per second until the request times out.
func (g *neighbor) export(ctx context.Context) {
	g.attempt(ctx, "exports", func(addr string) error {
		n, err := greedy.Export(ctx, g.Client, addr, g.person.Workspace, 20_000)
		if n > 0 {
			g.count("exports begun")
		}
		return err
	})
}

// uploadSlowly sends one byte of an upload per second until the server responds or closes the connection.
func (g *neighbor) uploadSlowly(ctx context.Context) {
	status, _ := greedy.UploadSlowly(ctx, g.node().Addr, g.person.Token, g.person.Workspace, time.Second)
	if status > 0 {
		g.count("slow uploads refused")
	}
	_ = fleet.Sleep(ctx, greedyPause)
}

// checkBoards counts the cards on each of the neighbor's visible boards that has not been checked yet. A board must be
// complete as soon as it is visible.
func (g *neighbor) checkBoards(ctx context.Context) error {
	boards, err := g.visibleBoards(ctx)
	if err != nil {
		return err
	}
	for id, name := range boards {
		g.mu.Lock()
		checked := g.checked[id]
		g.mu.Unlock()
		if checked {
			continue
		}
		want, cards := greedySource, 0
		if strings.HasPrefix(name, "Board") {
			want = greedyCards
		}
		for cursor := ""; ; {
			var page struct {
				Data       []struct{ ID string }
				NextCursor string
			}
			path := "/boards/" + id + "/cards?view=compact&limit=200&cursor=" + cursor
			if err := g.Client.Do(ctx, "GET", g.node().Addr, path, "", nil, &page); err != nil {
				return err
			}
			cards += len(page.Data)
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		if cards != want {
			g.Ledger.Report(fmt.Sprintf("board %s (%s) is visible with %d cards, want %d", name, id, cards, want))
		}
		g.mu.Lock()
		g.checked[id] = true
		g.mu.Unlock()
	}
	return nil
}

// visibleBoards returns the names of the neighbor's visible boards by id.
func (g *neighbor) visibleBoards(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	for cursor := ""; ; {
		var page struct {
			Data       []struct{ ID, Name string }
			NextCursor string
		}
		path := "/boards?limit=200&workspaceId=" + g.person.Workspace + "&cursor=" + cursor
		if err := g.Client.Do(ctx, "GET", g.node().Addr, path, "", nil, &page); err != nil {
			return nil, err
		}
		for _, b := range page.Data {
			found[b.ID] = b.Name
		}
		if cursor = page.NextCursor; cursor == "" {
			return found, nil
		}
	}
}

// audit waits until all jobs have ended and compares the boards that they created with the visible boards. No hidden
// data may remain.
func (g *neighbor) audit(query func(string) (string, error)) error {
	jobs, err := g.awaitJobs()
	if err != nil {
		return err
	}
	if err := g.checkBoards(g.ctx); err != nil {
		return err
	}
	visible, err := g.visibleBoards(g.ctx)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		g.count(j.Kind + " " + j.State)
		if j.Error != nil {
			g.logf("job %s (%s) failed after %d of %d: %s", j.ID, j.Kind, j.Done, j.Total, j.Error.Message)
		}
		for _, id := range j.BoardIDs {
			if visible[id] == "" {
				g.fail("board %s of finished job %s is not visible", id, j.ID)
			}
			delete(visible, id)
		}
	}
	for id, name := range visible {
		g.fail("board %s (%s) does not belong to a finished job", name, id)
	}
	remaining := ""
	if err := g.waitUntil("the leftovers of jobs were not deleted", greedyClean, func() bool {
		remaining, err = query("SELECT (SELECT count(*) FROM job_boards) + (SELECT count(*) FROM job_lists) + (SELECT count(*) FROM job_parts)")
		return err == nil && remaining == "0"
	}); err != nil {
		g.fail("%v: %s rows remain", err, remaining)
	}
	hidden, err := query("SELECT count(*) FROM boards WHERE trashed_at IS NOT NULL")
	if err == nil && hidden != "0" {
		g.fail("%s hidden boards remain", hidden)
	}
	return err
}

// awaitJobs waits until all of the neighbor's jobs have ended and returns them.
func (g *neighbor) awaitJobs() (jobs []greedy.Job, err error) {
	for deadline := time.Now().Add(greedyJobsEnd); ; {
		jobs = jobs[:0]
		if err := fleet.EachPage(g.Fleet, "/workspaces/"+g.person.Workspace+"/jobs?limit=100", func(page []greedy.Job) {
			jobs = append(jobs, page...)
		}); err != nil {
			return nil, err
		}
		unfinished := slices.DeleteFunc(slices.Clone(jobs), greedy.Job.Ended)
		if len(unfinished) == 0 {
			return jobs, nil
		}
		if time.Now().After(deadline) {
			for _, j := range unfinished {
				g.fail("job %s (%s) is still %s after %v, with %d of %d done", j.ID, j.Kind, j.State, greedyJobsEnd, j.Done, j.Total)
			}
			return jobs, nil
		}
		if err := g.sleep(time.Second); err != nil {
			return nil, err
		}
	}
}
