package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"cardwall/perf/fleet"
	"cardwall/perf/greedy"
	"cardwall/perf/server"
)

const (
	phrase         = "customer dan customer" // rare, and made of frequent words
	searchers      = 8
	exporters      = 8
	exportRate     = 100_000 // bytes per second that one export reads
	slowUploads    = 200
	uploadInterval = 3 * time.Second // time between two bytes of an upload
	refusedPause   = time.Second     // pause after a refusal; not longer than the server's Retry-After
	badImports     = 3
)

// tally counts the work that the neighbor has done.
type tally struct {
	first chan struct{} // closed when the work has been done once, or immediately if the work is endless

	once    sync.Once
	mu      sync.Mutex
	names   []string
	counts  map[string]int
	notes   map[string]string // latest state by name
	faults  int               // unexpected responses
	samples []string
}

func newTally() *tally {
	return &tally{first: make(chan struct{}), counts: map[string]int{}, notes: map[string]string{}}
}

// markFirst records that the work has been done once.
func (t *tally) markFirst() { t.once.Do(func() { close(t.first) }) }

// count adds n to the count with the given name, which is a plural noun or a participle.
func (t *tally) count(name string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
	t.counts[name] += n
}

// note sets the state with the given name. An empty text removes the state.
func (t *tally) note(name, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes[name] = text
}

// fault records an unexpected response or a failed request, unless ctx has ended.
func (t *tally) fault(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.faults++; len(t.samples) < maxSamples {
		t.samples = append(t.samples, "the neighbor: "+err.Error())
	}
}

// summary describes the counts and notes.
func (t *tally) summary() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, name := range t.names {
		all = append(all, thousands(float64(t.counts[name]))+" "+name)
	}
	var notes []string
	for _, text := range t.notes {
		if text != "" {
			notes = append(notes, text)
		}
	}
	slices.Sort(notes)
	return strings.Join(append(all, notes...), ", ")
}

// client returns a client for a person. Its receive buffers are small, so that the server notices slow reading.
func (h *neighborhood) client(p server.Person) *fleet.Client {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		return conn, err
	}
	return &fleet.Client{Token: p.Token, HTTP: &http.Client{Transport: &http.Transport{DialContext: dial, IdleConnTimeout: time.Second}}}
}

// refused reports whether err is a response with status 409, 429 or 503.
func refused(err error) bool {
	var e fleet.StatusError
	return errors.As(err, &e) && (e.Code == http.StatusTooManyRequests || e.Code == http.StatusServiceUnavailable ||
		e.Code == http.StatusConflict)
}

// cancel cancels a job.
func (h *neighborhood) cancel(ctx context.Context, p server.Person, id string) error {
	return h.client(p).Do(ctx, "POST", h.srv.Addr, "/jobs/"+id+"/cancel", rand.Text(), map[string]any{}, nil)
}

// greedy returns the two members of the neighbor's workspace who do most kinds of work.
func (h *neighborhood) greedy() []server.Person { return h.members[:2] }

// runParallel runs work n times concurrently, alternately as each of some people.
func runParallel(n int, people []server.Person, work func(p server.Person)) {
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { work(people[i%len(people)]) })
	}
	running.Wait()
}

// runSearches runs several searches for the phrase at a time, and starts each again as soon as its response arrives.
func runSearches(ctx context.Context, h *neighborhood, t *tally) {
	t.markFirst()
	runParallel(searchers, h.greedy(), func(p server.Person) {
		c := h.client(p)
		for ctx.Err() == nil {
			switch err := greedy.Search(ctx, c, h.srv.Addr, phrase); {
			case err == nil:
				t.count("searches", 1)
			case refused(err):
				t.count("refused", 1)
				sleepUntil(ctx, time.Now().Add(refusedPause))
			default:
				t.fault(ctx, err)
			}
		}
	})
}

// runExports exports the neighbor's workspace and reads the responses slowly.
func runExports(ctx context.Context, h *neighborhood, t *tally) {
	t.markFirst()
	runParallel(exporters, h.greedy(), func(p server.Person) {
		c := h.client(p)
		for ctx.Err() == nil {
			n, err := greedy.Export(ctx, c, h.srv.Addr, h.srv.workspace, exportRate)
			switch {
			case refused(err):
				t.count("refused", 1)
				sleepUntil(ctx, time.Now().Add(refusedPause))
			case err != nil:
				t.fault(ctx, err)
				sleepUntil(ctx, time.Now().Add(refusedPause))
			default:
				t.count("exports", 1)
				t.count("kB read", int(n/1000))
			}
		}
	})
}

// runSlowUploads uploads files at one byte per uploadInterval, and starts again after a refusal.
func runSlowUploads(ctx context.Context, h *neighborhood, t *tally) {
	t.markFirst()
	runParallel(slowUploads, h.greedy(), func(p server.Person) {
		for ctx.Err() == nil {
			status, err := greedy.UploadSlowly(ctx, h.srv.Addr, p.Token, h.srv.workspace, uploadInterval)
			switch {
			case ctx.Err() != nil:
				t.count("open at the end", 1)
			case err != nil:
				t.fault(ctx, fmt.Errorf("upload slowly: %w", err))
			case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
				t.count("refused", 1)
			default:
				t.count(fmt.Sprintf("ended with status %d", status), 1)
			}
			sleepUntil(ctx, time.Now().Add(refusedPause))
		}
	})
}

// runBadImports repeatedly imports a file whose last byte is wrong.
func runBadImports(ctx context.Context, h *neighborhood, t *tally) {
	runParallel(badImports, h.greedy(), func(p server.Person) {
		for ctx.Err() == nil {
			_, err := h.upload(ctx, p, "bad.json")
			var e fleet.StatusError
			switch {
			case errors.As(err, &e) && e.Code == http.StatusBadRequest:
				t.count("read and rejected", 1)
				t.markFirst()
			case refused(err):
				t.count("refused", 1)
				sleepUntil(ctx, time.Now().Add(refusedPause))
			case err == nil:
				t.fault(ctx, errors.New("the import accepted a file with a wrong byte"))
			default:
				t.fault(ctx, err)
			}
		}
	})
}

// envelope is a response of the API.
type envelope[T any] struct {
	Data T `json:"data"`
}

// upload imports a file. It returns the job, or nil if the import is already done.
func (h *neighborhood) upload(ctx context.Context, p server.Person, name string) (*greedy.Job, error) {
	file, err := os.Open(h.path(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return greedy.Start(ctx, h.client(p), h.srv.Addr, greedy.ImportPath(h.srv.workspace), rand.Text(), file, info.Size())
}

// await waits until the job is done. If ctx ends first, it cancels the job.
func (h *neighborhood) await(ctx context.Context, p server.Person, t *tally, j *greedy.Job) error {
	c := h.client(p)
	for j.State != "done" {
		if j.Ended() {
			return fmt.Errorf("job %s is %s", j.ID, j.State)
		}
		t.note("job", fmt.Sprintf("the next at %d%%", 100*j.Done/max(j.Total, 1)))
		sleepUntil(ctx, time.Now().Add(200*time.Millisecond))
		if ctx.Err() != nil {
			return h.cancel(context.WithoutCancel(ctx), p, j.ID)
		}
		if err := j.Refresh(context.WithoutCancel(ctx), c, h.srv.Addr); err != nil {
			return err
		}
	}
	t.note("job", "")
	return nil
}

// runJobs starts one job after another and counts the completed jobs.
func runJobs(ctx context.Context, h *neighborhood, t *tally, name string, start func(p server.Person) (*greedy.Job, error)) {
	p := h.members[0]
	for ctx.Err() == nil {
		j, err := start(p)
		if err == nil && j != nil {
			err = h.await(ctx, p, t, j)
		}
		switch {
		case ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)):
			return
		case refused(err):
			t.count("refused", 1)
			sleepUntil(ctx, time.Now().Add(refusedPause))
		case err != nil:
			t.fault(context.WithoutCancel(ctx), err)
			sleepUntil(ctx, time.Now().Add(refusedPause))
		default:
			t.count(name, 1)
			t.markFirst()
		}
	}
}

// runImports repeatedly imports a large file.
func runImports(ctx context.Context, h *neighborhood, t *tally) {
	runJobs(ctx, h, t, "imported", func(p server.Person) (*greedy.Job, error) { return h.upload(ctx, p, "import.json") })
}

// runCopies repeatedly copies the heavy board.
func runCopies(ctx context.Context, h *neighborhood, t *tally) {
	runJobs(ctx, h, t, "copied", func(p server.Person) (*greedy.Job, error) {
		const text = `{"name":"Copy","includeCards":true}`
		return greedy.Start(ctx, h.client(p), h.srv.Addr, "/boards/"+h.heavy+"/copy", rand.Text(), strings.NewReader(text), int64(len(text)))
	})
}
