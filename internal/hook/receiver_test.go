package hook_test

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"cardwall/internal/board"

	"github.com/go-json-experiment/json"
)

// fakeNetwork connects to hosts by name over in-memory connections. Tests in a synctest bubble cannot
// use real sockets, because the bubble's clock would not advance.
type fakeNetwork struct {
	t     *testing.T
	mu    sync.Mutex
	hosts map[string]net.Listener
}

func (n *fakeNetwork) dial(_ context.Context, _, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	l, found := n.hosts[host].(*pipeListener)
	n.mu.Unlock()
	if !found {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
}

// names returns the names of all hosts.
func (n *fakeNetwork) names() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Keys(n.hosts))
}

// pipeListener is the listener of a host in a fakeNetwork.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// listen adds a host to the network.
func (n *fakeNetwork) listen(host string) net.Listener {
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	n.hosts[host] = l
	n.mu.Unlock()
	n.t.Cleanup(func() { _ = l.Close() })
	return l
}

// raw adds a host that serves each connection with fn.
func (n *fakeNetwork) raw(host string, fn func(net.Conn)) {
	l := n.listen(host)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer func() { _ = c.Close() }()
				fn(c)
			})
		}
	})
	n.t.Cleanup(func() { _ = l.Close(); served.Wait() })
}

// post is a request as the receiver got it.
type post struct {
	at, ended  time.Time // ended is zero until the response is sent
	path       string
	header     http.Header
	body       []byte
	id         string
	kind       board.Kind
	concurrent int // number of other requests in progress on arrival
}

// receiver is an HTTP server that records its requests.
type receiver struct {
	t             *testing.T
	mu            sync.Mutex
	posts         []post
	inProgress    int // requests in progress
	maxConcurrent int // maximum number of requests in progress
	respond       func(nth int, w http.ResponseWriter, r *http.Request)
}

// receiver adds a host that records its requests. The function respond writes the nth response, counted
// from zero. If it is nil, the host responds with 200.
func (n *fakeNetwork) receiver(host string, respond func(nth int, w http.ResponseWriter, r *http.Request)) *receiver {
	rc := &receiver{t: n.t, respond: respond}
	server := &http.Server{Handler: rc, ReadHeaderTimeout: time.Hour}
	l := n.listen(host)
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	n.t.Cleanup(func() { _ = server.Close(); <-done })
	return rc
}

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var sent struct {
		ID   string     `json:"id"`
		Type board.Kind `json:"type"`
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		rc.t.Errorf("%s: got body %s, want JSON", r.Host, body)
	}
	rc.mu.Lock()
	nth := len(rc.posts)
	rc.posts = append(rc.posts, post{at: time.Now(), path: r.URL.Path, header: r.Header, body: body, id: sent.ID,
		kind: sent.Type, concurrent: rc.inProgress})
	rc.inProgress++
	rc.maxConcurrent = max(rc.maxConcurrent, rc.inProgress)
	respond := rc.respond
	rc.mu.Unlock()
	defer func() {
		rc.mu.Lock()
		defer rc.mu.Unlock()
		rc.posts[nth].ended = time.Now()
		rc.inProgress--
	}()
	if respond != nil {
		respond(nth, w, r)
	}
}

// received returns the requests received so far.
func (rc *receiver) received() []post {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return slices.Clone(rc.posts)
}

// ids returns the IDs of the received deliveries in order of arrival.
func (rc *receiver) ids() []string {
	var out []string
	for _, p := range rc.received() {
		out = append(out, p.id)
	}
	return out
}

// respondWith changes how the receiver responds to later requests.
func (rc *receiver) respondWith(respond func(nth int, w http.ResponseWriter, r *http.Request)) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.respond = respond
}

// always returns a function that responds with the same status and headers to each request. headers
// alternates names and values.
func always(status int, headers ...string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
	}
}

// sequence returns a function that responds with each status in turn, and then always with the last one.
func sequence(statuses ...int) func(int, http.ResponseWriter, *http.Request) {
	return func(nth int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(statuses[min(nth, len(statuses)-1)])
	}
}

// hang sends no response until the client closes the connection.
func hang(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
