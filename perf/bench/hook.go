package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"cardwall/perf/histogram"
	"cardwall/perf/process"
)

// The webhooks are measured on servers of their own, each empty at first and without pace, with receivers on the
// loopback interface in this process. What they are promised for is written at promises.
//
// "drain" is a backlog that was committed before the server started: it needs no changes while it is measured, which
// would be slower than the deliveries. "live" is what comes of changes as fast as the clients can make them, and "1,000/s"
// what becomes of changes at a fixed rate. Each delivery has to come, once, with one id, and signed.

const (
	hookPoints   = 200  // endpoints
	hookFives    = 5    // webhooks of a board, of those that have several
	hookRate     = 1000 // changes a second of the paced measures
	hookSenders  = 64   // clients of the paced measures
	bareClients  = 64   // goroutines of the bare client
	hookPatience = 30 * time.Second
	mostDrained  = 8000  // a second: a backlog is enough for the window at twice the promise
	mostChanged  = 3000  // changes a second that the organizations have to allow for
	hangingShare = 0.200 // of the changes go to the board whose endpoint hangs
)

// hookMeasure is a measure with a server of its own.
type hookMeasure struct {
	name string
	plan hookPlan
	run  func(w *hookWorld, ctx context.Context, name string) (row, error)
}

// hookMeasures lists the measures in the order of the table.
func (s *suite) hookMeasures() []hookMeasure {
	changes := func(perSecond int) int { return int(float64(perSecond) * (s.warm + s.window).Seconds()) }
	singles := hookPlan{boards: hookPoints, each: 1, deliveries: changes(mostChanged)}
	fives := hookPlan{boards: hookPoints / hookFives, each: hookFives, deliveries: changes(hookFives * mostChanged)}
	oneHost := singles
	oneHost.oneHost = true
	one := singles
	one.manners = []share{{1, hangs}}
	events := int(mostDrained * s.window.Seconds())
	drain := func(events int) func(*hookWorld, context.Context, string) (row, error) {
		return func(w *hookWorld, ctx context.Context, name string) (row, error) { return w.drain(ctx, name, events) }
	}
	return []hookMeasure{
		{nameHookDrain, singles, drain(events)},
		{nameHookDrainFives, fives, drain(2 * events / hookFives)},
		{nameHookDrainHost, oneHost, drain(events)},
		{nameHookLive, singles, (*hookWorld).live},
		{nameHookLiveFives, fives, (*hookWorld).live},
		{nameHookPaced, singles, func(w *hookWorld, ctx context.Context, name string) (row, error) { return w.paced(ctx, name, 0) }},
		{nameHookHang, one, func(w *hookWorld, ctx context.Context, name string) (row, error) {
			return w.paced(ctx, name, hangingShare)
		}},
	}
}

// measureHooks measures the webhooks that were asked for.
func (s *suite) measureHooks(ctx context.Context) error {
	dir := filepath.Join(s.dir, "webhooks")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	measures := s.hookMeasures()
	if s.Only.String() != "" {
		measures = append(measures, s.soakMeasure())
	}
	for i, m := range measures {
		if !s.wants(m.name) {
			continue
		}
		w, err := newHookWorld(ctx, s, filepath.Join(dir, strconv.Itoa(i)), m.plan)
		if err != nil {
			return err
		}
		s.progress("measuring %s", m.name)
		r, err := m.run(w, ctx, m.name)
		if err != nil {
			return errors.Join(w.explain(fmt.Errorf("measure %s: %w", m.name, err)), w.close())
		}
		if err := w.close(); err != nil {
			return w.explain(err)
		}
		s.report(r)
	}
	if s.wants(nameHookBare) {
		return s.measureBareHooks(ctx, dir)
	}
	return nil
}

// report notes a row, and shows the first of its errors.
func (s *suite) report(r row) {
	for _, sample := range r.result.samples[:min(len(r.result.samples), maxSamples)] {
		s.progress("  error: %s", sample)
	}
	s.rows = append(s.rows, r)
}

// fault adds what is wrong at the end to a result.
func (res *result) fault(faults []string) {
	res.errors += len(faults)
	res.samples = append(res.samples, faults...)
}

// drain has a server start that finds so many committed events, and measures from the first delivery to the last.
func (w *hookWorld) drain(ctx context.Context, name string, events int) (row, error) {
	// One delivery of the server's own is what the backlog is copied from.
	c := changer{client: w.client()}
	defer c.client.Close()
	c.change(ctx, w.boards[0])
	if c.errors > 0 {
		return row{}, errors.New(c.samples[0])
	}
	w.expect(c.done)
	w.collect(ctx, hookPatience)
	sleepUntil(ctx, time.Now().Add(time.Second)) // it is recorded
	if err := w.srv.Stop(); err != nil {
		return row{}, err
	}
	if err := w.fillOutbox(ctx, events); err != nil {
		return row{}, err
	}
	all, before := int64(len(w.seen.due)), int64(len(w.seen.came))

	own0 := process.OwnCPU()
	if _, err := w.srv.Start(ctx); err != nil {
		return row{}, err
	}
	came, last := before, time.Now()
	for came < all && time.Since(last) < hookPatience && ctx.Err() == nil && !w.srv.Process.Ended() {
		sleepUntil(ctx, time.Now().Add(time.Millisecond))
		if now := w.receivers.got.Load(); now > came {
			came, last = now, time.Now()
		}
	}
	res := &result{name: name, clients: hookPoints, units: 1, loadCPU: process.OwnCPU() - own0, counted: int(came - before)}
	w.collect(ctx, time.Second)                  // the lost ones are not waited for again
	sleepUntil(ctx, time.Now().Add(time.Second)) // the last ones are recorded
	var err error
	if res.serverCPU, err = process.CPU(w.srv.Process.PID()); err != nil { // with its start, which is a hundredth of it
		return row{}, err
	}
	if err := w.srv.Stop(); err != nil {
		return row{}, err
	}
	res.elapsed = w.seen.span()
	res.fault(w.seen.close())
	unfinished, err := w.unfinished(ctx)
	if err == nil && unfinished > 0 {
		res.fault([]string{fmt.Sprintf("%d deliveries are not recorded as delivered", unfinished)})
	}
	return row{name: name, result: res}, errors.Join(err, ctx.Err())
}

// expect notes what has to come of changes. Who hangs has nothing to come.
func (w *hookWorld) expect(done []change) {
	for _, d := range done {
		for _, e := range d.board.points {
			if e.manner == takes {
				w.seen.expect(event{e.number, d.version}, due{answered: d.answered})
			}
		}
	}
}

// live has all clients change cards as fast as they can. It measures the deliveries within the window, and how long
// those took whose change was in the window.
func (w *hookWorld) live(ctx context.Context, name string) (row, error) {
	return w.measure(ctx, name, w.suite.clients, func(ctx context.Context, _ int, c *changer, random *rand.Rand, _, end time.Time) {
		for ctx.Err() == nil && time.Now().Before(end) {
			c.change(ctx, w.boards[random.IntN(len(w.boards))])
		}
	})
}

// paced changes cards at a fixed rate, whatever becomes of the changes before. The first board gets so large a part of
// them, or as much as the others when that is 0.
func (w *hookWorld) paced(ctx context.Context, name string, first float64) (row, error) {
	r, err := w.measure(ctx, name, hookSenders, func(ctx context.Context, i int, c *changer, random *rand.Rand, start, end time.Time) {
		const step = time.Second / hookRate
		for next := start.Add(time.Duration(i) * step); next.Before(end) && ctx.Err() == nil; next = next.Add(hookSenders * step) {
			sleepUntil(ctx, next)
			b := w.boards[random.IntN(len(w.boards))]
			if first > 0 {
				b = w.boards[1+random.IntN(len(w.boards)-1)]
				if random.Float64() < first {
					b = w.boards[0]
				}
			}
			c.change(ctx, b)
		}
	})
	if err != nil {
		return r, err
	}
	healthy := hookRate * (1 - first)
	r.goals = append(r.goals, goal{"≥ " + thousands(0.95*healthy) + "/s", r.result.rate() >= 0.95*healthy})
	if first > 0 {
		hung := w.boards[0].points[0].asked.Load()
		r.ratios = append(r.ratios, thousands(float64(hung))+" attempts hung")
		if hung == 0 {
			r.result.fault([]string{"nothing was sent to the endpoint that hangs"})
		}
	}
	return r, nil
}

// measure runs so many clients through the warm-up and the window, waits for what has to come and counts.
func (w *hookWorld) measure(ctx context.Context, name string, clients int,
	load func(ctx context.Context, i int, c *changer, random *rand.Rand, start, end time.Time)) (row, error) {
	start := time.Now()
	begin := start.Add(w.suite.warm)
	end := begin.Add(w.suite.window)
	changers := make([]*changer, clients)
	var running sync.WaitGroup
	for i := range changers {
		c, random := &changer{client: w.client()}, w.suite.random()
		changers[i] = c
		running.Go(func() {
			defer c.client.Close()
			load(ctx, i, c, random, start, end)
		})
	}
	sleepUntil(ctx, begin)
	server0, err0 := process.CPU(w.srv.Process.PID())
	own0 := process.OwnCPU()
	sleepUntil(ctx, end)
	server1, err1 := process.CPU(w.srv.Process.PID())
	own1 := process.OwnCPU()
	running.Wait()
	if err := errors.Join(err0, err1, ctx.Err()); err != nil {
		return row{}, err
	}
	res := &result{name: name, clients: clients, units: 1, elapsed: end.Sub(begin), serverCPU: server1 - server0, loadCPU: own1 - own0}
	changes := 0
	for _, c := range changers {
		w.expect(c.done)
		res.errors += c.errors
		res.samples = append(res.samples, c.samples...)
		for _, d := range c.done {
			if !d.answered.Before(begin) && d.answered.Before(end) {
				changes++
			}
		}
	}
	w.collect(ctx, hookPatience)
	asked := w.times(changers, res, begin, end)
	res.fault(w.seen.close())
	return row{name: name, result: res, ratios: []string{
		thousands(float64(changes)/res.elapsed.Seconds()) + " changes/s",
		fmt.Sprintf("from request p50 %.2f, p99 %.2f ms", milliseconds(asked.Quantile(0.50)), milliseconds(asked.Quantile(0.99))),
	}}, ctx.Err()
}

// times counts the deliveries that came in the window into the result, by the time from the answer of their change. A
// delivery may come before that answer, which counts as no time. Asked has the time from the request.
//
// What came in the window counts for the rate and what was changed in it for the times. In a steady state both are the
// same number; where deliveries fall behind, the rate is of those that came.
func (w *hookWorld) times(changers []*changer, res *result, begin, end time.Time) *histogram.Histogram {
	asked := &histogram.Histogram{}
	came := 0
	for _, c := range changers {
		for _, d := range c.done {
			for _, e := range d.board.points {
				r, ok := w.seen.came[event{e.number, d.version}]
				if !ok {
					continue
				}
				if !r.at.Before(begin) && r.at.Before(end) {
					came++
				}
				if !d.answered.Before(begin) && d.answered.Before(end) {
					res.latency.Add(r.at.Sub(d.answered))
					asked.Add(r.at.Sub(d.asked))
				}
			}
		}
	}
	res.counted = came
	return asked
}

// bareHookCommand as the first argument makes this program the bare client that the deliveries are compared with.
const bareHookCommand = "bare-hooks"

// measureBareHooks has a bare client of net/http send bodies of the same size to the same receivers: what the machine
// can do without a database, a queue or a signature.
func (s *suite) measureBareHooks(ctx context.Context, dir string) (err error) {
	s.progress("measuring %s", nameHookBare)
	to := newReceivers()
	defer to.close()
	points, err := to.open(hookPoints, takes, false)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "addresses")
	var text bytes.Buffer
	for _, e := range points {
		fmt.Fprintln(&text, e.url)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write addresses: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	cmd := exec.Command(self, bareHookCommand, file)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // it ends with us
		return fmt.Errorf("start bare client: %w", err)
	}
	proc, err := process.Start(cmd, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, proc.Stop(stopTimeout)) }()
	sleepUntil(ctx, time.Now().Add(s.warm))
	begun, came, own := time.Now(), to.got.Load(), process.OwnCPU()
	cpu0, err0 := process.CPU(proc.PID())
	sleepUntil(ctx, begun.Add(s.window))
	cpu1, err1 := process.CPU(proc.PID())
	res := &result{name: nameHookBare, clients: hookPoints, units: 1, elapsed: time.Since(begun), serverCPU: cpu1 - cpu0,
		loadCPU: process.OwnCPU() - own}
	res.counted = int(to.got.Load() - came)
	if res.counted == 0 {
		res.fault([]string{"the bare client delivered nothing"})
	}
	res.fault(to.taken().faults)
	s.report(row{name: nameHookBare, result: res})
	return errors.Join(err0, err1, ctx.Err())
}

// runBareHooks is the bare client. It sends until its standard input ends.
func runBareHooks(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	addresses := bytes.Fields(text)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: bareClients, DisableCompression: true}}
	var serial atomic.Int64
	faults := make(chan error, bareClients)
	for range bareClients {
		go func() {
			for {
				n := serial.Add(1)
				id := fmt.Sprintf("itg_%026d:v%d", n, n)
				body := fmt.Appendf(nil, `{"id":"%s","data":"%0*d"}`, id, bareBody, 0)
				r, err := http.NewRequest(http.MethodPost, string(addresses[n%int64(len(addresses))]), bytes.NewReader(body))
				if err != nil {
					faults <- err
					return
				}
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Webhook-Id", id)
				r.Header.Set("Webhook-Timestamp", "1795250816")
				r.Header.Set("Webhook-Signature", "v1,MZrixAOckpyUvqG36l88FYXv8QSqiH3R8YM1oOy73EA=")
				answer, err := client.Do(r)
				if err != nil {
					faults <- err
					return
				}
				_, err = io.Copy(io.Discard, answer.Body)
				if err := errors.Join(err, answer.Body.Close()); err != nil {
					faults <- err
					return
				}
			}
		}()
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		ended <- err
	}()
	select {
	case err := <-faults:
		return err
	case err := <-ended:
		return err
	}
}

// bareBody makes the body of the bare client about as long as that of a change of a card.
const bareBody = 620
