package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cardwall/perf/process"
	"cardwall/perf/server"
)

const (
	greedySource    = 2000 // cards on the board that the neighbor copies
	greedyBoards    = 20   // boards of the file that it imports
	greedyCards     = 500  // cards on each of them
	greedySearchers = 4
	greedyExporters = 2 // as many as one person may read at a time
	greedyDrips     = 10
	greedyPause     = 500 * time.Millisecond // after a refusal
	greedyJobsEnd   = 2 * time.Minute        // until all jobs must have ended after the last kill
	greedyClean     = time.Minute            // until the server must have deleted what they left
)

// greedy is a neighbor that uses an installation as much as it can while its servers are killed. Its workload has its own
// token.
type greedy struct {
	*workload
	person server.Person
	source string // the board that it copies
	file   []byte // that it imports

	mu      sync.Mutex
	counts  map[string]int
	whole   map[string]bool // boards that were visible and complete
	running sync.WaitGroup
}

// greedyNeighbor repeatedly kills a server on SQLite, or one of three on PostgreSQL, while a neighbor imports, copies,
// exports, searches and uploads. No change of the others may be lost. Each job must end; nobody may see a board that is not
// complete; and nothing hidden may remain.
func greedyNeighbor(t *trialRun) error {
	n, err := t.newServer("data", "")
	if err != nil {
		return err
	}
	w, err := t.newWorkload(n)
	if err != nil {
		return err
	}
	return w.resistGreed(func(query string) (string, error) {
		return process.Run("sqlite3", "-readonly", "-cmd", ".timeout 5000", filepath.Join(n.Data, "cardwall.db"), query)
	})
}

// greedyNeighborOfThree is greedyNeighbor with three servers on one PostgreSQL.
func greedyNeighborOfThree(t *trialRun) error {
	w, _, cluster, err := t.newFleet()
	if err != nil {
		return err
	}
	return w.resistGreed(func(query string) (string, error) { return cluster.Query(t.ctx, query) })
}

// resistGreed runs the trial. The query returns one value of the database.
func (w *workload) resistGreed(query func(string) (string, error)) error {
	g, err := w.newGreedy()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	stop := w.startWriters(20 * time.Millisecond)
	defer stop()
	g.start(ctx)
	if err := w.eachRound(func(int) error {
		if err := w.sleep(time.Duration(8000+mathrand.IntN(4000)) * time.Millisecond); err != nil {
			return err
		}
		n := w.nodes[mathrand.IntN(len(w.nodes))]
		n.Kill()
		return start(w.ctx, n)
	}); err != nil {
		return err
	}
	cancel()
	stop()
	g.running.Wait()
	if err := w.nodes[0].Doctor(w.ctx); err != nil {
		problem, _, _ := strings.Cut(err.Error(), "\n")
		w.fail("before all jobs have ended: %s", problem)
	}
	if err := g.audit(query); err != nil {
		return err
	}
	w.note = g.summary()
	return w.audit()
}

// newGreedy creates the neighbor and its board.
func (w *workload) newGreedy() (*greedy, error) {
	p, err := w.nodes[0].AddPerson(w.ctx, "Grete")
	if err != nil {
		return nil, err
	}
	mine := *w
	mine.client = newAPIClient(p.Token, requestTimeout)
	g := &greedy{workload: &mine, person: p, file: greedyDocument(p.ID, "Imported", greedyBoards, greedyCards),
		counts: map[string]int{}, whole: map[string]bool{}}
	source := greedyDocument(p.ID, "Source", 1, greedySource)
	if !g.finish(w.ctx, g.importPath(), source) {
		return nil, errors.New("the neighbor's board was not imported")
	}
	if err := g.checkBoards(w.ctx); err != nil {
		return nil, err
	}
	for id := range g.whole {
		g.source = id
	}
	if g.source == "" {
		return nil, errors.New("the neighbor has no board")
	}
	return g, nil
}

func (g *greedy) importPath() string {
	return "/api/app/v1/workspaces/" + g.person.Workspace + "/import?format=cardwall"
}

// count counts what the neighbor did.
func (g *greedy) count(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts[what]++
}

func (g *greedy) summary() string {
	var all []string
	for what, n := range g.counts {
		all = append(all, fmt.Sprintf("%d %s", n, what))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// start starts everything that the neighbor does until ctx ends.
func (g *greedy) start(ctx context.Context) {
	repeat := func(n int, work func()) {
		for range n {
			g.running.Go(func() {
				for ctx.Err() == nil {
					work()
				}
			})
		}
	}
	repeat(1, func() { g.finish(ctx, g.importPath(), g.file) })
	repeat(1, func() {
		g.finish(ctx, "/boards/"+g.source+"/copy", []byte(`{"name":"Source, copied","includeCards":true}`))
	})
	repeat(greedySearchers, func() { g.search(ctx) })
	repeat(greedyExporters, func() { g.export(ctx) })
	repeat(greedyDrips, func() { g.drip(ctx) })
	repeat(1, func() {
		if err := g.checkBoards(ctx); err != nil && ctx.Err() == nil && !isOutage(err) {
			g.ledger.report(fmt.Sprintf("the neighbor's boards could not be read: %v", err))
		}
		_ = sleep(ctx, greedyPause)
	})
}

// isOutage reports whether a request failed because its server was killed or refused it.
func isOutage(err error) bool {
	var status statusError
	return !errors.As(err, &status) || status.code != 500 && status.temporary()
}

// node returns a server at random.
func (g *greedy) node() *server.Server { return g.nodes[mathrand.IntN(len(g.nodes))] }

// greedyJob is what the neighbor needs to know of a job.
type greedyJob struct {
	ID, Kind, State string
	Done, Total     int
	BoardIDs        []string
	Error           *struct{ Code, Message string }
}

func (j greedyJob) ended() bool {
	return j.State == "done" || j.State == "failed" || j.State == "cancelled"
}

// finish starts a job and waits for its end. A request that gets no response is sent again under the same idempotency key.
// It reports whether the job is done.
func (g *greedy) finish(ctx context.Context, path string, body []byte) bool {
	key := rand.Text()
	var r struct{ Data greedyJob }
	for refused := 0; ; {
		err := g.client.send(ctx, "POST", g.node().Addr, path, key, body, &r)
		if err == nil {
			break
		}
		if !g.survives(ctx, err) {
			return false
		}
		var status statusError
		if errors.As(err, &status) {
			g.count("refused")
			if refused++; refused == 3 {
				return false // with a new key the next time
			}
		}
		_ = sleep(ctx, greedyPause)
	}
	if !strings.HasPrefix(r.Data.ID, "job_") {
		g.count("finished at once")
		return true
	}
	for !r.Data.ended() {
		err := sleep(ctx, 200*time.Millisecond)
		if err == nil {
			err = g.client.do(ctx, "GET", g.node().Addr, "/jobs/"+r.Data.ID, "", nil, &r)
		}
		if err != nil && !g.survives(ctx, err) {
			return false
		}
	}
	return r.Data.State == "done"
}

// survives reports whether the neighbor should go on after an error. An error that a kill cannot explain is reported.
func (g *greedy) survives(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if !isOutage(err) {
		g.ledger.report(fmt.Sprintf("the neighbor got an unexpected response: %v", err))
		_ = sleep(ctx, greedyPause)
		return false
	}
	return true
}

func (g *greedy) search(ctx context.Context) {
	err := g.client.do(ctx, "GET", g.node().Addr, "/search?q="+url.QueryEscape(`"common words common"`), "", nil, nil)
	switch {
	case err == nil:
		g.count("searches")
	case g.survives(ctx, err):
		_ = sleep(ctx, greedyPause)
	}
}

// export exports the workspace and reads 20 kB per second, for some seconds.
func (g *greedy) export(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+g.node().Addr+"/api/public/v1/workspaces/"+g.person.Workspace+"/export", nil)
	if err != nil {
		return
	}
	r.Header.Set("Authorization", "Bearer "+g.person.Token)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		defer res.Body.Close()
		if res.StatusCode >= http.StatusMultipleChoices {
			err = statusError{res.StatusCode, "export"}
		}
	}
	if err != nil {
		if g.survives(ctx, err) {
			_ = sleep(ctx, greedyPause)
		}
		return
	}
	g.count("exports")
	for err == nil && ctx.Err() == nil {
		if _, err = io.CopyN(io.Discard, res.Body, 2000); err == nil {
			err = sleep(ctx, 100*time.Millisecond)
		}
	}
}

// drip begins an upload and sends a byte each second.
func (g *greedy) drip(ctx context.Context) {
	defer func() { _ = sleep(ctx, greedyPause) }()
	addr := g.node().Addr
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: 1000000\r\n\r\n", g.importPath(), addr, g.person.Token)
	for buf := make([]byte, 1); err == nil && ctx.Err() == nil; {
		if err = conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			return
		}
		if n, _ := conn.Read(buf); n > 0 {
			g.count("drips refused")
			return
		}
		_, err = conn.Write([]byte(" "))
	}
}

// checkBoards counts the cards of each visible board of the neighbor that was not seen before. A board must be complete
// when it becomes visible.
func (g *greedy) checkBoards(ctx context.Context) error {
	boards, err := g.boardsOf(ctx)
	if err != nil {
		return err
	}
	for id, name := range boards {
		g.mu.Lock()
		seen := g.whole[id]
		g.mu.Unlock()
		if seen {
			continue
		}
		want, cards := greedySource, 0
		if strings.HasPrefix(name, "Imported") {
			want = greedyCards
		}
		for cursor := ""; ; {
			var page struct {
				Data       []struct{ ID string }
				NextCursor string
			}
			path := "/boards/" + id + "/cards?view=compact&limit=200&cursor=" + cursor
			if err := g.client.do(ctx, "GET", g.node().Addr, path, "", nil, &page); err != nil {
				return err
			}
			cards += len(page.Data)
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		if cards != want {
			g.ledger.report(fmt.Sprintf("%s, %s, is visible with %d cards instead of %d", name, id, cards, want))
		}
		g.mu.Lock()
		g.whole[id] = true
		g.mu.Unlock()
	}
	return nil
}

// boardsOf returns the names of the neighbor's visible boards by id.
func (g *greedy) boardsOf(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	for cursor := ""; ; {
		var page struct {
			Data       []struct{ ID, Name string }
			NextCursor string
		}
		path := "/boards?limit=200&workspaceId=" + g.person.Workspace + "&cursor=" + cursor
		if err := g.client.do(ctx, "GET", g.node().Addr, path, "", nil, &page); err != nil {
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

// audit waits for the end of all jobs and compares what they made with what is visible. Nothing hidden may remain.
func (g *greedy) audit(query func(string) (string, error)) error {
	jobs, err := g.awaitJobs()
	if err != nil {
		return err
	}
	if err := g.checkBoards(g.ctx); err != nil {
		return err
	}
	visible, err := g.boardsOf(g.ctx)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		g.count(j.Kind + " " + j.State)
		if j.Error != nil {
			g.logf("%s, %s, failed after %d of %d: %s", j.ID, j.Kind, j.Done, j.Total, j.Error.Message)
		}
		for _, id := range j.BoardIDs {
			if visible[id] == "" {
				g.fail("%s, a board of the finished job %s, is not visible", id, j.ID)
			}
			delete(visible, id)
		}
	}
	for id, name := range visible {
		g.fail("%s, %s, belongs to no finished job", name, id)
	}
	left := ""
	if err := g.waitUntil("leftovers of jobs were not deleted", greedyClean, func() bool {
		left, err = query("SELECT (SELECT count(*) FROM job_boards) + (SELECT count(*) FROM job_lists) + (SELECT count(*) FROM job_parts)")
		return err == nil && left == "0"
	}); err != nil {
		g.fail("%v: %s rows remain", err, left)
	}
	hidden, err := query("SELECT count(*) FROM boards WHERE trashed_at IS NOT NULL")
	if err == nil && hidden != "0" {
		g.fail("%s hidden boards remain", hidden)
	}
	return err
}

// awaitJobs waits until all jobs of the neighbor have ended, and returns them.
func (g *greedy) awaitJobs() (jobs []greedyJob, err error) {
	for deadline := time.Now().Add(greedyJobsEnd); ; {
		jobs = jobs[:0]
		if err := eachPage(g.workload, "/workspaces/"+g.person.Workspace+"/jobs?limit=100", func(page []greedyJob) {
			jobs = append(jobs, page...)
		}); err != nil {
			return nil, err
		}
		open := slices.DeleteFunc(slices.Clone(jobs), greedyJob.ended)
		if len(open) == 0 {
			return jobs, nil
		}
		if time.Now().After(deadline) {
			for _, j := range open {
				g.fail("%s, %s, is still %s with %d of %d after %v", j.ID, j.Kind, j.State, j.Done, j.Total, greedyJobsEnd)
			}
			return jobs, nil
		}
		if err := g.sleep(time.Second); err != nil {
			return nil, err
		}
	}
}
