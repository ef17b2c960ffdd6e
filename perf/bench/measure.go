package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"cardwall/perf/client"
	"cardwall/perf/histogram"
	"cardwall/perf/process"
)

// maxSamples is how many errors of one measure are shown.
const maxSamples = 3

// source makes the requests of one client and looks at the answers. A source belongs to one goroutine.
type source interface {
	// next builds the next request. The time that it takes is not part of the request's.
	next(r *client.Request) error
	// check refuses a good status with a wrong body, so that a fast empty answer is not a good one.
	check(answer []byte) error
}

// load is one measure: what is asked, by how many, and for how long.
type load struct {
	name    string
	clients int
	pid     int                           // whose processor time is counted
	others  func() (time.Duration, error) // the processor time of further processes that serve; nil for none
	warm    time.Duration
	window  time.Duration
	client  func() *client.Client
	source  func(i int) source // the source of client i of clients
}

// result is what a measure found.
type result struct {
	name      string
	clients   int
	elapsed   time.Duration
	latency   histogram.Histogram // of the good answers
	units     int                 // what one answer counts for; 1 but for grouped writes
	counted   int                 // the good operations where they are not what the latencies are of, else 0
	errors    int                 // in the warm-up too
	samples   []string            // the first few errors
	serverCPU time.Duration
	loadCPU   time.Duration
}

// good answers the number of good operations.
func (r *result) good() int {
	return cmp.Or(r.counted, r.latency.Count*r.units)
}

// rate answers the good operations a second.
func (r *result) rate() float64 {
	if r.elapsed <= 0 {
		return 0
	}
	return float64(r.good()) / r.elapsed.Seconds()
}

// perRequest answers the share of d that one good operation has, in milliseconds.
func (r *result) perRequest(d time.Duration) float64 {
	if r.good() == 0 {
		return 0
	}
	return milliseconds(d) / float64(r.good())
}

// add puts what another window of the same load found beside it.
func (r *result) add(more *result) {
	r.elapsed += more.elapsed
	r.counted += more.counted
	r.serverCPU += more.serverCPU
	r.loadCPU += more.loadCPU
	r.errors += more.errors
	r.latency.Merge(&more.latency)
	r.samples = append(r.samples, more.samples...)
	r.samples = r.samples[:min(len(r.samples), maxSamples)]
}

// run drives the load. A request counts when it begins within the window: those in flight when the window opens are
// left out, and those in flight when it closes are waited for and counted, so that a stall cannot hide at the end.
func (l *load) run(ctx context.Context) (*result, error) {
	begin := time.Now().Add(l.warm)
	end := begin.Add(l.window)
	workers := make([]*worker, l.clients)
	var running sync.WaitGroup
	for i := range workers {
		w := &worker{client: l.client(), source: l.source(i)}
		workers[i] = w
		running.Go(func() { w.run(ctx, begin, end) })
	}

	sleepUntil(ctx, begin)
	opened := time.Now()
	server0, err0 := l.serverCPU()
	own0 := process.OwnCPU()
	sleepUntil(ctx, end)
	closed := time.Now()
	server1, err1 := l.serverCPU()
	own1 := process.OwnCPU()
	running.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range []error{err0, err1} {
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", l.name, err)
		}
	}

	res := &result{
		name: l.name, clients: l.clients, units: 1, elapsed: closed.Sub(opened),
		serverCPU: server1 - server0, loadCPU: own1 - own0,
	}
	for _, w := range workers {
		res.latency.Merge(&w.latency)
		res.errors += w.errors
		res.samples = append(res.samples, w.samples...)
	}
	res.samples = res.samples[:min(len(res.samples), maxSamples)]
	return res, nil
}

// serverCPU is the processor time of all that serves.
func (l *load) serverCPU() (time.Duration, error) {
	own, err := process.CPU(l.pid)
	if err != nil || l.others == nil {
		return own, err
	}
	more, err := l.others()
	return own + more, err
}

// worker is one client in a measure.
type worker struct {
	client  *client.Client
	source  source
	latency histogram.Histogram
	errors  int
	samples []string
}

func (w *worker) run(ctx context.Context, begin, end time.Time) {
	defer w.client.Close()
	var r client.Request
	for ctx.Err() == nil {
		if err := w.source.next(&r); err != nil {
			w.fail(ctx, "prepare request", err)
			if time.Now().After(end) {
				return
			}
			continue
		}
		start := time.Now()
		if !start.Before(end) {
			return
		}
		status, body, err := w.client.Do(&r)
		took := time.Since(start)
		if err == nil && status != r.Want {
			err = fmt.Errorf("status %d instead of %d: %s", status, r.Want, client.Clip(body))
		}
		if err == nil {
			err = w.source.check(body)
		}
		if err != nil {
			w.fail(ctx, r.Method+" "+string(r.Path), err)
			continue
		}
		if !start.Before(begin) {
			w.latency.Add(took)
		}
	}
}

// fail counts an error and pauses, so that a server that refuses everything is not flooded.
func (w *worker) fail(ctx context.Context, act string, err error) {
	w.errors++
	if len(w.samples) < maxSamples {
		w.samples = append(w.samples, fmt.Sprintf("%s: %v", act, err))
	}
	sleepUntil(ctx, time.Now().Add(10*time.Millisecond))
}

// sleepUntil waits for the instant or the end of the context.
func sleepUntil(ctx context.Context, t time.Time) {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func milliseconds(d time.Duration) float64 {
	return float64(d) / float64(time.Millisecond)
}
