package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/perf/client"
	"cardwall/perf/histogram"
	"cardwall/perf/server"
)

const (
	bystanderCards   = 200 // number of cards on the board of each bystander
	bystanderGets    = 50  // get_card requests per second, by all bystanders together
	bystanderUpdates = 20
	bystanderSignIns = 3
	bystanderConns   = 32 // connections for each kind of request
)

// bystanderNames returns the names of the bystanders.
func bystanderNames() []string { return []string{"Bob", "Cleo", "Dora", "Emil"} }

// openLoad sends requests at a fixed rate that does not depend on the responses. The latency of a request is measured
// from the time at which it is due, so it includes waiting for a free connection.
type openLoad struct {
	rate    float64   // per second
	first   time.Time // when the first request is due
	counted time.Time // requests that are due earlier do not count

	next    atomic.Int64
	ended   atomic.Int64 // end of the load in Unix nanoseconds; 0 while it runs
	stop    chan struct{}
	running sync.WaitGroup
	workers []*openWorker
}

// openResult is the result of an open load.
type openResult struct {
	latency histogram.Histogram
	refused int // responses with 429 or 503
	failed  int // other errors
	samples []string
}

// openWorker is one connection of an open load.
type openWorker struct {
	openResult
	client *client.Client
	source source
}

// startOpen starts a load. Requests that are due before the time counted are not included in the result.
func startOpen(rate float64, counted time.Time, workers []*openWorker) *openLoad {
	l := &openLoad{rate: rate, first: time.Now(), counted: counted, stop: make(chan struct{}), workers: workers}
	for _, w := range workers {
		l.running.Go(func() { l.run(w) })
	}
	return l
}

// end sends the remaining requests that are already due, waits for the responses and returns the result.
func (l *openLoad) end() *openResult {
	l.ended.Store(time.Now().UnixNano())
	close(l.stop)
	l.running.Wait()
	all := &openResult{}
	for _, w := range l.workers {
		all.latency.Merge(&w.latency)
		all.refused += w.refused
		all.failed += w.failed
		all.samples = append(all.samples, w.samples...)
	}
	all.samples = all.samples[:min(len(all.samples), maxSamples)]
	return all
}

func (l *openLoad) run(w *openWorker) {
	defer w.client.Close()
	var r client.Request
	for {
		due := l.first.Add(time.Duration(float64(l.next.Add(1)-1) / l.rate * float64(time.Second)))
		if wait := time.Until(due); wait > 0 {
			select {
			case <-time.After(wait):
			case <-l.stop:
				return
			}
		}
		if end := l.ended.Load(); end > 0 && due.UnixNano() > end {
			return
		}
		w.send(&r, due, !due.Before(l.counted))
	}
}

// send sends one request. The latency of rejected and failed requests is recorded too.
func (w *openWorker) send(r *client.Request, due time.Time, counts bool) {
	err := w.source.next(r)
	status := 0
	if err == nil {
		var body []byte
		if status, body, err = w.client.Do(r); err == nil && status != r.Want {
			err = fmt.Errorf("got status %d, want %d: %s", status, r.Want, client.Clip(body))
		}
		if err == nil {
			err = w.source.check(body)
		}
	}
	if !counts {
		return
	}
	w.latency.Add(time.Since(due))
	if err == nil {
		return
	}
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		w.refused++
	} else {
		w.failed++
	}
	if len(w.samples) < maxSamples {
		w.samples = append(w.samples, fmt.Sprintf("%s %s: %v", r.Method, r.Path, err))
	}
}

// startBystanders starts the loads of the bystanders: get_card, update_card and sign-in.
func (h *neighborhood) startBystanders(s *suite, counted time.Time) [3]*openLoad {
	var workers [3][]*openWorker
	for i := range bystanderConns {
		o := h.bystanders[i%len(h.bystanders)]
		workers[0] = append(workers[0], &openWorker{client: o.fixture.client(), source: &getSource{random: s.random(), cards: o.board.cards}})
		workers[1] = append(workers[1], &openWorker{client: o.fixture.client(), source: &updateSource{random: s.random(), cards: o.board.cards}})
		workers[2] = append(workers[2], &openWorker{client: client.New(h.srv.Addr, "", s.names()), source: signInSource{o}})
	}
	return [3]*openLoad{startOpen(bystanderGets, counted, workers[0]), startOpen(bystanderUpdates, counted, workers[1]),
		startOpen(bystanderSignIns, counted, workers[2])}
}

// signInSource signs a person in with a password.
type signInSource struct{ *bystander }

func (s signInSource) next(r *client.Request) (err error) {
	r.Reset("POST", http.StatusOK)
	r.Path = append(r.Path, applicationPath+"/sign-in"...)
	r.Head = append(r.Head, "Cookie: "+s.cookie+"\r\n"...)
	r.Body, err = signInBody(s.Person)
	return err
}

func (s signInSource) check(body []byte) error { return mustContain(body, s.Email) }

func signInBody(p server.Person) ([]byte, error) {
	return json.Marshal(map[string]string{"email": p.Email, "password": p.Password})
}

// signInOnce signs a person in and returns the cookie that identifies the browser. Later sign-ins with this cookie do
// not send an email about a new device.
func signInOnce(ctx context.Context, addr string, p server.Person) (string, error) {
	body, err := signInBody(p)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+addr+applicationPath+"/sign-in", strings.NewReader(string(body)))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", fmt.Errorf("sign in: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("sign in: status %d", res.StatusCode)
	}
	for _, c := range res.Cookies() {
		if strings.HasSuffix(c.Name, "-device") {
			return c.Name + "=" + c.Value, nil
		}
	}
	return "", fmt.Errorf("sign in: the response has no cookie that identifies the browser")
}
