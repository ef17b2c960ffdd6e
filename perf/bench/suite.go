package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"cardwall/perf/client"
	"cardwall/perf/folder"
	"cardwall/perf/limits"
	"cardwall/perf/process"
)

// cardsPerBoard is the number of cards that the create_card benchmark creates on a board before it starts a new board.
const cardsPerBoard = 4000

// suite runs the requested benchmarks one after another and collects the results.
type suite struct {
	options
	dir   string        // the temporary folder
	log   io.Writer     // progress
	names func() string // returns unique names for clients
	rows  []row
	seed  uint64

	neighbors []*neighborRow
}

// run runs all requested benchmarks. Only compareLarge has two installations running at the same time.
func (s *suite) run(ctx context.Context) error {
	benchmarks := s.serverBenchmarks()
	if s.wants(nameFirst, nameFirstFilled, nameIdle, nameLoaded, nameFolder, nameIdleCPU, namePoller,
		nameRuleWithout, nameRuleFifth, nameRuleFifthRuns, nameRuleWith, nameRuleRuns,
		nameOverloadBest, nameOverload, nameOverloadRefused, nameOverloadRecovery) ||
		slices.ContainsFunc(benchmarks, func(m benchmark) bool { return s.wants(m.name) }) {
		srv, err := newInstallation(ctx, s.Binary, s.dir, "")
		if err != nil {
			return err
		}
		if err := errors.Join(s.measureServer(ctx, srv, benchmarks), srv.Stop()); err != nil {
			return srv.WithLog(err)
		}
	}
	if err := s.measurePostgres(ctx, benchmarks); err != nil {
		return err
	}
	if err := s.measureMachine(ctx); err != nil {
		return err
	}
	if err := s.measureLarge(ctx); err != nil {
		return err
	}
	if err := s.measureReports(ctx); err != nil {
		return err
	}
	if err := s.measureExport(ctx); err != nil {
		return err
	}
	if err := s.measureFiles(ctx); err != nil {
		return err
	}
	if err := s.measureNeighbors(ctx); err != nil {
		return err
	}
	if err := s.measureRetention(ctx); err != nil {
		return err
	}
	return s.measureHooks(ctx)
}

// wants reports whether a benchmark with one of the given names is requested.
func (s *suite) wants(names ...string) bool {
	return slices.ContainsFunc(names, s.Only.MatchString)
}

func (s *suite) progress(format string, args ...any) {
	fmt.Fprintf(s.log, format+"\n", args...)
}

// benchmark is a load on the server. The data that it needs is created just before it runs.
type benchmark struct {
	name    string
	clients int
	sources prepareFunc
	// Consecutive interleaved benchmarks take turns in short slices, so that a drift in the machine's speed affects all
	// of them equally.
	interleaved bool
}

// prepareFunc creates the data of a benchmark and returns a function that returns the requests of client i.
type prepareFunc func(ctx context.Context, f *fixture, clients int) (func(i int) source, error)

// interleavedParts is the number of parts into which each interleaved benchmark is divided.
const interleavedParts = 10

// measureServer starts a server, runs the benchmarks on it and measures its start-up time, memory and data folder. It
// stops the server, but leaves it running if the start-up time of the filled server is requested.
func (s *suite) measureServer(ctx context.Context, srv *installation, benchmarks []benchmark) error {
	if err := s.measureStart(ctx, srv, nameFirst); err != nil {
		return err
	}
	if s.wants(nameIdle) {
		s.progress("measuring %s", nameIdle)
		sleepUntil(ctx, time.Now().Add(5*time.Second))
		if err := s.measureMemory(srv, nameIdle, 40); err != nil {
			return err
		}
	}
	f := s.newFixture(srv.token, srv.workspace, srv.Addr)
	var pending []*load // benchmarks that run interleaved
	for i, m := range benchmarks {
		if s.wants(m.name) {
			sources, err := m.sources(ctx, f, m.clients)
			if err != nil {
				return err
			}
			pending = append(pending, &load{name: m.name, clients: m.clients, pid: srv.Process.PID(), client: f.client, source: sources})
		}
		if m.interleaved && i+1 < len(benchmarks) && benchmarks[i+1].interleaved {
			continue
		}
		if err := s.measureLoads(ctx, pending); err != nil {
			return err
		}
		if srv.Process.Ended() {
			return fmt.Errorf("the server exited during %s: %w", m.name, srv.Process.Err())
		}
		pending = nil
	}
	if s.wants(nameRuleWithout, nameRuleFifth, nameRuleFifthRuns, nameRuleWith, nameRuleRuns) {
		if err := s.measureAutomation(ctx, srv, f); err != nil {
			return err
		}
	}
	if s.wants(nameOverloadBest, nameOverload, nameOverloadRefused, nameOverloadRecovery) {
		if err := s.measureOverload(ctx, srv, f); err != nil {
			return err
		}
	}
	if s.wants(nameLoaded) {
		if err := s.measureMemory(srv, nameLoaded, 200); err != nil {
			return err
		}
	}
	if s.wants(nameFolder) {
		size, err := folder.Size(srv.Data)
		if err != nil {
			return err
		}
		s.rows = append(s.rows, row{name: nameFolder, value: megabytes(size)})
	}
	if s.wants(nameIdleCPU, namePoller) {
		if err := s.measurePoller(ctx, srv, f); err != nil {
			return err
		}
	}
	if err := srv.Stop(); err != nil || !s.wants(nameFirstFilled) {
		return err
	}
	return s.measureStart(ctx, srv, nameFirstFilled)
}

// measureStart stops the server if it is running, starts it and leaves it running. If the start-up time is requested,
// measureStart does this three times and reports the median time.
func (s *suite) measureStart(ctx context.Context, srv *installation, name string) error {
	starts := 1
	if s.wants(name) {
		starts = 3
		s.progress("measuring %s", name)
	}
	var times []time.Duration
	for range starts {
		if err := srv.Stop(); err != nil {
			return err
		}
		took, err := srv.Start(ctx)
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	if s.wants(name) {
		slices.Sort(times)
		median := times[len(times)/2]
		s.rows = append(s.rows, row{
			name: name, value: fmt.Sprintf("%.1f ms", milliseconds(median)),
			goals: []goal{{"< 100 ms", median < 100*time.Millisecond}},
		})
	}
	return nil
}

// measureMemory reports the server's resident memory, how much of it is the mapped database, and the peak. The goal is
// less than limit MB of resident memory.
func (s *suite) measureMemory(srv *installation, name string, limit int64) error {
	pid := srv.Process.PID()
	now, err := process.Memory(pid, "VmRSS")
	if err != nil {
		return err
	}
	peak, err := process.Memory(pid, "VmHWM")
	if err != nil {
		return err
	}
	mapped, err := process.Mapped(pid, srv.Data)
	if err != nil {
		return err
	}
	s.rows = append(s.rows, row{
		name: name, value: megabytes(now), ratios: []string{megabytes(mapped) + " of the database mapped, peak " + megabytes(peak)},
		goals: []goal{{"< " + strconv.FormatInt(limit, 10) + " MB", now < limit<<20}},
	})
	return nil
}

// measureLoad runs a load and adds its result to the table.
func (s *suite) measureLoad(ctx context.Context, l *load) error {
	return s.measureLoads(ctx, []*load{l})
}

// measureLoads runs the loads, interleaved if there are several, and adds their results to the table.
func (s *suite) measureLoads(ctx context.Context, loads []*load) error {
	times := 1
	if len(loads) > 1 {
		times = interleavedParts
	}
	for _, l := range loads {
		s.progress("measuring %s", l.name)
	}
	results, err := s.runInterleaved(ctx, loads, times)
	if err != nil {
		return err
	}
	for i, l := range loads {
		s.rows = append(s.rows, row{name: l.name, result: results[i]})
	}
	return nil
}

// runInterleaved divides each load into parts, runs the parts of all loads alternately, and returns the total of each
// load.
func (s *suite) runInterleaved(ctx context.Context, loads []*load, times int) ([]*result, error) {
	totals := make([]*result, len(loads))
	for range times {
		for i, l := range loads {
			l.warm, l.window = s.warm/time.Duration(times), s.window/time.Duration(times)
			res, err := l.run(ctx)
			if err != nil {
				return nil, err
			}
			for _, sample := range res.samples {
				s.progress("  error: %s", sample)
			}
			if totals[i] == nil {
				totals[i] = res
			} else {
				totals[i].add(res)
			}
		}
	}
	return totals, nil
}

// random returns a random number generator for one client. The generator returns the same numbers in each run with the
// same flags.
func (s *suite) random() *rand.Rand {
	s.seed++
	return rand.New(rand.NewPCG(1, s.seed))
}

// serverBenchmarks returns the benchmarks of the server. Reads come before writes and use different boards.
func (s *suite) serverBenchmarks() []benchmark {
	get := onBoard("Ten thousand", 10_000, func(b *board, _, _ int) source {
		return &getSource{random: s.random(), cards: b.cards}
	})
	withQuery := func(query string) prepareFunc {
		return onBoard("One thousand", 1000, func(b *board, i, clients int) source {
			return newPageSource(pagePath(b)+query, []string{""}, i, clients) // the client follows the cursors
		})
	}
	create := func(boards int) prepareFunc {
		return func(_ context.Context, f *fixture, _ int) (func(int) source, error) {
			growing := make([]*growingBoard, boards)
			for i := range growing {
				growing[i] = newGrowingBoard(f)
			}
			return func(int) source { return &createSource{random: s.random(), boards: growing} }, nil
		}
	}
	unchanged := func(ctx context.Context, f *fixture, _ int) (func(int) source, error) {
		b, err := f.board(ctx, "Ten thousand", 10_000)
		if err != nil {
			return nil, err
		}
		tag, err := f.entityTag(ctx, pagePath(b))
		return func(int) source { return unchangedSource{pagePath(b), tag} }, err
	}
	changing := func(ctx context.Context, f *fixture, clients int) (func(int) source, error) {
		lists, err := pages("Changing", 1000)(ctx, f, clients)
		if err != nil {
			return nil, err
		}
		cards, due := f.boards["Changing"].cards, &atomic.Int64{}
		return func(i int) source {
			return &changingSource{lists: lists(i), update: &updateSource{random: s.random(), cards: cards}, due: due}
		}, nil
	}
	update := onBoard("Worked on", 1000, func(b *board, _, _ int) source {
		return &updateSource{random: s.random(), cards: b.cards}
	})
	move := onBoard("Worked on", 1000, func(b *board, i, clients int) source {
		return newMoveSource(s.random(), b, i, clients)
	})
	mixed := s.mix([]int{50, 30, 8, 8, 4}, get, pages("One thousand", 1000), update, move, create(1))
	return append(s.toolBenchmarks(), []benchmark{
		{name: nameGet, clients: s.clients, sources: get},
		{name: nameGetOne, clients: 1, sources: get},
		{name: nameList1k, clients: s.clients, sources: pages("One thousand", 1000)},
		{name: nameList10k, clients: s.clients, sources: pages("Ten thousand", 10_000)},
		{name: nameUnchanged, clients: s.clients, sources: unchanged},
		{name: nameChanging, clients: s.clients, sources: changing},
		{name: nameFiltered, clients: s.clients, sources: withQuery("&assignee=me")},
		{name: nameCompact, clients: s.clients, sources: withQuery("&view=compact")},
		{name: nameCreate, clients: s.clients, sources: create(1)},
		{name: nameCreate40, clients: s.clients, sources: create(40)},
		{name: nameCreateOne, clients: 1, sources: create(1)},
		{name: nameUpdate, clients: s.clients, sources: update},
		{name: nameMove, clients: s.clients, sources: move},
		{name: nameMixed, clients: s.clients, sources: mixed},
	}...)
}

// onBoard prepares a board with n cards. newSource returns the requests of client i.
func onBoard(name string, n int, newSource func(b *board, i, clients int) source) prepareFunc {
	return func(ctx context.Context, f *fixture, clients int) (func(int) source, error) {
		b, err := f.board(ctx, name, n)
		return func(i int) source { return newSource(b, i, clients) }, err
	}
}

// pages prepares clients that read the pages of a board with n cards, each from a different page.
func pages(name string, n int) prepareFunc {
	return func(ctx context.Context, f *fixture, clients int) (func(int) source, error) {
		b, err := f.board(ctx, name, n)
		if err != nil {
			return nil, err
		}
		cursors, err := f.pages(ctx, b)
		return func(i int) source { return newPageSource(pagePath(b), cursors, i, clients) }, err
	}
}

// mix prepares clients that send several kinds of requests, each with its share in percent.
func (s *suite) mix(shares []int, kinds ...prepareFunc) prepareFunc {
	return func(ctx context.Context, f *fixture, clients int) (func(int) source, error) {
		var makers []func(int) source
		for _, prepare := range kinds {
			maker, err := prepare(ctx, f, clients)
			if err != nil {
				return nil, err
			}
			makers = append(makers, maker)
		}
		return func(i int) source {
			mix := &mixedSource{random: s.random()}
			for k, maker := range makers {
				mix.parts = append(mix.parts, part{shares[k], maker(i)})
			}
			return mix
		}, nil
	}
}

// newGrowingBoard returns a growingBoard. The first board is created when the first card needs it.
func newGrowingBoard(f *fixture) *growingBoard {
	count := 0
	return &growingBoard{every: cardsPerBoard, make: func() (*board, error) {
		c := f.client()
		defer c.Close()
		count++
		return f.emptyBoard(c, "Growing "+strconv.Itoa(count))
	}}
}

// measureMachine measures the limits of the machine, with which the other results are compared.
func (s *suite) measureMachine(ctx context.Context) error {
	dir := filepath.Join(s.dir, "limits")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	if s.wants(nameHello, nameMemory, nameRows, nameRow) {
		if err := s.measureBareServer(ctx, dir); err != nil {
			return err
		}
	}
	for _, m := range []struct {
		name string
		run  func(name string) (*result, error)
	}{
		{nameRawSingle, func(name string) (*result, error) { return rawWrites(ctx, name, dir, 1, s.warm, s.window) }},
		{nameRawGroup, func(name string) (*result, error) { return rawWrites(ctx, name, dir, 16, s.warm, s.window) }},
		{nameFsync, func(name string) (*result, error) { return fsyncs(ctx, name, dir, s.warm, s.window) }},
	} {
		if !s.wants(m.name) {
			continue
		}
		s.progress("measuring %s", m.name)
		res, err := m.run(m.name)
		if err != nil {
			return err
		}
		s.rows = append(s.rows, row{name: m.name, result: res})
	}
	return nil
}

// measureBareServer measures the bare server.
func (s *suite) measureBareServer(ctx context.Context, dir string) (err error) {
	bare, addr, err := limits.StartServer(ctx, dir, stopTimeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.Stop(stopTimeout)) }()
	client := func() *client.Client { return client.New(addr, "", s.names()) }
	path := func(path string) func(int) source {
		return func(int) source { return pathSource{path} }
	}
	cursors := make([]string, limits.Rows/pageSize)
	for i := 1; i < len(cursors); i++ {
		cursors[i] = limits.NewCard(i * pageSize).ID
	}
	pages := func(i int) source {
		return newPageSource("/rows?limit="+strconv.Itoa(pageSize), cursors, i, s.clients)
	}
	for _, l := range []load{
		{name: nameHello, source: path("/hello")},
		{name: nameMemory, source: path("/memory")},
		{name: nameRows, source: pages},
		{name: nameRow, source: func(i int) source { return pathSource{"/rows/" + limits.NewCard(1+i*97%limits.Rows).ID} }},
	} {
		if !s.wants(l.name) {
			continue
		}
		l.clients, l.pid, l.client = s.clients, bare.PID(), client
		if err := s.measureLoad(ctx, &l); err != nil {
			return err
		}
	}
	return nil
}
