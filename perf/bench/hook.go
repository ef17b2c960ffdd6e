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
	"cardwall/perf/receiver"
)

// Each measure of webhooks has its own server, which is empty at first and sends without a pace. The receivers are on the
// loopback interface, in this process.
//
// "drain" delivers a backlog that was committed before the server started, because changes during the measure would be
// slower than the deliveries. "live" delivers changes that are made as fast as possible, and "1,000/s" changes at a fixed
// rate. Each delivery must arrive once, under one id, with a correct signature.

const (
	hookEndpoints = 200  // endpoints
	hookFives     = 5    // webhooks of a board that has several
	hookRate      = 1000 // changes per second of the paced measures
	hookSenders   = 64   // clients of the paced measures
	bareClients   = 64   // goroutines of the bare client
	hookTimeout   = 30 * time.Second
	maxDrainRate  = 8000  // per second: the backlog lasts for the window at twice the promised rate
	maxChangeRate = 3000  // changes per second that the limits of the organizations must allow
	hangingShare  = 0.200 // of the changes are on the board whose endpoint hangs
)

// hookMeasure is a measure of webhooks.
type hookMeasure struct {
	name string
	plan hookPlan
	run  func(w *hookSetup, ctx context.Context, name string) (row, error)
}

// hookMeasures returns the measures in the order of the table.
func (s *suite) hookMeasures() []hookMeasure {
	changes := func(perSecond int) int { return int(float64(perSecond) * (s.warm + s.window).Seconds()) }
	singles := hookPlan{boards: hookEndpoints, each: 1, deliveries: changes(maxChangeRate)}
	fives := hookPlan{boards: hookEndpoints / hookFives, each: hookFives, deliveries: changes(hookFives * maxChangeRate)}
	oneHost := singles
	oneHost.oneHost = true
	one := singles
	one.behaviors = []share{{1, receiver.Hangs}}
	events := int(maxDrainRate * s.window.Seconds())
	drain := func(events int) func(*hookSetup, context.Context, string) (row, error) {
		return func(w *hookSetup, ctx context.Context, name string) (row, error) { return w.drain(ctx, name, events) }
	}
	return []hookMeasure{
		{nameHookDrain, singles, drain(events)},
		{nameHookDrainFives, fives, drain(2 * events / hookFives)},
		{nameHookDrainHost, oneHost, drain(events)},
		{nameHookLive, singles, (*hookSetup).live},
		{nameHookLiveFives, fives, (*hookSetup).live},
		{nameHookPaced, singles, func(w *hookSetup, ctx context.Context, name string) (row, error) { return w.paced(ctx, name, 0) }},
		{nameHookHang, one, func(w *hookSetup, ctx context.Context, name string) (row, error) {
			return w.paced(ctx, name, hangingShare)
		}},
	}
}

// measureHooks runs the requested measures of webhooks.
func (s *suite) measureHooks(ctx context.Context) error {
	dir := filepath.Join(s.dir, "webhooks")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	measures := s.hookMeasures()
	if s.Only.String() != "" {
		measures = append(measures, s.soakMeasure())
	}
	for i, m := range measures {
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

// fault adds errors to a result.
func (res *result) fault(faults []string) {
	res.errors += len(faults)
	res.samples = append(res.samples, faults...)
}

// drain starts a server that finds a backlog of events, and measures from the first delivery to the last.
func (w *hookSetup) drain(ctx context.Context, name string, events int) (row, error) {
	// The backlog consists of copies of one delivery that the server makes.
	c := changer{client: w.client()}
	defer c.client.Close()
	c.change(ctx, w.boards[0])
	if c.errors > 0 {
		return row{}, errors.New(c.samples[0])
	}
	w.expect(c.done)
	w.collect(ctx, hookTimeout)
	sleepUntil(ctx, time.Now().Add(time.Second)) // until it is recorded
	if err := w.srv.Stop(); err != nil {
		return row{}, err
	}
	if err := w.fillOutbox(ctx, events); err != nil {
		return row{}, err
	}
	all, before := int64(len(w.seen.due)), int64(len(w.seen.arrived))

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
	w.collect(ctx, time.Second)                  // the loop above has already waited for the missing ones
	sleepUntil(ctx, time.Now().Add(time.Second)) // until the last ones are recorded
	var err error
	if res.serverCPU, err = process.CPU(w.srv.Process.PID()); err != nil { // includes the start, about a hundredth of it
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

// expect records the deliveries that changes must cause. Only endpoints that accept count.
func (w *hookSetup) expect(done []change) {
	for _, d := range done {
		for _, e := range d.board.endpoints {
			if e.Behavior == receiver.Accepts {
				w.seen.expect(receiver.Event{Endpoint: e.Number, Version: d.version}, due{acknowledged: d.acknowledged})
			}
		}
	}
}

// live changes cards with all clients as fast as possible. It measures the deliveries within the window, and the latency of
// those whose change was in the window.
func (w *hookSetup) live(ctx context.Context, name string) (row, error) {
	return w.measure(ctx, name, w.suite.clients, func(ctx context.Context, _ int, c *changer, random *rand.Rand, _, end time.Time) {
		for ctx.Err() == nil && time.Now().Before(end) {
			c.change(ctx, w.boards[random.IntN(len(w.boards))])
		}
	})
}

// paced changes cards at a fixed rate. The first board gets the given share of the changes, or as many as the others if
// that is 0.
func (w *hookSetup) paced(ctx context.Context, name string, first float64) (row, error) {
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
		hung := w.boards[0].endpoints[0].Requests.Load()
		r.ratios = append(r.ratios, thousands(float64(hung))+" attempts hung")
		if hung == 0 {
			r.result.fault([]string{"no delivery was sent to the endpoint that hangs"})
		}
	}
	return r, nil
}

// measure runs clients during the warm-up and the window, and waits for the deliveries.
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
			if !d.acknowledged.Before(begin) && d.acknowledged.Before(end) {
				changes++
			}
		}
	}
	w.collect(ctx, hookTimeout)
	fromRequest := w.times(changers, res, begin, end)
	res.fault(w.seen.close())
	return row{name: name, result: res, ratios: []string{
		thousands(float64(changes)/res.elapsed.Seconds()) + " changes/s",
		fmt.Sprintf("from request p50 %.2f, p99 %.2f ms", milliseconds(fromRequest.Quantile(0.50)), milliseconds(fromRequest.Quantile(0.99))),
	}}, ctx.Err()
}

// times adds the deliveries to the result, with the latency from the response to their change. A delivery that arrives
// before the response has a latency of 0. It returns the latencies from the request.
//
// Deliveries that arrive in the window count for the rate, and those whose change is in the window for the latency. In a
// steady state both are the same number. If deliveries fall behind, the rate is that of the deliveries.
func (w *hookSetup) times(changers []*changer, res *result, begin, end time.Time) *histogram.Histogram {
	fromRequest := &histogram.Histogram{}
	arrived := 0
	for _, c := range changers {
		for _, d := range c.done {
			for _, e := range d.board.endpoints {
				r, ok := w.seen.arrived[receiver.Event{Endpoint: e.Number, Version: d.version}]
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

// bareHookCommand as the first argument turns this program into the bare client with which the deliveries are compared.
const bareHookCommand = "bare-hooks"

// measureBareHooks measures a bare net/http client that sends bodies of the same size to the same receivers: what the
// machine can do without a database, a queue or signatures.
func (s *suite) measureBareHooks(ctx context.Context, dir string) (err error) {
	s.progress("measuring %s", nameHookBare)
	to := receiver.New()
	defer to.Close()
	endpoints, err := to.Open(hookEndpoints, receiver.Accepts, false)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "addresses")
	var text bytes.Buffer
	for _, e := range endpoints {
		fmt.Fprintln(&text, e.URL)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write addresses: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, bareHookCommand, file)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // it ends when this program closes the pipe
		return fmt.Errorf("start bare client: %w", err)
	}
	proc, err := process.Start(cmd, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, proc.Stop(stopTimeout)) }()
	sleepUntil(ctx, time.Now().Add(s.warm))
	begin, arrived, own := time.Now(), to.Got.Load(), process.OwnCPU()
	cpu0, err0 := process.CPU(proc.PID())
	sleepUntil(ctx, begin.Add(s.window))
	cpu1, err1 := process.CPU(proc.PID())
	res := &result{name: nameHookBare, clients: hookEndpoints, units: 1, elapsed: time.Since(begin), serverCPU: cpu1 - cpu0,
		loadCPU: process.OwnCPU() - own}
	res.counted = int(to.Got.Load() - arrived)
	if res.counted == 0 {
		res.fault([]string{"the bare client made no delivery"})
	}
	res.fault(to.Taken().Faults)
	s.report(row{name: nameHookBare, result: res})
	return errors.Join(err0, err1, ctx.Err())
}

// runBareHooks runs the bare client until its standard input is closed.
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
				res, err := client.Do(r)
				if err != nil {
					faults <- err
					return
				}
				_, err = io.Copy(io.Discard, res.Body)
				if err := errors.Join(err, res.Body.Close()); err != nil {
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

// bareBody is the length of the padding that makes a body about as long as that of a changed card.
const bareBody = 620
