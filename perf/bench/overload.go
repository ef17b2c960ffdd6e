package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"cardwall/perf/client"
	"cardwall/perf/histogram"
)

const (
	overloadFactor   = 5                // request rate, as a multiple of the best rate
	overloadClients  = 400              // number of connections
	overloadLate     = time.Second      // a slower response does not count as a success
	overloadReports  = 10               // percentage of requests that are reports
	overloadReads    = 65               // percentage that are reads; the rest are writes
	overloadWarm     = 2 * time.Second  // time under overload before the measurement begins
	overloadShare    = 0.8              // minimum fraction of the best rate under overload
	overloadBoard    = "Ten thousand"   // the board to read; it has most of the cards on the dashboard
	overloadRecovery = 10 * time.Second // time limit for the server to accept reports again
)

// overloadClass is a kind of request.
type overloadClass int

const (
	overloadReport overloadClass = iota
	overloadRead
	overloadWrite
	overloadClasses
)

// overloadCount counts the outcomes of the requests of one class.
type overloadCount struct{ sent, good, late, refused, failed int }

// measureOverload measures the best rate of small requests. It also measures the fraction of this rate that the
// server still reaches when it receives five times as many requests, including reports. The server must reject excess
// requests, starting with reports.
func (s *suite) measureOverload(ctx context.Context, srv *installation, f *fixture) error {
	b, err := f.board(ctx, overloadBoard, 10_000)
	if err != nil {
		return err
	}
	cursors, err := f.pages(ctx, b)
	if err != nil {
		return err
	}
	boards := newGrowingBoard(f)
	small := func(i, clients int) []part {
		return []part{
			{overloadReads, newPageSource(pagePath(b), cursors, i, clients)},
			{100 - overloadReports - overloadReads, &createSource{random: s.random(), boards: []*growingBoard{boards}}},
		}
	}
	best := &load{name: nameOverloadBest, clients: 2 * s.clients, pid: srv.Process.PID(), client: f.client, source: func(i int) source {
		return &mixedSource{random: s.random(), parts: small(i, 2*s.clients)}
	}}
	if err := s.measureLoad(ctx, best); err != nil {
		return err
	}
	bestRate := s.rows[len(s.rows)-1].result.rate()

	s.progress("measuring %s: %.0f requests per second", nameOverload, overloadFactor*bestRate)
	res, counts, err := s.overload(ctx, srv, overloadFactor*bestRate, func(i int) *overloadWorker {
		parts := small(i, overloadClients)
		return &overloadWorker{client: f.client(), random: s.random(), sources: [overloadClasses]source{
			pathSource{apiPath + "/workspaces/" + f.workspace + "/dashboard"}, parts[0].source, parts[1].source,
		}}
	})
	if err != nil {
		return fmt.Errorf("measure %s: %w", nameOverload, err)
	}
	reports, reads, writes := counts[overloadReport], counts[overloadRead], counts[overloadWrite]
	share := res.rate() / bestRate
	s.rows = append(s.rows, row{
		name: nameOverload, result: res, ratios: []string{fmt.Sprintf("%.0f%% of %s", 100*share, nameOverloadBest)},
		goals: []goal{{fmt.Sprintf("≥ %.0f%%", 100*overloadShare), share >= overloadShare}, {"no error", res.errors == 0}},
	}, row{
		name:  nameOverloadRefused,
		value: fmt.Sprintf("%s, %s, %s", reports.describe("reports"), reads.describe("reads"), writes.describe("writes")),
		goals: []goal{{"reports first", reports.refusedShare() >= max(reads.refusedShare(), writes.refusedShare()) && reports.refused > 0},
			{"reads before writes", reads.refusedShare() >= writes.refusedShare()}},
	})
	return s.measureRecovery(ctx, f)
}

// overload sends requests at the given rate, even if the server responds more slowly, and counts their outcomes.
func (s *suite) overload(ctx context.Context, srv *installation, rate float64, newWorker func(i int) *overloadWorker) (*result,
	[overloadClasses]overloadCount, error) {
	begin := time.Now().Add(overloadWarm)
	end := begin.Add(s.window)
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		counts  [overloadClasses]overloadCount
		sample  string
	)
	res := &result{name: nameOverload, clients: overloadClients, units: 1, elapsed: s.window}
	for i := range overloadClients {
		w := newWorker(i)
		w.begin, w.end, w.every = begin, end, time.Duration(overloadClients/rate*float64(time.Second))
		running.Go(func() {
			w.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			for k := range counts {
				counts[k].add(w.counts[k])
			}
			res.latency.Merge(&w.latency)
			if sample == "" {
				sample = w.sample
			}
		})
	}
	sleepUntil(ctx, begin)
	var err error
	res.serverCPU, res.loadCPU, err = measureCPU(srv.Process.CPU, func() { sleepUntil(ctx, end) })
	running.Wait()
	res.counted = counts[overloadRead].good + counts[overloadWrite].good
	for _, c := range counts {
		res.errors += c.failed
	}
	if sample != "" {
		s.progress("  error: %s", sample)
	}
	return res, counts, errors.Join(ctx.Err(), err)
}

// measureRecovery measures the time until the server accepts reports again.
func (s *suite) measureRecovery(ctx context.Context, f *fixture) error {
	c := f.client()
	defer c.Close()
	start := time.Now()
	for {
		err := call(c, "GET", "/workspaces/"+f.workspace+"/dashboard", nil, 200, nil)
		took := time.Since(start)
		if err == nil || took > overloadRecovery {
			s.rows = append(s.rows, row{
				name: nameOverloadRecovery, value: fmt.Sprintf("%.1f s", took.Seconds()), goals: []goal{{"< 10 s", err == nil}},
			})
			return nil
		}
		sleepUntil(ctx, time.Now().Add(100*time.Millisecond))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (c *overloadCount) add(o overloadCount) {
	c.sent += o.sent
	c.good += o.good
	c.late += o.late
	c.refused += o.refused
	c.failed += o.failed
}

// refusedShare returns the fraction of requests that were refused or late.
func (c *overloadCount) refusedShare() float64 {
	return float64(c.refused+c.late) / float64(max(1, c.sent))
}

// describe returns a description of the refused share.
func (c *overloadCount) describe(what string) string {
	return fmt.Sprintf("%.0f%% of %s %s", 100*c.refusedShare(), thousands(float64(c.sent)), what)
}

// overloadWorker is one client. It sends requests at fixed intervals, but never before the previous response.
type overloadWorker struct {
	client     *client.Client
	random     *rand.Rand
	sources    [overloadClasses]source
	begin, end time.Time
	every      time.Duration
	counts     [overloadClasses]overloadCount
	latency    histogram.Histogram // of successful small requests
	sample     string              // the first error
}

func (w *overloadWorker) run(ctx context.Context) {
	defer w.client.Close()
	var r client.Request
	next := time.Now().Add(time.Duration(w.random.Float64() * float64(w.every)))
	for ctx.Err() == nil {
		sleepUntil(ctx, next)
		start := time.Now()
		if !start.Before(w.end) {
			return
		}
		if next = next.Add(w.every); next.Before(start) {
			next = start // missed requests are not sent later
		}
		k := overloadWrite
		switch n := w.random.IntN(100); {
		case n < overloadReports:
			k = overloadReport
		case n < overloadReports+overloadReads:
			k = overloadRead
		}
		if err := w.sources[k].next(&r); err != nil {
			continue // under overload, the server may refuse to create the next board
		}
		status, body, err := w.client.Do(&r)
		took := time.Since(start)
		if start.Before(w.begin) {
			continue
		}
		c := &w.counts[k]
		c.sent++
		if err == nil && status == r.Want {
			err = w.sources[k].check(body)
		}
		switch {
		// A report gets 429 if too many reports of the same person are running.
		case err == nil && (status == 503 || k == overloadReport && status == 429):
			c.refused++
		case err != nil || status != r.Want:
			if c.failed++; w.sample == "" {
				w.sample = fmt.Sprintf("%s %s: %d %s %v", r.Method, r.Path, status, client.Clip(body), err)
			}
		case took > overloadLate:
			c.late++
		default:
			c.good++
			if k != overloadReport {
				w.latency.Add(took)
			}
		}
	}
}
