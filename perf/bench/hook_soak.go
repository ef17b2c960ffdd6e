package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"cardwall/perf/process"
	"cardwall/perf/receiver"
)

// The soak test runs only when it is requested by name:
//
//	go run ./perf/bench -only soak -seconds 600

const (
	soakEndpoints      = 1000
	soakRate           = 500 // changes per second
	soakPerBehavior    = 75  // number of endpoints for each of the four kinds of misbehavior
	soakSampleInterval = 250 * time.Millisecond
	soakReportInterval = 15 * time.Second

	// Growth limits from the second quarter to the last. There is no limit for memory that SQLite maps from its file,
	// because it grows with the file and the system can reclaim it.
	soakMemory  = 24 << 20 // bytes; about the size of all deliveries that are waiting for failing endpoints
	soakHandles = 0.25     // as a fraction; the number of open files varies with the number of concurrent deliveries
)

// soakBenchmark returns a benchmark that makes deliveries for a long time. Three of ten endpoints misbehave, in one of
// four ways.
func (s *suite) soakBenchmark() hookBenchmark {
	return hookBenchmark{
		name: nameSoak,
		plan: hookPlan{
			boards: soakEndpoints, perBoard: 1, deliveries: int(soakRate * (s.warm + s.window).Seconds()),
			behaviors: []share{
				{soakPerBehavior, receiver.Fails}, {soakPerBehavior, receiver.Hangs},
				{soakPerBehavior, receiver.Refuses}, {soakPerBehavior, receiver.Delays},
			},
		},
		run: (*hookSetup).soak,
	}
}

// usage is how much memory and how many open files the server uses.
type usage struct {
	resident, anonymous int64 // bytes
	files               int
}

// usage reads the current usage of the server.
func (w *hookSetup) usage() (r usage, err error) {
	pid := w.srv.Process.PID()
	if r.resident, err = process.Memory(pid, "VmRSS"); err != nil {
		return r, err
	}
	if r.anonymous, err = process.Memory(pid, "RssAnon"); err != nil {
		return r, err
	}
	files, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	r.files = len(files)
	return r, err
}

// keepMax sets each value of r to the maximum of that value and the corresponding value of other.
func (r *usage) keepMax(other usage) {
	r.resident = max(r.resident, other.resident)
	r.anonymous = max(r.anonymous, other.anonymous)
	r.files = max(r.files, other.files)
}

// watch samples the server's usage until end and returns the maximum values of each quarter. It calls collect after
// each sample.
func (w *hookSetup) watch(ctx context.Context, begin, end time.Time, collect func()) (quarters [4]usage, err error) {
	lastReport := begin
	for ctx.Err() == nil {
		now := time.Now()
		if !now.Before(end) {
			return quarters, nil
		}
		if w.srv.Process.Ended() {
			return quarters, fmt.Errorf("the server exited: %w", w.srv.Process.Err())
		}
		r, err := w.usage()
		if err != nil {
			return quarters, err
		}
		quarters[4*now.Sub(begin)/end.Sub(begin)].keepMax(r)
		collect()
		if now.Sub(lastReport) >= soakReportInterval {
			lastReport = now
			w.suite.progress("  after %v: RSS %s (anonymous %s), %d open files", now.Sub(begin).Round(time.Second), megabytes(r.resident),
				megabytes(r.anonymous), r.files)
		}
		sleepUntil(ctx, now.Add(soakSampleInterval))
	}
	return quarters, ctx.Err()
}

// soak changes cards at a fixed rate. It compares the maximum values of the second and the last quarter of the window.
// It ignores the first quarter, in which queues and connections are still growing.
func (w *hookSetup) soak(ctx context.Context, name string) (row, error) {
	start := time.Now()
	begin := start.Add(w.suite.warm)
	end := begin.Add(w.suite.window)
	res := &result{name: name, clients: soakEndpoints, units: 1}
	var (
		mu      sync.Mutex
		running sync.WaitGroup
	)
	for i := range hookSenders {
		c, random := &changer{client: w.client()}, w.suite.random()
		running.Go(func() {
			defer c.client.Close()
			const step = time.Second / soakRate
			for next := start.Add(time.Duration(i) * step); next.Before(end) && ctx.Err() == nil; next = next.Add(hookSenders * step) {
				sleepUntil(ctx, next)
				c.change(ctx, w.boards[random.IntN(len(w.boards))])
				mu.Lock()
				w.expect(c.done)
				mu.Unlock()
				c.done = c.done[:0]
			}
			mu.Lock()
			defer mu.Unlock()
			res.addErrors(c.samples)
			res.errors += c.errors - len(c.samples)
		})
	}
	sleepUntil(ctx, begin)
	server0, err0 := w.srv.Process.CPU()
	own0 := process.OwnCPU()
	quarters, err := w.watch(ctx, begin, end, func() {
		mu.Lock()
		defer mu.Unlock()
		w.ledger.Add(w.receivers.Take())
	})
	running.Wait()
	server1, err1 := w.srv.Process.CPU()
	if err := errors.Join(err, err0, err1, ctx.Err()); err != nil {
		return row{}, err
	}
	res.elapsed, res.serverCPU, res.loadCPU = end.Sub(begin), server1-server0, process.OwnCPU()-own0
	w.collect(ctx, hookTimeout)
	res.addErrors(w.ledger.Check())
	for e, d := range w.ledger.Due {
		if r, ok := w.ledger.Receipts[e]; ok && !d.Acknowledged.Before(begin) {
			res.latency.Add(r.At.Sub(d.Acknowledged))
		}
	}
	return w.soakRow(res, quarters), nil
}

// soakRow returns the result of a soak with the usage in each quarter. It reports as errors that memory or open files
// grew, and that a kind of misbehaving endpoint received nothing.
func (w *hookSetup) soakRow(res *result, quarters [4]usage) row {
	r := row{name: res.name, result: res}
	for i, q := range quarters {
		r.ratios = append(r.ratios, fmt.Sprintf("quarter %d: RSS %s (anonymous %s), %d open files", i+1, megabytes(q.resident),
			megabytes(q.anonymous), q.files))
	}
	for i, m := range []receiver.Behavior{receiver.Fails, receiver.Hangs, receiver.Delays} {
		var requests int64
		for _, b := range w.boards {
			for _, e := range b.endpoints {
				if e.Behavior == m {
					requests += e.Requests.Load()
				}
			}
		}
		r.ratios = append(r.ratios, []string{"failed", "hung", "delayed"}[i]+" "+thousands(float64(requests)))
		if requests == 0 {
			res.addErrors([]string{"a kind of misbehaving endpoint received no delivery"})
		}
	}
	second, last := quarters[1], quarters[3]
	if growth := last.anonymous - second.anonymous; growth > soakMemory {
		res.addErrors([]string{fmt.Sprintf("the memory grew by %s from the second quarter to the last, want at most %s",
			megabytes(growth), megabytes(soakMemory))})
	}
	if growth := float64(last.files)/float64(second.files) - 1; growth > soakHandles {
		res.addErrors([]string{fmt.Sprintf("the number of open files grew by %.0f%% from the second quarter to the last, want at most %.0f%%",
			100*growth, 100*soakHandles)})
	}
	return r
}
