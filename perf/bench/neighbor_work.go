package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/perf/fleet"
	"cardwall/perf/server"
)

const (
	phrase         = `"customer dan customer"` // a rare phrase made of common words, so that a search reads many cards
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

// jsonHeader returns the header of a request with a JSON document.
func jsonHeader() http.Header {
	return http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {rand.Text()}}
}

// url returns the address of a path of the public API.
func (h *neighborhood) url(path string) string { return "http://" + h.srv.Addr + apiPath + path }

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
			err := c.Do(ctx, "GET", h.srv.Addr, "/search?q="+url.QueryEscape(phrase), "", nil, nil)
			switch {
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
			res, err := c.Open(ctx, "GET", h.url("/workspaces/"+h.srv.workspace+"/export"), nil, nil, 0)
			if err != nil {
				if refused(err) {
					t.count("refused", 1)
				} else {
					t.fault(ctx, err)
				}
				sleepUntil(ctx, time.Now().Add(refusedPause))
				continue
			}
			t.count("exports", 1)
			n, err := readSlowly(ctx, res.Body)
			t.count("kB read", int(n/1000))
			if err != nil {
				t.fault(ctx, fmt.Errorf("read export: %w", err))
			}
			res.Body.Close()
		}
	})
}

// readSlowly reads r at exportRate and returns the number of bytes read.
func readSlowly(ctx context.Context, r io.Reader) (n int64, err error) {
	for next := time.Now(); ctx.Err() == nil; sleepUntil(ctx, next) {
		const reads = 10 // per second
		m, err := io.CopyN(io.Discard, r, exportRate/reads)
		n += m
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		next = next.Add(time.Second / reads)
	}
	return n, nil
}

// runSlowUploads uploads files at one byte per uploadInterval, and starts again after a refusal.
func runSlowUploads(ctx context.Context, h *neighborhood, t *tally) {
	t.markFirst()
	runParallel(slowUploads, h.greedy(), func(p server.Person) {
		for ctx.Err() == nil {
			status, err := uploadSlowly(ctx, h.srv.Addr, p, h.srv.workspace)
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

// uploadSlowly sends an upload slowly until the server responds or ctx ends. It returns the status.
func uploadSlowly(ctx context.Context, addr string, p server.Person, workspace string) (status int, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n", importPath(workspace), addr, p.Token, 10<<20); err != nil {
		return 0, err
	}
	in := bufio.NewReader(conn)
	for ctx.Err() == nil {
		if err := conn.SetReadDeadline(time.Now().Add(uploadInterval)); err != nil {
			return 0, err
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		line, err := in.ReadString('\n')
		stop()
		if err == nil {
			_, err = fmt.Sscanf(line, "HTTP/1.1 %d", &status)
			return status, err
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		if _, err := conn.Write([]byte(" ")); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func importPath(workspace string) string {
	return applicationPath + "/workspaces/" + workspace + "/import?format=cardwall"
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

// neighborJob is the part of a job that the neighbor reads.
type neighborJob struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// upload imports a file. It returns the job, or nil if the import is already done.
func (h *neighborhood) upload(ctx context.Context, p server.Person, name string) (*neighborJob, error) {
	file, err := os.Open(h.path(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	res, err := h.client(p).Open(ctx, "POST", "http://"+h.srv.Addr+importPath(h.srv.workspace), jsonHeader(), file, info.Size())
	if err != nil {
		return nil, err
	}
	return jobOf(res)
}

// jobOf returns the job in a response, or nil if the server did the work without a job.
func jobOf(res *http.Response) (*neighborJob, error) {
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		_, err := io.Copy(io.Discard, res.Body)
		return nil, err
	}
	var e envelope[neighborJob]
	err := json.UnmarshalRead(res.Body, &e)
	return &e.Data, err
}

// await waits until the job is done. If ctx ends first, it cancels the job.
func (h *neighborhood) await(ctx context.Context, p server.Person, t *tally, j *neighborJob) error {
	c := h.client(p)
	for j.State != "done" {
		if j.State == "failed" || j.State == "cancelled" {
			return fmt.Errorf("job %s is %s", j.ID, j.State)
		}
		t.note("job", fmt.Sprintf("the next at %d%%", 100*j.Done/max(j.Total, 1)))
		sleepUntil(ctx, time.Now().Add(200*time.Millisecond))
		if ctx.Err() != nil {
			return h.cancel(context.WithoutCancel(ctx), p, j.ID)
		}
		var found envelope[neighborJob]
		if err := c.Do(context.WithoutCancel(ctx), "GET", h.srv.Addr, "/jobs/"+j.ID, "", nil, &found); err != nil {
			return err
		}
		*j = found.Data
	}
	t.note("job", "")
	return nil
}

// runJobs starts one job after another and counts the completed jobs.
func runJobs(ctx context.Context, h *neighborhood, t *tally, name string, start func(p server.Person) (*neighborJob, error)) {
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
	runJobs(ctx, h, t, "imported", func(p server.Person) (*neighborJob, error) { return h.upload(ctx, p, "import.json") })
}

// runCopies repeatedly copies the heavy board.
func runCopies(ctx context.Context, h *neighborhood, t *tally) {
	runJobs(ctx, h, t, "copied", func(p server.Person) (*neighborJob, error) {
		text, err := json.Marshal(map[string]any{"name": "Copy", "includeCards": true})
		if err != nil {
			return nil, err
		}
		res, err := h.client(p).Open(ctx, "POST", h.url("/boards/"+h.heavy+"/copy"), jsonHeader(), bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return nil, err
		}
		return jobOf(res)
	})
}
