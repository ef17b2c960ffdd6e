package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"cardwall/perf/histogram"
	"cardwall/perf/limits"
	"cardwall/perf/process"
	"cardwall/perf/receiver"
)

// Each webhook benchmark has its own new server, which sends deliveries without a rate limit. The receivers run in this
// process, on the loopback interface.
//
// "drain" delivers a backlog that was committed before the server started, because the server sends deliveries faster
// than clients can make changes. "live" delivers changes that clients make as fast as possible. "1,000/s" delivers
// changes that are made at a fixed rate. Each delivery to an endpoint that accepts deliveries must arrive exactly once.
// The receivers verify a sample of the signatures.

const (
	hookEndpoints = 200
	hooksPerBoard = 5                // webhooks per board in the benchmarks with five per board
	hookRate      = 1000             // changes per second in the benchmarks with a fixed rate
	hookSenders   = 64               // clients in the benchmarks with a fixed rate
	hookTimeout   = 30 * time.Second // longest wait for missing deliveries
	maxDrainRate  = 8000             // deliveries per second, twice the goal; the backlog is large enough for the window at this rate
	maxChangeRate = 3000             // changes per second that the plan limits of the organizations must allow
	hangingShare  = 0.200            // fraction of the changes that are made on the board whose endpoint hangs
)

// hookBenchmark is a webhook benchmark.
type hookBenchmark struct {
	name string
	plan hookPlan
	run  func(w *hookSetup, ctx context.Context, name string) (row, error)
}

// hookBenchmarks returns the benchmarks in the order of the table.
func (s *suite) hookBenchmarks() []hookBenchmark {
	changes := func(perSecond int) int { return int(float64(perSecond) * (s.warm + s.window).Seconds()) }
	singles := hookPlan{boards: hookEndpoints, perBoard: 1, deliveries: changes(maxChangeRate)}
	several := hookPlan{boards: hookEndpoints / hooksPerBoard, perBoard: hooksPerBoard, deliveries: changes(hooksPerBoard * maxChangeRate)}
	oneHost := singles
	oneHost.oneHost = true
	oneHangs := singles
	oneHangs.behaviors = []share{{1, receiver.Hangs}}
	events := int(maxDrainRate * s.window.Seconds())
	drain := func(events int) func(*hookSetup, context.Context, string) (row, error) {
		return func(w *hookSetup, ctx context.Context, name string) (row, error) { return w.drain(ctx, name, events) }
	}
	return []hookBenchmark{
		{nameHookDrain, singles, drain(events)},
		{nameHookDrainFive, several, drain(2 * events / hooksPerBoard)},
		{nameHookDrainHost, oneHost, drain(events)},
		{nameHookLive, singles, (*hookSetup).live},
		{nameHookLiveFive, several, (*hookSetup).live},
		{nameHookPaced, singles, func(w *hookSetup, ctx context.Context, name string) (row, error) { return w.paced(ctx, name, 0) }},
		{nameHookHang, oneHangs, func(w *hookSetup, ctx context.Context, name string) (row, error) {
			return w.paced(ctx, name, hangingShare)
		}},
	}
}

// measureHooks runs the requested webhook benchmarks.
func (s *suite) measureHooks(ctx context.Context) error {
	dir := filepath.Join(s.dir, "webhooks")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	benchmarks := s.hookBenchmarks()
	if s.Only.String() != "" {
		benchmarks = append(benchmarks, s.soakBenchmark())
	}
	for i, m := range benchmarks {
		if !s.wants(m.name) {
			continue
		}
		w, err := newHookSetup(ctx, s, filepath.Join(dir, strconv.Itoa(i)), m.plan)
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

// report adds a row and prints its first errors.
func (s *suite) report(r row) {
	for _, sample := range r.result.samples[:min(len(r.result.samples), maxSamples)] {
		s.progress("  error: %s", sample)
	}
	s.rows = append(s.rows, r)
}

// addErrors adds errors to a result.
func (res *result) addErrors(texts []string) {
	res.errors += len(texts)
	res.samples = append(res.samples, texts...)
}

// drain restarts the server with a backlog of events and measures the time from the first delivery to the last.
func (w *hookSetup) drain(ctx context.Context, name string, events int) (row, error) {
	// The backlog consists of copies of one delivery that the server made.
	c := changer{client: w.client()}
	defer c.client.Close()
	c.change(ctx, w.boards[0])
	if c.errors > 0 {
		return row{}, errors.New(c.samples[0])
	}
	w.expect(c.done)
	w.collect(ctx, hookTimeout)
	sleepUntil(ctx, time.Now().Add(time.Second)) // let the server record the delivery
	if err := w.srv.Stop(); err != nil {
		return row{}, err
	}
	if err := w.fillOutbox(ctx, events); err != nil {
		return row{}, err
	}
	all, before := int64(len(w.ledger.Due)), int64(len(w.ledger.Receipts))

	own0 := process.OwnCPU()
	if _, err := w.srv.Start(ctx); err != nil {
		return row{}, err
	}
	arrived, last := before, time.Now()
	for arrived < all && time.Since(last) < hookTimeout && ctx.Err() == nil && !w.srv.Process.Ended() {
		sleepUntil(ctx, time.Now().Add(time.Millisecond))
		if now := w.receivers.Got.Load(); now > arrived {
			arrived, last = now, time.Now()
		}
	}
	res := &result{name: name, clients: hookEndpoints, units: 1, loadCPU: process.OwnCPU() - own0, counted: int(arrived - before)}
	w.collect(ctx, time.Second)                  // the loop above already waited for late deliveries
	sleepUntil(ctx, time.Now().Add(time.Second)) // let the server record the last deliveries
	var err error
	if res.serverCPU, err = w.srv.Process.CPU(); err != nil { // about one percent is start-up
		return row{}, err
	}
	if err := w.srv.Stop(); err != nil {
		return row{}, err
	}
	res.elapsed = w.ledger.Span()
	res.addErrors(w.ledger.Check())
	unfinished, err := w.unfinished(ctx)
	if err == nil && unfinished > 0 {
		res.addErrors([]string{fmt.Sprintf("the server did not record %d deliveries as delivered", unfinished)})
	}
	return row{name: name, result: res}, errors.Join(err, ctx.Err())
}

// expect records the deliveries that the given changes must cause. It skips endpoints that do not accept deliveries.
func (w *hookSetup) expect(changes []change) {
	for _, d := range changes {
		for _, e := range d.board.endpoints {
			if e.Behavior == receiver.Accepts {
				w.ledger.Expect(receiver.Event{Endpoint: e.Number, Version: d.version}, receiver.Due{Acknowledged: d.acknowledged})
			}
		}
	}
}

// live changes cards with all clients as fast as possible, and measures the deliveries.
func (w *hookSetup) live(ctx context.Context, name string) (row, error) {
	return w.measure(ctx, name, w.suite.clients, func(ctx context.Context, _ int, c *changer, random *rand.Rand, _, end time.Time) {
		for ctx.Err() == nil && time.Now().Before(end) {
			c.change(ctx, w.boards[random.IntN(len(w.boards))])
		}
	})
}

// paced changes cards at a fixed rate and measures the deliveries. firstShare is the fraction of the changes that are
// made on the first board. If it is 0, all boards get the same number of changes.
func (w *hookSetup) paced(ctx context.Context, name string, firstShare float64) (row, error) {
	r, err := w.measure(ctx, name, hookSenders, func(ctx context.Context, i int, c *changer, random *rand.Rand, start, end time.Time) {
		const step = time.Second / hookRate
		for next := start.Add(time.Duration(i) * step); next.Before(end) && ctx.Err() == nil; next = next.Add(hookSenders * step) {
			sleepUntil(ctx, next)
			b := w.boards[random.IntN(len(w.boards))]
			if firstShare > 0 {
				b = w.boards[1+random.IntN(len(w.boards)-1)]
				if random.Float64() < firstShare {
					b = w.boards[0]
				}
			}
			c.change(ctx, b)
		}
	})
	if err != nil {
		return r, err
	}
	healthy := hookRate * (1 - firstShare)
	r.goals = append(r.goals, goal{"≥ " + thousands(0.95*healthy) + "/s", r.result.rate() >= 0.95*healthy})
	if firstShare > 0 {
		attempts := w.boards[0].endpoints[0].Requests.Load()
		r.ratios = append(r.ratios, thousands(float64(attempts))+" attempts hung")
		if attempts == 0 {
			r.result.addErrors([]string{"the hanging endpoint received no delivery"})
		}
	}
	return r, nil
}

// measure runs clients during the warm-up and the window, waits for the deliveries and returns the result.
func (w *hookSetup) measure(ctx context.Context, name string, clients int,
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
	serverCPU, loadCPU, err := measureCPU(w.srv.Process.CPU, func() { sleepUntil(ctx, end) })
	running.Wait()
	if err := errors.Join(err, ctx.Err()); err != nil {
		return row{}, err
	}
	res := &result{name: name, clients: clients, units: 1, elapsed: end.Sub(begin), serverCPU: serverCPU, loadCPU: loadCPU}
	changes := 0
	for _, c := range changers {
		w.expect(c.done)
		res.errors += c.errors
		res.samples = append(res.samples, c.samples...)
		for _, d := range c.done {
			if !d.acknowledged.Before(begin) && d.acknowledged.Before(end) {
				changes++
			}
		}
	}
	w.collect(ctx, hookTimeout)
	fromRequest := w.addLatencies(changers, res, begin, end)
	res.addErrors(w.ledger.Check())
	return row{name: name, result: res, ratios: []string{
		thousands(float64(changes)/res.elapsed.Seconds()) + " changes/s",
		fmt.Sprintf("from request p50 %.2f, p99 %.2f ms", milliseconds(fromRequest.Quantile(0.50)), milliseconds(fromRequest.Quantile(0.99))),
	}}, ctx.Err()
}

// addLatencies adds the deliveries to the result. The latency of a delivery is measured from the response to the
// change, and is 0 if the delivery arrives before that response. addLatencies returns the latencies measured from the
// request.
//
// The rate counts deliveries that arrive in the window. The latencies cover deliveries whose change was made in the
// window. If deliveries keep up with the changes, both include about the same number of deliveries.
func (w *hookSetup) addLatencies(changers []*changer, res *result, begin, end time.Time) *histogram.Histogram {
	fromRequest := &histogram.Histogram{}
	arrived := 0
	for _, c := range changers {
		for _, d := range c.done {
			for _, e := range d.board.endpoints {
				r, ok := w.ledger.Receipts[receiver.Event{Endpoint: e.Number, Version: d.version}]
				if !ok {
					continue
				}
				if !r.At.Before(begin) && r.At.Before(end) {
					arrived++
				}
				if !d.acknowledged.Before(begin) && d.acknowledged.Before(end) {
					res.latency.Add(r.At.Sub(d.acknowledged))
					fromRequest.Add(r.At.Sub(d.sent))
				}
			}
		}
	}
	res.counted = arrived
	return fromRequest
}

// measureBareHooks measures a bare net/http client that sends bodies of about the same size to the same kind of
// receivers. The result shows what the machine can do without a database or a queue, and without computing signatures.
func (s *suite) measureBareHooks(ctx context.Context, dir string) (err error) {
	s.progress("measuring %s", nameHookBare)
	receivers := receiver.New()
	defer receivers.Close()
	endpoints, err := receivers.Open(hookEndpoints, receiver.Accepts, false)
	if err != nil {
		return err
	}
	var addresses []string
	for _, e := range endpoints {
		addresses = append(addresses, e.URL)
	}
	proc, err := limits.StartHooks(dir, addresses)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, proc.Stop(stopTimeout)) }()
	sleepUntil(ctx, time.Now().Add(s.warm))
	begin, arrived := time.Now(), receivers.Got.Load()
	res := &result{name: nameHookBare, clients: hookEndpoints, units: 1}
	res.serverCPU, res.loadCPU, err = measureCPU(proc.CPU, func() { sleepUntil(ctx, begin.Add(s.window)) })
	res.elapsed = time.Since(begin)
	res.counted = int(receivers.Got.Load() - arrived)
	if res.counted == 0 {
		res.addErrors([]string{"the bare client sent no deliveries"})
	}
	res.addErrors(receivers.Take().Faults)
	s.report(row{name: nameHookBare, result: res})
	return errors.Join(err, ctx.Err())
}
