// Package receiver provides webhook receivers that use little processor time and can fail in various ways.
package receiver

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"cardwall/perf/client"
)

// Behavior is how an endpoint responds to deliveries.
type Behavior int

const (
	Accepts Behavior = iota // responds with 204 immediately
	Fails                   // responds with 500 immediately
	Delays                  // responds with 204 after two seconds
	Hangs                   // responds after ten seconds, when the sender has already timed out
	Refuses                 // refuses connections
)

const (
	delayTime = 2 * time.Second
	hangTime  = 10 * time.Second
)

// One in verifyEvery signatures on a connection is verified.
const verifyEvery = 32

// Receivers is a set of webhook endpoints. By default, each endpoint has its own port, because most real endpoints have
// their own host. To save processor time, the endpoints implement only the parts of HTTP/1.1 that the sender needs.
type Receivers struct {
	Got atomic.Int64 // number of deliveries to endpoints that accept deliveries

	mu        sync.Mutex
	endpoints []*Endpoint
	listeners []net.Listener
	refusing  []int                // sockets of ports that refuse connections
	open      map[*connection]bool // open connections
	closed    bool
	running   sync.WaitGroup
	rest      Received // received by connections that have ended
}

// Endpoint is the receiver of one webhook.
type Endpoint struct {
	Number   int
	Behavior Behavior
	URL      string
	Requests atomic.Int64 // number of received requests

	key atomic.Pointer[[]byte] // signing key of the webhook; nil before SetSecret
}

// Receipt is a delivery to an endpoint with the behavior Accepts.
type Receipt struct {
	Event
	ID string
	At time.Time
}

// Event identifies a change and the endpoint that receives it. The board version identifies the change, because an
// endpoint receives the changes of only one board.
type Event struct {
	Endpoint int
	Version  int64
}

// Received holds deliveries and the errors in received requests.
type Received struct {
	Receipts []Receipt
	Faults   []string
}

// connection is one connection of the sender.
type connection struct {
	conn     net.Conn
	endpoint *Endpoint // nil if endpoints share a port; the path then contains the number of the endpoint
	mu       sync.Mutex
	received Received
}

// New returns receivers without endpoints.
func New() *Receivers { return &Receivers{open: make(map[*connection]bool)} }

// Open adds n endpoints with the given behavior. If oneHost is set, they share a port, unless they refuse connections.
func (r *Receivers) Open(n int, behavior Behavior, oneHost bool) ([]*Endpoint, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var added []*Endpoint
	shared := ""
	for i := range n {
		e := &Endpoint{Number: len(r.endpoints), Behavior: behavior}
		addr, own := shared, e
		switch {
		case behavior == Refuses:
			socket, err := r.refuse()
			if err != nil {
				return nil, err
			}
			addr = socket
		case oneHost:
			own = nil
			if i > 0 {
				break
			}
			fallthrough
		default:
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return nil, fmt.Errorf("listen: %w", err)
			}
			r.listeners = append(r.listeners, l)
			addr = l.Addr().String()
			shared = addr
			r.running.Go(func() { r.accept(l, own) })
		}
		e.URL = "http://" + addr + "/hook/" + strconv.Itoa(e.Number)
		r.endpoints = append(r.endpoints, e)
		added = append(added, e)
	}
	return added, nil
}

// refuse reserves a port that refuses connections and returns its address. While it is reserved, no other program can
// listen on it.
func (r *Receivers) refuse() (addr string, err error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("create socket: %w", err)
	}
	r.refusing = append(r.refusing, socket)
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", fmt.Errorf("bind socket: %w", err)
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		return "", fmt.Errorf("read address of socket: %w", err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port)), nil
}

// SetSecret sets the signing secret of the webhook.
func (e *Endpoint) SetSecret(secret string) error {
	text, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil {
		return errors.New("the signing secret is not base64 with the prefix whsec_")
	}
	e.key.Store(&key)
	return nil
}

// Close closes all endpoints and connections, and waits for their goroutines.
func (r *Receivers) Close() {
	r.mu.Lock()
	r.closed = true
	for _, l := range r.listeners {
		l.Close()
	}
	for l := range r.open {
		l.conn.Close()
	}
	for _, socket := range r.refusing {
		syscall.Close(socket)
	}
	r.mu.Unlock()
	r.running.Wait()
}

func (r *Receivers) accept(listener net.Listener, endpoint *Endpoint) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return // closed
		}
		l := &connection{conn: conn, endpoint: endpoint}
		r.mu.Lock()
		if r.closed {
			conn.Close()
		} else {
			r.open[l] = true
			r.running.Go(func() { r.serve(l) })
		}
		r.mu.Unlock()
	}
}

// Take returns the deliveries and errors recorded since the last call.
func (r *Receivers) Take() Received {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.rest
	r.rest = Received{}
	for l := range r.open {
		l.mu.Lock()
		taken.add(&l.received)
		l.received.Receipts, l.received.Faults = l.received.Receipts[:0], nil
		l.mu.Unlock()
	}
	return taken
}

func (t *Received) add(other *Received) {
	t.Receipts = append(t.Receipts, other.Receipts...)
	t.Faults = append(t.Faults, other.Faults...)
}

// serve responds to the requests of one connection.
func (r *Receivers) serve(l *connection) {
	defer func() {
		l.conn.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.open, l)
		r.rest.add(&l.received)
	}()
	in := client.NewReader(l.conn)
	var d delivery
	for n := 0; ; n++ {
		endpoint, err := d.read(in, l.endpoint, r.endpoints)
		at := time.Now()
		if err != nil {
			if in.Received && !client.IsClosed(err) && !errors.Is(err, net.ErrClosed) {
				l.fault("read delivery: " + err.Error())
			}
			return
		}
		endpoint.Requests.Add(1)
		if err := d.check(endpoint, n%verifyEvery == 0); err != nil {
			l.fault(err.Error())
		}
		response := "HTTP/1.1 204 No Content\r\n\r\n"
		switch endpoint.Behavior {
		case Fails:
			response = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 7\r\n\r\nbroken\n"
		case Delays:
			time.Sleep(delayTime)
		case Hangs:
			time.Sleep(hangTime)
		case Accepts, Refuses:
		}
		if _, err := l.conn.Write([]byte(response)); err != nil {
			return
		}
		if endpoint.Behavior == Accepts {
			l.mu.Lock()
			l.received.Receipts = append(l.received.Receipts, Receipt{Event{endpoint.Number, d.version}, string(d.id), at})
			l.mu.Unlock()
			r.Got.Add(1)
		}
	}
}

func (l *connection) fault(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.received.Faults = append(l.received.Faults, text)
}

// delivery holds the relevant parts of a request. The next request reuses its buffers.
type delivery struct {
	id, timestamp, signature []byte
	body                     []byte
	version                  int64
}

// read reads one request and returns its endpoint. If endpoint is nil, the path contains its number.
func (d *delivery) read(in *client.Reader, endpoint *Endpoint, all []*Endpoint) (*Endpoint, error) {
	line, err := in.ReadLine()
	if err != nil {
		return nil, err
	}
	if endpoint == nil {
		path, ok := bytes.CutPrefix(line, []byte("POST /hook/"))
		digits, _, _ := bytes.Cut(path, []byte(" "))
		number, err := strconv.Atoi(string(digits))
		if !ok || err != nil || number < 0 || number >= len(all) {
			return nil, fmt.Errorf("unexpected request %q", line)
		}
		endpoint = all[number]
	} else if !bytes.HasPrefix(line, []byte("POST ")) {
		return nil, fmt.Errorf("unexpected request %q", line)
	}
	d.id, d.timestamp, d.signature = d.id[:0], d.timestamp[:0], d.signature[:0]
	length := -1
	for {
		line, err := in.ReadLine()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case client.IsName(name, "Content-Length"):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return nil, fmt.Errorf("Content-Length %q is not a number", value)
			}
		case client.IsName(name, "webhook-id"):
			d.id = append(d.id, value...)
		case client.IsName(name, "webhook-timestamp"):
			d.timestamp = append(d.timestamp, value...)
		case client.IsName(name, "webhook-signature"):
			d.signature = append(d.signature, value...)
		}
	}
	if length < 0 {
		return nil, errors.New("the delivery has no Content-Length")
	}
	if d.body, err = in.ReadN(length); err != nil {
		return nil, err
	}
	_, version, _ := bytes.Cut(d.id, []byte(":v"))
	if d.version, err = strconv.ParseInt(string(version), 10, 64); err != nil {
		return nil, fmt.Errorf("the id %q does not end with a version", d.id)
	}
	return endpoint, nil
}

// check checks that the body starts with the id. If verify is set and the key is known, it also checks the signature.
func (d *delivery) check(endpoint *Endpoint, verify bool) error {
	const prefix = `{"id":"`
	if body, ok := bytes.CutPrefix(d.body, []byte(prefix)); !ok || !bytes.HasPrefix(body, d.id) {
		return fmt.Errorf("the body of %s does not start with its id: %s", d.id, client.Clip(d.body))
	}
	key := endpoint.key.Load()
	if !verify || key == nil {
		return nil
	}
	mac := hmac.New(sha256.New, *key)
	for _, part := range [][]byte{d.id, {'.'}, d.timestamp, {'.'}, d.body} {
		mac.Write(part)
	}
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); string(d.signature) != want {
		return fmt.Errorf("%s has the signature %q, want %q", d.id, d.signature, want)
	}
	return nil
}
