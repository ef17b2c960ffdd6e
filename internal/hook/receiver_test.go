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

// internet is the network of a test: hosts by name, reached over in-memory connections, because
// the clock of a bubble waits for real sockets.
type internet struct {
	t     *testing.T
	mu    sync.Mutex
	hosts map[string]net.Listener
}

func (n *internet) dial(_ context.Context, _, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	l, found := n.hosts[host].(*pipes)
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

// names returns the names of the hosts that listen.
func (n *internet) names() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Keys(n.hosts))
}

// pipes is the listener of a host of an internet.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (n *internet) listen(host string) net.Listener {
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	n.hosts[host] = l
	n.mu.Unlock()
	n.t.Cleanup(func() { _ = l.Close() })
	return l
}

// raw serves each connection to a host with fn, on the byte level.
func (n *internet) raw(host string, fn func(net.Conn)) {
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

// post is a delivery as its receiver saw it.
type post struct {
	at, ended time.Time // ended is zero until the response is sent
	path      string
	header    http.Header
	body      []byte
	id        string
	kind      board.Kind
	during    int // number of other requests in progress on arrival
}

// receiver is an HTTP server that records its requests.
type receiver struct {
	t      *testing.T
	mu     sync.Mutex
	posts  []post
	now    int // requests in progress
	most   int // most requests in progress at once
	answer func(nth int, w http.ResponseWriter, r *http.Request)
}

// receiver serves a host. Its nth response (from 0) is written by answer; nil responds 200.
func (n *internet) receiver(host string, answer func(nth int, w http.ResponseWriter, r *http.Request)) *receiver {
	rc := &receiver{t: n.t, answer: answer}
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
		rc.t.Errorf("%s was sent a body that is not JSON: %s", r.Host, body)
	}
	rc.mu.Lock()
	nth := len(rc.posts)
	rc.posts = append(rc.posts, post{at: time.Now(), path: r.URL.Path, header: r.Header, body: body, id: sent.ID,
		kind: sent.Type, during: rc.now})
	rc.now++
	rc.most = max(rc.most, rc.now)
	answer := rc.answer
	rc.mu.Unlock()
	defer func() {
		rc.mu.Lock()
		defer rc.mu.Unlock()
		rc.posts[nth].ended = time.Now()
		rc.now--
	}()
	if answer != nil {
		answer(nth, w, r)
	}
}

// seen returns the deliveries received so far.
func (rc *receiver) seen() []post {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return slices.Clone(rc.posts)
}

// ids returns the ids of the received deliveries in order of arrival.
func (rc *receiver) ids() []string {
	var out []string
	for _, p := range rc.seen() {
		out = append(out, p.id)
	}
	return out
}

// then changes how the receiver responds from now on.
func (rc *receiver) then(answer func(nth int, w http.ResponseWriter, r *http.Request)) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.answer = answer
}

// always responds with one status.
func always(status int, headers ...string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
	}
}

// each responds with one status after the other, and then always with the last.
func each(statuses ...int) func(int, http.ResponseWriter, *http.Request) {
	return func(nth int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(statuses[min(nth, len(statuses)-1)])
	}
}

// hang sends no response until the sender gives up.
func hang(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
