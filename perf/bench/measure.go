package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cardwall/perf/client"
	"cardwall/perf/histogram"
	"cardwall/perf/process"
)

// maxSamples is the maximum number of errors to print for each benchmark.
const maxSamples = 3

// source builds the requests of one client and checks the responses. It must be used by one goroutine at a time.
type source interface {
	// next builds the next request. The latency that a load measures does not include the time that next takes.
	next(r *client.Request) error
	// check returns an error if the response body is wrong, so that a fast but empty response does not count as a
	// success.
	check(body []byte) error
}

// load describes the clients of a benchmark, their requests and the duration.
type load struct {
	name    string
	clients int
	pid     int                           // the process whose processor time is measured
	others  func() (time.Duration, error) // returns the processor time of additional server processes; nil if there are none
	warm    time.Duration
	window  time.Duration
	client  func() *client.Client
	source  func(i int) source // returns the source of client number i
}

// result holds the results of a benchmark.
type result struct {
	name      string
	clients   int
	elapsed   time.Duration
	latency   histogram.Histogram // of the successful responses
	units     int                 // operations per response; 1 except for grouped writes
	counted   int                 // number of successful operations if it differs from latency.Count*units; otherwise 0
	errors    int                 // including errors during the warm-up
	samples   []string            // the first few errors
	serverCPU time.Duration
	loadCPU   time.Duration
}

// succeeded returns the number of successful operations.
func (r *result) succeeded() int {
	return cmp.Or(r.counted, r.latency.Count*r.units)
}

// rate returns the number of successful operations per second.
func (r *result) rate() float64 {
	if r.elapsed <= 0 {
		return 0
	}
	return float64(r.succeeded()) / r.elapsed.Seconds()
}

// perRequest returns d per successful operation, in milliseconds.
func (r *result) perRequest(d time.Duration) float64 {
	if r.succeeded() == 0 {
		return 0
	}
	return milliseconds(d) / float64(r.succeeded())
}

// add adds the result of another window of the same load to r.
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

// run runs the load. A request counts if it starts within the window. run waits for requests that are in flight when
// the window closes and counts them, so that a stall at the end is not hidden.
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
	serverCPU, loadCPU, err := measureCPU(l.serverCPU, func() { sleepUntil(ctx, end) })
	closed := time.Now()
	running.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("measure %s: %w", l.name, err)
	}

	res := &result{
		name: l.name, clients: l.clients, units: 1, elapsed: closed.Sub(opened), serverCPU: serverCPU, loadCPU: loadCPU,
	}
	for _, w := range workers {
		res.latency.Merge(&w.latency)
		res.errors += w.errors
		res.samples = append(res.samples, w.samples...)
	}
	res.samples = res.samples[:min(len(res.samples), maxSamples)]
	return res, nil
}

// serverCPU returns the processor time of all server processes.
func (l *load) serverCPU() (time.Duration, error) {
	own, err := process.CPU(l.pid)
	if err != nil || l.others == nil {
		return own, err
	}
	more, err := l.others()
	return own + more, err
}

// measureCPU returns the processor time that the server and this process use while work runs.
func measureCPU(server func() (time.Duration, error), work func()) (serverCPU, loadCPU time.Duration, err error) {
	server0, err0 := server()
	own0 := process.OwnCPU()
	work()
	server1, err1 := server()
	return server1 - server0, process.OwnCPU() - own0, errors.Join(err0, err1)
}

// worker is one client of a load.
type worker struct {
	client  *client.Client
	source  source
	latency histogram.Histogram
	errors  int
	samples []string
}

// run sends requests until the end of the window.
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
			err = fmt.Errorf("got status %d, want %d: %s", status, r.Want, client.Clip(body))
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

// fail counts an error and then pauses, so that clients do not flood a server that rejects all requests.
func (w *worker) fail(ctx context.Context, action string, err error) {
	w.errors++
	if len(w.samples) < maxSamples {
		w.samples = append(w.samples, fmt.Sprintf("%s: %v", action, err))
	}
	sleepUntil(ctx, time.Now().Add(10*time.Millisecond))
}

// sleepUntil waits until the time t or until ctx ends.
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
