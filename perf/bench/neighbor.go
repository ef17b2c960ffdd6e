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
	"cardwall/perf/greedy"
	"cardwall/perf/postgres"
	"cardwall/perf/server"
)

// The neighbor table shows how much heavy work by one organization, the neighbor, delays other people on the same
// server. While the neighbor works as much as its plan allows, a few bystanders in their own workspaces read and change
// cards and sign in. They do so at a fixed rate, which does not depend on the responses.

const (
	neighborWindows = 3               // shortest benchmark, in windows
	neighborLongest = 12              // longest benchmark, in windows, even if the neighbor has not finished
	cleanupTimeout  = 2 * time.Minute // longest wait for the server to delete the leftovers of the neighbor's jobs

	importSize = 86 << 20 // bytes
	badSize    = 93 << 20 // bytes
	heavyCards = 5000
)

// neighborWork is a kind of work that the neighbor does.
type neighborWork struct {
	name  string
	needs neighborData
	run   func(ctx context.Context, h *neighborhood, t *tally) // works until ctx ends
}

// neighborData is the data that a kind of work needs.
type neighborData int

const (
	needsNothing neighborData = iota
	needsCorpus               // 50,000 cards in the neighbor's workspace
	needsHeavy                // a board of 5,000 heavy cards
	needsImport               // the file to import
	needsBad                  // the file with a wrong last byte
)

// neighborWorks returns the work for each row of the table. Work that adds cards comes last, so that it cannot slow
// down the searches.
func neighborWorks() []neighborWork {
	return []neighborWork{
		{nameNeighborIdle, needsNothing, func(ctx context.Context, _ *neighborhood, t *tally) { t.markFirst(); <-ctx.Done() }},
		{nameNeighborSearches, needsCorpus, runSearches},
		{nameNeighborExports, needsCorpus, runExports},
		{nameNeighborSlowUploads, needsNothing, runSlowUploads},
		{nameNeighborFiles, needsNothing, runUploads},
		{nameNeighborBad, needsBad, runBadImports},
		{nameNeighborCopy, needsHeavy, runCopies},
		{nameNeighborImport, needsImport, runImports},
	}
}

// neighborhood is a server with a neighbor and bystanders.
type neighborhood struct {
	srv        *installation
	dir        string          // contains the files to import
	members    []server.Person // of the neighbor's workspace
	bystanders []*bystander
	heavy      string // id of the heavy board
}

// bystander is a person whom the neighbor must not delay.
type bystander struct {
	server.Person
	fixture *fixture
	board   *board
	cookie  string // identifies a browser in which the person has signed in
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

// measureNeighborsOn measures rows on one database and adds the suffix to their names.
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
		if err := h.createData(ctx, s, w.needs); err != nil {
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

// measureNeighborLarge moves all boards of the large installation into the first workspace, and measures searches in
// it. The installation's server must not be running. measureNeighborLarge closes db.
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

// measureWorks starts the server of h and measures one row for each kind of work.
func (s *suite) measureWorks(ctx context.Context, h *neighborhood, works []neighborWork, suffix string) error {
	if err := h.preparePeople(ctx, s); err != nil {
		return err
	}
	for i, w := range works {
		if i > 0 {
			took, err := h.awaitCleanup(ctx)
			if err != nil {
				return err
			}
			if took > time.Second {
				s.progress("the server took %.1f s to delete the leftovers of the neighbor's jobs", took.Seconds())
			}
		}
		r, err := s.measureWork(ctx, h, w)
		if err != nil {
			return fmt.Errorf("measure %s: %w", w.name, err)
		}
		r.name += suffix
		s.neighbors = append(s.neighbors, r)
		if h.srv.Process.Ended() {
			return fmt.Errorf("the server exited during %s: %w", w.name, h.srv.Process.Err())
		}
	}
	return nil
}

// measureWork measures one row. During the warm-up, the bystanders work alone. The neighbor then works until it has
// done its work once, but for at least neighborWindows and at most neighborLongest windows.
func (s *suite) measureWork(ctx context.Context, h *neighborhood, w neighborWork) (*neighborRow, error) {
	s.progress("measuring %s", w.name)
	begin := time.Now().Add(s.warm)
	loads := h.startBystanders(s, begin)
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
	r.addGoals()
	return r, nil
}

// awaitCleanup cancels the neighbor's jobs and waits until the server has deleted what they leave behind. Otherwise,
// the cleanup would slow down the next row.
func (h *neighborhood) awaitCleanup(ctx context.Context) (took time.Duration, err error) {
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
	start := time.Now()
	for {
		if err := h.cancelJobs(ctx); err != nil {
			return 0, err
		}
		var leftovers int
		if err := db.QueryRowContext(ctx,
			"SELECT (SELECT count(*) FROM job_parts) + (SELECT count(*) FROM job_boards) + (SELECT count(*) FROM job_lists) + "+
				"(SELECT count(*) FROM jobs WHERE ended_at IS NULL)").Scan(&leftovers); err != nil {
			return 0, fmt.Errorf("count the leftovers of jobs: %w", err)
		}
		took = time.Since(start)
		if leftovers == 0 {
			return took, nil
		}
		if took > cleanupTimeout {
			return took, fmt.Errorf("%d leftovers of jobs were not deleted within %v", leftovers, cleanupTimeout)
		}
		sleepUntil(ctx, time.Now().Add(200*time.Millisecond))
	}
}

// cancelJobs cancels the neighbor's unfinished jobs. It lists them on the server, because the neighbor may have been
// interrupted before it received the id of a job.
func (h *neighborhood) cancelJobs(ctx context.Context) error {
	for _, p := range h.greedy() {
		var jobs envelope[[]greedy.Job]
		if err := h.client(p).Do(ctx, "GET", h.srv.Addr, "/workspaces/"+h.srv.workspace+"/jobs?limit=50", "", nil, &jobs); err != nil {
			return err
		}
		for _, j := range jobs.Data {
			if j.Ended() {
				continue
			}
			if err := h.cancel(ctx, p, j.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// createData creates the data that a kind of work needs. Kinds that need the corpus share it. The server must not be
// running.
func (h *neighborhood) createData(ctx context.Context, s *suite, needs neighborData) error {
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

// writeSized writes a workspace document of about size bytes.
func (h *neighborhood) writeSized(name string, size int64) error {
	g := document.NewGenerator(h.srv.owner, 1, document.Cards, document.Cards, time.Now().UTC())
	var oneBoard discardWriter
	if err := g.WriteWorkspace(&oneBoard, 1, 1); err != nil {
		return err
	}
	return document.WriteFile(h.path(name), func(w io.Writer) error { return g.WriteWorkspace(w, 1, int(size/oneBoard.size)) })
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

// preparePeople adds people to the neighbor's workspace, creates the bystanders, starts the server and fills
// the boards of the bystanders.
func (h *neighborhood) preparePeople(ctx context.Context, s *suite) error {
	h.members = []server.Person{{ID: h.srv.owner, Workspace: h.srv.workspace, Token: h.srv.token}}
	for _, name := range []string{"Grete", "Gerda", "Gero"} {
		p, err := h.srv.AddPerson(ctx, name)
		if err != nil {
			return err
		}
		if err := h.srv.AddMember(ctx, h.srv.workspace, p); err != nil {
			return err
		}
		h.members = append(h.members, p)
	}
	for _, name := range bystanderNames() {
		p, err := h.srv.AddPerson(ctx, name)
		if err != nil {
			return err
		}
		h.bystanders = append(h.bystanders, &bystander{Person: p})
	}
	if _, err := h.srv.Start(ctx); err != nil {
		return err
	}
	for _, o := range h.bystanders {
		o.fixture = s.newFixture(o.Token, o.Workspace, h.srv.Addr)
		o.fixture.progress = func(string, ...any) {}
		var err error
		if o.board, err = o.fixture.board(ctx, "Own work", bystanderCards); err != nil {
			return err
		}
		if o.cookie, err = signInOnce(ctx, h.srv.Addr, o.Person); err != nil {
			return err
		}
	}
	return h.findHeavy(ctx)
}

// findHeavy sets h.heavy if the heavy board was imported.
func (h *neighborhood) findHeavy(ctx context.Context) error {
	if _, err := os.Stat(h.path("heavy.json")); err != nil {
		return nil
	}
	var boards envelope[[]document.Name]
	path := "/boards?limit=200&workspaceId=" + h.srv.workspace
	if err := h.client(h.members[0]).Do(ctx, "GET", h.srv.Addr, path, "", nil, &boards); err != nil {
		return err
	}
	for _, b := range boards.Data {
		if strings.HasPrefix(b.Name, "Heavy") {
			h.heavy = b.ID
			return nil
		}
	}
	return errors.New("there is no heavy board")
}
