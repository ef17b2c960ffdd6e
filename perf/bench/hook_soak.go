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

// The soak test runs only if it is requested by name:
//
//	go run ./perf/bench -only soak -seconds 600

const (
	soakEndpoints   = 1000
	soakRate        = 500 // changes per second
	soakEach        = 75  // endpoints of each of the four failing behaviors
	soakSampleEvery = 250 * time.Millisecond
	soakReportEvery = 15 * time.Second

	// The limits for the growth from the second quarter to the last. Memory that SQLite maps from its file is reported but
	// not limited: it grows with the file, and the system can reclaim it.
	soakMemory  = 24 << 20 // bytes; about as much as all deliveries that wait for failing endpoints
	soakHandles = 0.25     // relative; they depend on how many endpoints are sent to at once
)

// soakMeasure delivers for a long time, while three of ten endpoints fail in one of four ways.
func (s *suite) soakMeasure() hookMeasure {
	return hookMeasure{
		name: nameSoak,
		plan: hookPlan{
			boards: soakEndpoints, each: 1, deliveries: int(soakRate * (s.warm + s.window).Seconds()),
			behaviors: []share{{soakEach, receiver.Fails}, {soakEach, receiver.Hangs}, {soakEach, receiver.Refuses}, {soakEach, receiver.Delays}},
		},
		run: (*hookSetup).soak,
	}
}

// reading is the memory and the open files of the server.
type reading struct {
	resident, anonymous int64
	files               int
}

func (w *hookSetup) reading() (r reading, err error) {
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

// highest keeps the larger value of each figure.
func (r *reading) highest(other reading) {
	r.resident = max(r.resident, other.resident)
	r.anonymous = max(r.anonymous, other.anonymous)
	r.files = max(r.files, other.files)
}

// watch samples the server until the end, and returns the highest values of each quarter.
func (w *hookSetup) watch(ctx context.Context, begin, end time.Time, collect func()) (quarters [4]reading, err error) {
	said := begin
	for ctx.Err() == nil {
		now := time.Now()
		if !now.Before(end) {
			return quarters, nil
		}
		if w.srv.Process.Ended() {
			return quarters, fmt.Errorf("the server ended: %w", w.srv.Process.Err())
		}
		r, err := w.reading()
		if err != nil {
			return quarters, err
		}
		quarters[4*now.Sub(begin)/end.Sub(begin)].highest(r)
		collect()
		if now.Sub(said) >= soakReportEvery {
			said = now
			w.suite.progress("  after %v: RSS %s (anonymous %s), %d open files", now.Sub(begin).Round(time.Second), megabytes(r.resident),
				megabytes(r.anonymous), r.files)
		}
		sleepUntil(ctx, now.Add(soakSampleEvery))
	}
	return quarters, ctx.Err()
}

// soak changes cards at a fixed rate. It compares the highest values of the second and the last quarter of the window. In
// the first quarter, queues and connections are still filling.
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
			res.fault(c.samples)
			res.errors += c.errors - len(c.samples)
		})
	}
	sleepUntil(ctx, begin)
	server0, err0 := process.CPU(w.srv.Process.PID())
	own0 := process.OwnCPU()
	quarters, err := w.watch(ctx, begin, end, func() {
		mu.Lock()
		defer mu.Unlock()
		w.seen.take(w.receivers.Taken())
	})
	running.Wait()
	server1, err1 := process.CPU(w.srv.Process.PID())
	if err := errors.Join(err, err0, err1, ctx.Err()); err != nil {
		return row{}, err
	}
	res.elapsed, res.serverCPU, res.loadCPU = end.Sub(begin), server1-server0, process.OwnCPU()-own0
	w.collect(ctx, hookTimeout)
	res.fault(w.seen.close())
	for e, d := range w.seen.due {
		if r, ok := w.seen.arrived[e]; ok && !d.acknowledged.Before(begin) {
			res.latency.Add(r.At.Sub(d.acknowledged))
		}
	}
	r := row{name: name, result: res}
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
			res.fault([]string{"no delivery was sent to one kind of failing endpoints"})
		}
	}
	second, last := quarters[1], quarters[3]
	if grown := last.anonymous - second.anonymous; grown > soakMemory {
		res.fault([]string{fmt.Sprintf("the memory grew by %s from the second quarter to the last, more than %s", megabytes(grown),
			megabytes(soakMemory))})
	}
	if grown := float64(last.files)/float64(second.files) - 1; grown > soakHandles {
		res.fault([]string{fmt.Sprintf("the number of open files grew by %.0f %% from the second quarter to the last, more than %.0f %%",
			100*grown, 100*soakHandles)})
	}
	return r, nil
}
