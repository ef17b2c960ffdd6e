package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"
)

// maxAnswer bounds what the client keeps of one answer.
const maxAnswer = 64 << 20

// request is one HTTP request. Its buffers are filled anew for each one.
type request struct {
	method string
	path   []byte // with the query
	head   []byte // more header lines, each with its end
	body   []byte // JSON, or empty
	want   int    // the only status that is no error
}

// reset begins a new request and keeps the buffers.
func (r *request) reset(method string, want int) {
	r.method, r.want = method, want
	r.path, r.head, r.body = r.path[:0], r.head[:0], r.body[:0]
}

// client speaks HTTP/1.1 over one keep-alive connection, for one goroutine.
//
// It is written by hand because the load shares its processors with the server: a request costs one write, as few
// reads as the answer needs, and no allocation. It understands Content-Length, chunked bodies and bodies that end with
// the connection, which is all that a server may send.
type client struct {
	addr    string
	head    []byte        // header lines that every request has
	keys    string        // the beginning of this client's idempotency keys
	serial  uint64        // the end of the last one
	timeout time.Duration // for one request, from writing to the last byte

	conn      net.Conn
	out       []byte
	in        []byte // what was read; in[from:to] is still to be parsed
	from, to  int
	body      []byte // the parts of a chunked answer, put together
	sawAnswer bool   // a byte of the present answer has come
}

// newClient makes a client of the server at addr, which it dials at the first request. The token may be empty. Writes
// carry the idempotency keys "bench-<name>-1", "bench-<name>-2" and so on; the name has to be unique.
func newClient(addr, token, name string) *client {
	head := "Host: " + addr + "\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	return &client{
		addr:    addr,
		head:    []byte(head),
		keys:    "bench-" + name + "-",
		timeout: 10 * time.Second,
		in:      make([]byte, 64<<10),
	}
}

// do sends the request and reads the whole answer. The body is valid until the next call. Any status is an answer, not
// an error; an error closes the connection, and the next call dials again.
//
// A connection that the server closed while it was idle is dialled again once. Writing twice does no harm, because the
// idempotency key stays the same.
func (c *client) do(r *request) (status int, body []byte, err error) {
	c.compose(r)
	reused := c.conn != nil
	status, body, err = c.roundTrip()
	if err != nil && reused && !c.sawAnswer && isClosed(err) {
		status, body, err = c.roundTrip()
	}
	return status, body, err
}

// close ends the connection.
func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// compose writes the request into c.out.
func (c *client) compose(r *request) {
	b := append(c.out[:0], r.method...)
	b = append(b, ' ')
	b = append(b, r.path...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = append(b, c.head...)
	b = append(b, r.head...)
	if r.method != "GET" {
		c.serial++
		b = append(b, "Idempotency-Key: "...)
		b = append(b, c.keys...)
		b = strconv.AppendUint(b, c.serial, 10)
		b = append(b, "\r\nContent-Type: application/json\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(r.body)), 10)
		b = append(b, "\r\n"...)
	}
	b = append(b, "\r\n"...)
	c.out = append(b, r.body...)
}

func (c *client) roundTrip() (status int, body []byte, err error) {
	c.sawAnswer = false
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("tcp", c.addr, c.timeout); err != nil {
			c.conn = nil
			return 0, nil, fmt.Errorf("dial: %w", err)
		}
	}
	keep := false
	defer func() {
		if err != nil || !keep {
			c.close()
		}
	}()
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, nil, fmt.Errorf("set deadline: %w", err)
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, nil, fmt.Errorf("write request: %w", err)
	}
	c.from, c.to = 0, 0
	h, err := c.readHead()
	if err != nil {
		return 0, nil, fmt.Errorf("read head of the answer: %w", err)
	}
	body, err = c.readBody(&h)
	if err != nil {
		return 0, nil, fmt.Errorf("read body of the answer: %w", err)
	}
	if c.from != c.to {
		return 0, nil, errors.New("bytes after the end of the answer")
	}
	keep = h.keep
	return h.status, body, nil
}

// head is what the client needs of an answer's header.
type head struct {
	status  int
	length  int // -1: not said
	chunked bool
	keep    bool // the connection stays open
}

// readHead reads the status line and the header, past interim (1xx) answers.
func (c *client) readHead() (head, error) {
	for {
		h, err := c.readOneHead()
		if err != nil || h.status >= 200 {
			return h, err
		}
	}
}

func (c *client) readOneHead() (head, error) {
	h := head{length: -1}
	line, err := c.readLine()
	if err != nil {
		return h, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) || line[8] != ' ' {
		return h, fmt.Errorf("status line %q is not HTTP/1", line)
	}
	if h.status, err = strconv.Atoi(string(line[9:12])); err != nil || h.status < 100 {
		return h, fmt.Errorf("status line %q has no status", line)
	}
	h.keep = line[7] == '1'
	for {
		line, err := c.readLine()
		if err != nil {
			return h, err
		}
		if len(line) == 0 {
			return h, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return h, fmt.Errorf("header line %q has no colon", line)
		}
		value = bytes.TrimSpace(value)
		switch {
		case isName(name, "Content-Length"):
			if h.length, err = strconv.Atoi(string(value)); err != nil || h.length < 0 {
				return h, fmt.Errorf("content length %q is no number", value)
			}
		case isName(name, "Transfer-Encoding"):
			h.chunked = isName(value, "chunked")
		case isName(name, "Connection"):
			h.keep = h.keep && !isName(value, "close")
		}
	}
}

// isName compares without regard to case, and with the length first because most lines differ there.
func isName(b []byte, name string) bool {
	return len(b) == len(name) && bytes.EqualFold(b, []byte(name))
}

// readBody reads the body that the head announces and clears h.keep where only the end of the connection ends it.
func (c *client) readBody(h *head) ([]byte, error) {
	switch {
	case h.status == 204 || h.status == 304:
		return nil, nil
	case h.chunked:
		return c.readChunks()
	case h.length >= 0:
		return c.readN(h.length)
	}
	h.keep = false
	for {
		err := c.fill()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return c.readN(c.to - c.from)
		}
		if err != nil {
			return nil, err
		}
	}
}

// readChunks puts the chunks together and reads past the trailer.
func (c *client) readChunks() ([]byte, error) {
	c.body = c.body[:0]
	for {
		line, err := c.readLine()
		if err != nil {
			return nil, err
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 31)
		if err != nil {
			return nil, fmt.Errorf("chunk size %q is no number", line)
		}
		if size == 0 {
			break
		}
		part, err := c.readN(int(size))
		if err != nil {
			return nil, err
		}
		c.body = append(c.body, part...)
		if len(c.body) > maxAnswer {
			return nil, errors.New("answer is too long")
		}
		if line, err = c.readLine(); err != nil {
			return nil, err
		}
		if len(line) != 0 {
			return nil, errors.New("chunk is longer than its size")
		}
	}
	for {
		line, err := c.readLine()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			return c.body, nil
		}
	}
}

// readLine answers the next line without its end. The line is valid until the next read.
func (c *client) readLine() ([]byte, error) {
	seen := 0
	for {
		if i := bytes.IndexByte(c.in[c.from+seen:c.to], '\n'); i >= 0 {
			line := c.in[c.from : c.from+seen+i]
			c.from += seen + i + 1
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		seen = c.to - c.from
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
}

// readN answers the next n bytes, valid until the next read.
func (c *client) readN(n int) ([]byte, error) {
	for c.to-c.from < n {
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
	c.from += n
	return c.in[c.from-n : c.from], nil
}

// fill reads once from the connection and makes room for it first.
func (c *client) fill() error {
	if c.to == len(c.in) {
		if c.from > 0 {
			c.to = copy(c.in, c.in[c.from:c.to])
			c.from = 0
		} else if len(c.in) >= maxAnswer {
			return errors.New("answer is too long")
		} else {
			c.in = append(c.in, make([]byte, len(c.in))...)
		}
	}
	n, err := c.conn.Read(c.in[c.to:])
	c.to += n
	if n > 0 {
		c.sawAnswer = true
		return nil
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// isClosed says whether the other side had closed the connection.
func isClosed(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
