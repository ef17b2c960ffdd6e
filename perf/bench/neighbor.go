package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/perf/document"
	"cardwall/perf/postgres"
	"cardwall/perf/server"
)

// The neighbor table shows how much the heavy work of one organization, the neighbor, delays everyone else on the server.
// While the neighbor works as much as its plan allows, a few people in workspaces of their own read and change cards and sign
// in, at a fixed rate that does not depend on the responses.

const (
	neighborWindows = 3               // shortest measure, in windows
	neighborLongest = 12              // longest measure, in windows; the neighbor's work may not be done by then
	neighborSettle  = 2 * time.Minute // longest wait for the server to delete what the neighbor left

	importSize = 86 << 20
	badSize    = 93 << 20
	heavyCards = 5000
)

// neighborWork is what a neighbor does.
type neighborWork struct {
	name  string
	needs neighborData
	run   func(ctx context.Context, h *neighborhood, t *tally) // until ctx ends
}

// neighborData is the data that a work needs.
type neighborData int

const (
	needsNothing neighborData = iota
	needsCorpus               // 50,000 cards in the neighbor's workspace
	needsHeavy                // a board of 5,000 heavy cards
	needsImport               // the file to import
	needsBad                  // the file with the wrong byte
)

// neighborWorks returns the rows of the table. Work that adds cards comes last, so that it does not slow down the searches.
func neighborWorks() []neighborWork {
	return []neighborWork{
		{nameNeighborNobody, needsNothing, func(ctx context.Context, _ *neighborhood, t *tally) { t.passed(); <-ctx.Done() }},
		{nameNeighborSearches, needsCorpus, runSearches},
		{nameNeighborExports, needsCorpus, runExports},
		{nameNeighborDrips, needsNothing, runDrips},
		{nameNeighborBad, needsBad, runBadImports},
		{nameNeighborCopy, needsHeavy, runCopies},
		{nameNeighborImport, needsImport, runImports},
	}
}

// neighborhood is a server with a neighbor and others.
type neighborhood struct {
	srv    *installation
	dir    string // of the files
	greedy []server.Person
	others []*other
	heavy  string // the heavy board
}

// other is a person whom the neighbor must not delay.
type other struct {
	server.Person
	fixture *fixture
	board   *board
	cookie  string // of a browser that the person has signed in with
}

// measureNeighbors measures the requested rows on each requested database.
func (s *suite) measureNeighbors(ctx context.Context) error {
	works := slices.DeleteFunc(neighborWorks(), func(w neighborWork) bool { return !s.wants(w.name) })
	if len(works) == 0 {
		return nil
	}
	if err := s.measureNeighborsOn(ctx, works, "neighbor", "", ""); err != nil || !s.postgres {
		return err
	}
	s.progress("starting PostgreSQL")
	cluster, err := postgres.Start(ctx)
	if err != nil {
		return err
	}
	database, err := cluster.CreateDatabase(ctx, "neighbor", "template0")
	if err == nil {
		err = s.measureNeighborsOn(ctx, works, "neighbor-postgres", database, namePostgres)
	}
	return errors.Join(err, cluster.Stop())
}

func (s *suite) measureNeighborsOn(ctx context.Context, works []neighborWork, folder, database, suffix string) error {
	dir := filepath.Join(s.dir, folder)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	srv, err := newInstallation(ctx, s.Binary, dir, database)
	if err != nil {
		return err
	}
	h := &neighborhood{srv: srv, dir: dir}
	for _, w := range works {
		if err := h.provide(ctx, s, w.needs); err != nil {
			return err
		}
	}
	if err := errors.Join(s.measureWorks(ctx, h, works, suffix), srv.Stop()); err != nil {
		return srv.WithLog(err)
	}
	if s.Keep {
		return nil
	}
	return os.RemoveAll(dir)
}

// measureNeighborLarge measures searches in a workspace with all cards of the large installation, whose server does not run.
func (s *suite) measureNeighborLarge(ctx context.Context, srv *installation, db *sql.DB, suffix string) error {
	s.progress("moving all boards into one workspace")
	_, err := db.ExecContext(ctx, "UPDATE boards SET workspace_id = $1", srv.workspace)
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("move all boards into one workspace: %w", err)
	}
	h := &neighborhood{srv: srv, dir: s.dir}
	works := []neighborWork{{nameNeighborLarge, needsNothing, runSearches}}
	if err := errors.Join(s.measureWorks(ctx, h, works, suffix), srv.Stop()); err != nil {
		return srv.WithLog(err)
	}
	return nil
}

// measureWorks starts the server of a neighborhood and measures rows.
func (s *suite) measureWorks(ctx context.Context, h *neighborhood, works []neighborWork, suffix string) error {
	if err := h.settlePeople(ctx, s); err != nil {
		return err
	}
	for i, w := range works {
		if i > 0 {
			took, err := h.settle(ctx)
			if err != nil {
				return err
			}
			if took > time.Second {
				s.progress("the server needed %.1f s to delete what the neighbor left", took.Seconds())
			}
		}
		r, err := s.measureWork(ctx, h, w)
		if err != nil {
			return fmt.Errorf("measure %s: %w", w.name, err)
		}
		r.name += suffix
		s.neighbors = append(s.neighbors, r)
		if h.srv.Process.Ended() {
			return fmt.Errorf("the server ended during %s: %w", w.name, h.srv.Process.Err())
		}
	}
	return nil
}

// measureWork measures one row: first the others alone for a moment, then with the neighbor until it has done its work once,
// within the shortest and the longest time.
func (s *suite) measureWork(ctx context.Context, h *neighborhood, w neighborWork) (*neighborRow, error) {
	s.progress("measuring %s", w.name)
	begin := time.Now().Add(s.warm)
	loads := h.startOthers(s, begin)
	sleepUntil(ctx, begin)
	t := newTally()
	working, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { w.run(working, h, t) })
	sleepUntil(ctx, begin.Add(neighborWindows*s.window))
	longest, cancel := context.WithDeadline(ctx, begin.Add(neighborLongest*s.window))
	defer cancel()
	select {
	case <-t.first:
	case <-longest.Done():
	}
	r := &neighborRow{name: w.name, elapsed: time.Since(begin)}
	r.get, r.update, r.signIn = loads[0].end(), loads[1].end(), loads[2].end()
	stop()
	running.Wait()
	r.done = t.summary()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.faults = t.faults
	for _, sample := range append(r.samples(), t.samples...) {
		s.progress("  %s", sample)
	}
	r.judge()
	return r, nil
}

// settle cancels the neighbor's jobs and waits until the server has deleted what they left, so that they do not slow down
// the next row.
func (h *neighborhood) settle(ctx context.Context) (took time.Duration, err error) {
	var db *sql.DB
	if h.srv.Database == "" {
		db, err = sql.Open("sqlite", "file:"+filepath.Join(h.srv.Data, "cardwall.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	} else {
		db, err = sql.Open("pgx", h.srv.Database)
	}
	if err != nil {
		return 0, fmt.Errorf("open the installation: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	begun := time.Now()
	for {
		if err := h.cancelJobs(ctx); err != nil {
			return 0, err
		}
		var left int
		if err := db.QueryRowContext(ctx,
			"SELECT (SELECT count(*) FROM job_parts) + (SELECT count(*) FROM job_boards) + (SELECT count(*) FROM job_lists) + "+
				"(SELECT count(*) FROM jobs WHERE ended_at IS NULL)").Scan(&left); err != nil {
			return 0, fmt.Errorf("count the leftovers of jobs: %w", err)
		}
		took = time.Since(begun)
		if left == 0 {
			return took, nil
		}
		if took > neighborSettle {
			return took, fmt.Errorf("%d leftovers of jobs were not deleted within %v", left, neighborSettle)
		}
		sleepUntil(ctx, time.Now().Add(200*time.Millisecond))
	}
}

// cancelJobs cancels the neighbor's jobs that have not ended. The end of a row may have interrupted a request whose response
// would have named the job.
func (h *neighborhood) cancelJobs(ctx context.Context) error {
	for _, p := range h.greedy {
		c := h.client(p)
		var jobs []neighborJob
		if err := c.json(ctx, "GET", apiPath+"/workspaces/"+h.srv.workspace+"/jobs?limit=50", nil, &jobs); err != nil {
			return err
		}
		for _, j := range jobs {
			if j.State != "queued" && j.State != "running" {
				continue
			}
			if err := c.cancel(ctx, j.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// provide creates the data that a work needs, once. The server must not run.
func (h *neighborhood) provide(ctx context.Context, s *suite, needs neighborData) error {
	switch needs {
	case needsNothing:
	case needsCorpus:
		if _, err := os.Stat(h.path("corpus.json")); err == nil {
			return nil
		}
		s.progress("filling the neighbor's workspace with %d boards of %d cards", document.Boards, document.Cards)
		if err := document.WriteWorkspaceFile(h.path("corpus.json"), h.srv.owner, 0, time.Now()); err != nil {
			return err
		}
		return h.importFile(ctx, "corpus.json")
	case needsHeavy:
		s.progress("filling a board of %d heavy cards", heavyCards)
		g := document.NewGenerator(h.srv.owner, 0, heavyCards, heavyCards, time.Now().UTC())
		b := g.HeavyBoard()
		if err := document.WriteFile(h.path("heavy.json"), func(w io.Writer) error {
			return json.MarshalWrite(w, b, json.Deterministic(true))
		}); err != nil {
			return err
		}
		return h.importFile(ctx, "heavy.json")
	case needsImport:
		return h.writeSized("import.json", importSize)
	case needsBad:
		if err := h.writeSized("bad.json", badSize); err != nil {
			return err
		}
		return replaceLast(h.path("bad.json"), 'x')
	}
	return nil
}

func (h *neighborhood) path(name string) string { return filepath.Join(h.dir, name) }

func (h *neighborhood) importFile(ctx context.Context, name string) error {
	_, err := h.srv.Run(ctx, "import", "cardwall", h.path(name), "--workspace", h.srv.workspace)
	return err
}

// writeSized writes the document of a workspace of about the given size.
func (h *neighborhood) writeSized(name string, size int64) error {
	now := time.Now().UTC()
	var one downloaded
	if err := document.WriteWorkspace(&one, h.srv.owner, 1, 1, now); err != nil {
		return err
	}
	return document.WriteFile(h.path(name), func(w io.Writer) error {
		return document.WriteWorkspace(w, h.srv.owner, 1, int(size/one.size), now)
	})
}

// replaceLast replaces the last byte of a file.
func replaceLast(path string, b byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		_, err = file.WriteAt([]byte{b}, info.Size()-1)
	}
	return errors.Join(err, file.Close())
}

// settlePeople creates the people, starts the server and fills the boards of the others.
func (h *neighborhood) settlePeople(ctx context.Context, s *suite) error {
	second, err := h.srv.AddPerson(ctx, "Grete")
	if err != nil {
		return err
	}
	if err := h.srv.AddMember(ctx, h.srv.workspace, second); err != nil {
		return err
	}
	h.greedy = []server.Person{{ID: h.srv.owner, Workspace: h.srv.workspace, Token: h.srv.token}, second}
	for _, name := range otherNames() {
		p, err := h.srv.AddPerson(ctx, name)
		if err != nil {
			return err
		}
		h.others = append(h.others, &other{Person: p})
	}
	if _, err := h.srv.Start(ctx); err != nil {
		return err
	}
	for _, o := range h.others {
		o.fixture = &fixture{
			addrs: []string{h.srv.Addr}, token: o.Token, workspace: o.Workspace, clients: s.clients, progress: func(string, ...any) {},
			names: s.names, boards: make(map[string]*board), cursors: make(map[string][]string),
		}
		if o.board, err = o.fixture.board(ctx, "Own work", otherCards); err != nil {
			return err
		}
		if o.cookie, err = signInOnce(ctx, h.srv.Addr, o.Person); err != nil {
			return err
		}
	}
	return h.findHeavy(ctx)
}

// findHeavy finds the heavy board, if there is one.
func (h *neighborhood) findHeavy(ctx context.Context) error {
	if _, err := os.Stat(h.path("heavy.json")); err != nil {
		return nil
	}
	c := h.client(h.greedy[0])
	var boards []document.Name
	if err := c.json(ctx, "GET", apiPath+"/boards?limit=200&workspaceId="+h.srv.workspace, nil, &boards); err != nil {
		return err
	}
	for _, b := range boards {
		if strings.HasPrefix(b.Name, "Heavy") {
			h.heavy = b.ID
			return nil
		}
	}
	return errors.New("the heavy board was not imported")
}
