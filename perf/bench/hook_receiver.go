package main

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

// manner is how a receiver treats what it is sent.
type manner int

const (
	takes   manner = iota // answers 204 at once
	fails                 // answers 500 at once
	drags                 // answers 204 after dragTime
	hangs                 // answers after hangTime, when the sender has given up
	refuses               // nobody listens
)

const (
	dragTime = 2 * time.Second
	hangTime = 10 * time.Second
)

// verifyEvery is how many deliveries of a connection come between two whose signature is checked.
const verifyEvery = 32

// receivers are the endpoints of webhooks, each behind a port of its own, as most of the world's are behind hosts of
// their own. They speak the least HTTP/1.1 that a sender needs, because they share the processors with it.
type receivers struct {
	got atomic.Int64 // deliveries that endpoints took which take at once

	mu        sync.Mutex
	endpoints []*endpoint
	listeners []net.Listener
	deaf      []int          // sockets that refuse
	lines     map[*line]bool // connections
	closed    bool
	all       sync.WaitGroup
	left      tally // of connections that have ended
}

// endpoint is where one webhook is sent to.
type endpoint struct {
	number int
	manner manner
	url    string
	key    atomic.Pointer[[]byte] // that the webhook signs with, once it is known
	asked  atomic.Int64           // requests that came
}

// receipt is a delivery that came.
type receipt struct {
	event
	id string
	at time.Time
}

// event is a change of a board, for one endpoint.
type event struct {
	endpoint int
	version  int64
}

// tally is what came since it was last asked for.
type tally struct {
	receipts []receipt
	faults   []string
}

// line is one connection.
type line struct {
	conn  net.Conn
	point *endpoint // of a port of its own; nil when the path says which
	mu    sync.Mutex
	tally tally
}

func newReceivers() *receivers { return &receivers{lines: make(map[*line]bool)} }

// open adds so many endpoints of a manner. With oneHost all of them are behind one port.
func (r *receivers) open(n int, m manner, oneHost bool) ([]*endpoint, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var added []*endpoint
	shared := ""
	for i := range n {
		e := &endpoint{number: len(r.endpoints), manner: m}
		addr, own := shared, e
		switch {
		case m == refuses:
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
			r.all.Go(func() { r.accept(l, own) })
		}
		e.url = "http://" + addr + "/hook/" + strconv.Itoa(e.number)
		r.endpoints = append(r.endpoints, e)
		added = append(added, e)
	}
	return added, nil
}

// refuse answers an address that nobody listens at, and that nobody else can take.
func (r *receivers) refuse() (addr string, err error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("make socket: %w", err)
	}
	r.deaf = append(r.deaf, socket)
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", fmt.Errorf("bind socket: %w", err)
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		return "", fmt.Errorf("name socket: %w", err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port)), nil
}

// knows tells an endpoint the secret that its webhook signs with.
func (e *endpoint) knows(secret string) error {
	text, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil {
		return errors.New("the signing secret is not whsec_ and base64")
	}
	e.key.Store(&key)
	return nil
}

// close ends all connections and waits for their end.
func (r *receivers) close() {
	r.mu.Lock()
	r.closed = true
	for _, l := range r.listeners {
		l.Close()
	}
	for l := range r.lines {
		l.conn.Close()
	}
	for _, socket := range r.deaf {
		syscall.Close(socket)
	}
	r.mu.Unlock()
	r.all.Wait()
}

func (r *receivers) accept(listener net.Listener, point *endpoint) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return // closed
		}
		l := &line{conn: conn, point: point}
		r.mu.Lock()
		if r.closed {
			conn.Close()
		} else {
			r.lines[l] = true
			r.all.Go(func() { r.serve(l) })
		}
		r.mu.Unlock()
	}
}

// taken answers what came since it was last called.
func (r *receivers) taken() tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.left
	r.left = tally{}
	for l := range r.lines {
		l.mu.Lock()
		t.add(&l.tally)
		l.tally.receipts, l.tally.faults = l.tally.receipts[:0], nil
		l.mu.Unlock()
	}
	return t
}

func (t *tally) add(other *tally) {
	t.receipts = append(t.receipts, other.receipts...)
	t.faults = append(t.faults, other.faults...)
}

// serve answers the requests of one connection.
func (r *receivers) serve(l *line) {
	defer func() {
		l.conn.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.lines, l)
		r.left.add(&l.tally)
	}()
	in := client.NewReader(l.conn)
	var d delivery
	for n := 0; ; n++ {
		point, err := d.read(in, l.point, r.endpoints)
		at := time.Now()
		if err != nil {
			if in.Received && !client.IsClosed(err) && !errors.Is(err, net.ErrClosed) {
				l.fault("read a delivery: " + err.Error())
			}
			return
		}
		point.asked.Add(1)
		if err := d.look(point, n%verifyEvery == 0); err != nil {
			l.fault(err.Error())
		}
		answer := "HTTP/1.1 204 No Content\r\n\r\n"
		switch point.manner {
		case fails:
			answer = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 7\r\n\r\nbroken\n"
		case drags:
			time.Sleep(dragTime)
		case hangs:
			time.Sleep(hangTime)
		case takes, refuses:
		}
		if _, err := l.conn.Write([]byte(answer)); err != nil {
			return
		}
		if point.manner == takes {
			l.mu.Lock()
			l.tally.receipts = append(l.tally.receipts, receipt{event{point.number, d.version}, string(d.id), at})
			l.mu.Unlock()
			r.got.Add(1)
		}
	}
}

func (l *line) fault(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally.faults = append(l.tally.faults, text)
}

// delivery is a request as the receiver needs it. Its buffers are filled anew for each one.
type delivery struct {
	id, timestamp, signature []byte
	body                     []byte
	version                  int64
}

// read reads one request whole.
func (d *delivery) read(in *client.Reader, point *endpoint, all []*endpoint) (*endpoint, error) {
	line, err := in.ReadLine()
	if err != nil {
		return nil, err
	}
	if point == nil {
		path, ok := bytes.CutPrefix(line, []byte("POST /hook/"))
		digits, _, _ := bytes.Cut(path, []byte(" "))
		number, err := strconv.Atoi(string(digits))
		if !ok || err != nil || number < 0 || number >= len(all) {
			return nil, fmt.Errorf("%q is no request that was asked for", line)
		}
		point = all[number]
	} else if !bytes.HasPrefix(line, []byte("POST ")) {
		return nil, fmt.Errorf("%q is no request that was asked for", line)
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
				return nil, fmt.Errorf("content length %q is no number", value)
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
		return nil, errors.New("a delivery has no Content-Length")
	}
	if d.body, err = in.ReadN(length); err != nil {
		return nil, err
	}
	_, version, _ := bytes.Cut(d.id, []byte(":v"))
	if d.version, err = strconv.ParseInt(string(version), 10, 64); err != nil {
		return nil, fmt.Errorf("the id %q ends in no version", d.id)
	}
	return point, nil
}

// look checks that the body is of the id, and thoroughly also the signature.
func (d *delivery) look(point *endpoint, thoroughly bool) error {
	const before = `{"id":"`
	if body, ok := bytes.CutPrefix(d.body, []byte(before)); !ok || !bytes.HasPrefix(body, d.id) {
		return fmt.Errorf("the body of %s does not begin with its id: %s", d.id, client.Clip(d.body))
	}
	key := point.key.Load()
	if !thoroughly || key == nil {
		return nil
	}
	mac := hmac.New(sha256.New, *key)
	for _, part := range [][]byte{d.id, {'.'}, d.timestamp, {'.'}, d.body} {
		mac.Write(part)
	}
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); string(d.signature) != want {
		return fmt.Errorf("%s is signed %q instead of %q", d.id, d.signature, want)
	}
	return nil
}
