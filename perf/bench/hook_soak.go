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
)

// The soak is measured only when it is asked for by name:
//
//	go run ./bench -only soak -seconds 600

const (
	soakPoints = 1000
	soakRate   = 500 // changes a second
	soakEach   = 75  // endpoints of each kind of failing ones, of which there are four
	soakReads  = 250 * time.Millisecond
	soakSays   = 15 * time.Second

	// What may be more in the last quarter than in the second. Memory that SQLite maps from its file is shown and not
	// judged: it grows with the file and is the system's to take back.
	soakMemory  = 24 << 20 // bytes; the deliveries that wait for failing endpoints are about as much in all
	soakHandles = 0.25     // of those that there were; they follow how many endpoints were sent to at once
)

// soakMeasure is a server that delivers for long while three endpoints of ten fail in one way or another.
func (s *suite) soakMeasure() hookMeasure {
	return hookMeasure{
		name: nameSoak,
		plan: hookPlan{
			boards: soakPoints, each: 1, deliveries: int(soakRate * (s.warm + s.window).Seconds()),
			manners: []share{{soakEach, fails}, {soakEach, hangs}, {soakEach, refuses}, {soakEach, drags}},
		},
		run: (*hookWorld).soak,
	}
}

// reading is what the server holds at a time.
type reading struct {
	resident, anonymous int64
	handles             int
}

func (w *hookWorld) reading() (r reading, err error) {
	pid := w.srv.Process.PID()
	if r.resident, err = process.Memory(pid, "VmRSS"); err != nil {
		return r, err
	}
	if r.anonymous, err = process.Memory(pid, "RssAnon"); err != nil {
		return r, err
	}
	handles, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	r.handles = len(handles)
	return r, err
}

// highest keeps the greatest of each figure.
func (r *reading) highest(other reading) {
	r.resident = max(r.resident, other.resident)
	r.anonymous = max(r.anonymous, other.anonymous)
	r.handles = max(r.handles, other.handles)
}

// watch reads what the server holds until the end, and answers the highest of each quarter.
func (w *hookWorld) watch(ctx context.Context, begin, end time.Time, collect func()) (quarters [4]reading, err error) {
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
		if now.Sub(said) >= soakSays {
			said = now
			w.suite.progress("  after %v: RSS %s (anonymous %s), %d handles", now.Sub(begin).Round(time.Second), megabytes(r.resident),
				megabytes(r.anonymous), r.handles)
		}
		sleepUntil(ctx, now.Add(soakReads))
	}
	return quarters, ctx.Err()
}

// soak changes cards at a fixed rate. The window has four quarters; of the second, the third and the fourth the highest
// readings are compared, because the first is when queues and connections fill.
func (w *hookWorld) soak(ctx context.Context, name string) (row, error) {
	start := time.Now()
	begin := start.Add(w.suite.warm)
	end := begin.Add(w.suite.window)
	res := &result{name: name, clients: soakPoints, units: 1}
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
		w.seen.take(w.receivers.taken())
	})
	running.Wait()
	server1, err1 := process.CPU(w.srv.Process.PID())
	if err := errors.Join(err, err0, err1, ctx.Err()); err != nil {
		return row{}, err
	}
	res.elapsed, res.serverCPU, res.loadCPU = end.Sub(begin), server1-server0, process.OwnCPU()-own0
	w.collect(ctx, hookPatience)
	res.fault(w.seen.close())
	for e, d := range w.seen.due {
		if r, ok := w.seen.came[e]; ok && !d.answered.Before(begin) {
			res.latency.Add(r.at.Sub(d.answered))
		}
	}
	r := row{name: name, result: res}
	for i, q := range quarters {
		r.ratios = append(r.ratios, fmt.Sprintf("quarter %d: RSS %s (anonymous %s), %d handles", i+1, megabytes(q.resident),
			megabytes(q.anonymous), q.handles))
	}
	for i, m := range []manner{fails, hangs, drags} {
		var asked int64
		for _, b := range w.boards {
			for _, e := range b.points {
				if e.manner == m {
					asked += e.asked.Load()
				}
			}
		}
		r.ratios = append(r.ratios, []string{"failed", "hung", "dragged"}[i]+" "+thousands(float64(asked)))
		if asked == 0 {
			res.fault([]string{"nothing was sent to one kind of failing endpoints"})
		}
	}
	second, last := quarters[1], quarters[3]
	if grown := last.anonymous - second.anonymous; grown > soakMemory {
		res.fault([]string{fmt.Sprintf("the memory grew by %s from the second quarter to the last, more than %s", megabytes(grown),
			megabytes(soakMemory))})
	}
	if grown := float64(last.handles)/float64(second.handles) - 1; grown > soakHandles {
		res.fault([]string{fmt.Sprintf("the open file handles grew by %.0f %% from the second quarter to the last, more than %.0f %%",
			100*grown, 100*soakHandles)})
	}
	return r, nil
}
