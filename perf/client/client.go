// Package client is a lightweight HTTP/1.1 client. It must use little processor time, because it runs on the same
// machine as the server that it measures.
//
// A request needs one write, as few reads as possible, and no allocation. The client understands Content-Length,
// chunked bodies and bodies that end with the connection, so it can read every response of the server.
package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// Request is an HTTP request. Reset prepares it for the next request and reuses its buffers.
type Request struct {
	Method string
	Path   []byte // including the query
	Head   []byte // additional header lines, each ending in CRLF
	Body   []byte // JSON, or empty
	Want   int    // the status that the caller expects; Do does not check it
}

// Reset starts a new request and keeps the buffers.
func (r *Request) Reset(method string, want int) {
	r.Method, r.Want = method, want
	r.Path, r.Head, r.Body = r.Path[:0], r.Head[:0], r.Body[:0]
}

// Client sends requests over one keep-alive connection. It must be used by one goroutine at a time.
type Client struct {
	Timeout time.Duration            // for connecting, and again from writing a request to the last byte of the response
	Dial    func() (net.Conn, error) // connects to the server instead of TCP; nil except in tests

	addr   string
	head   []byte // header lines of every request
	keys   string // prefix of the idempotency keys
	serial uint64 // suffix of the last idempotency key
	conn   net.Conn
	out    []byte
	in     Reader
	body   []byte // the joined chunks of a chunked response
}

// New returns a client for the server at addr. It connects when it sends the first request. The token may be empty.
// Requests other than GET have the idempotency keys "<name>-1", "<name>-2" and so on, so the name must be unique.
func New(addr, token, name string) *Client {
	head := "Host: " + addr + "\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	return &Client{addr: addr, head: []byte(head), keys: name + "-", Timeout: 10 * time.Second}
}

// Keys returns the prefix of the client's idempotency keys, which is unique to this client.
func (c *Client) Keys() string { return c.keys }

// Do sends the request and reads the whole response. The body is valid until the next call. Do does not treat any
// status as an error. After an error, Do closes the connection, and the next call connects again.
//
// If the server has closed an idle connection, Do connects again and retries once. Retrying a write is safe, because
// the idempotency key is the same.
func (c *Client) Do(r *Request) (status int, body []byte, err error) {
	c.compose(r)
	reused := c.conn != nil
	status, body, err = c.roundTrip()
	if err != nil && reused && !c.in.Received && IsClosed(err) {
		status, body, err = c.roundTrip()
	}
	return status, body, err
}

// Close closes the connection.
func (c *Client) Close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

func (c *Client) dial() (net.Conn, error) {
	if c.Dial != nil {
		return c.Dial()
	}
	return net.DialTimeout("tcp", c.addr, c.Timeout)
}

// compose writes the request into c.out.
func (c *Client) compose(r *Request) {
	b := append(c.out[:0], r.Method...)
	b = append(b, ' ')
	b = append(b, r.Path...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = append(b, c.head...)
	b = append(b, r.Head...)
	if r.Method != "GET" {
		c.serial++
		b = append(b, "Idempotency-Key: "...)
		b = append(b, c.keys...)
		b = strconv.AppendUint(b, c.serial, 10)
		b = append(b, "\r\nContent-Type: application/json\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(r.Body)), 10)
		b = append(b, "\r\n"...)
	}
	b = append(b, "\r\n"...)
	c.out = append(b, r.Body...)
}

func (c *Client) roundTrip() (status int, body []byte, err error) {
	c.in.Received = false
	if c.conn == nil {
		if c.conn, err = c.dial(); err != nil {
			c.conn = nil
			return 0, nil, fmt.Errorf("dial: %w", err)
		}
		c.in.conn = c.conn
	}
	keep := false
	defer func() {
		if err != nil || !keep {
			c.Close()
		}
	}()
	if err := c.conn.SetDeadline(time.Now().Add(c.Timeout)); err != nil {
		return 0, nil, fmt.Errorf("set deadline: %w", err)
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, nil, fmt.Errorf("write request: %w", err)
	}
	c.in.from, c.in.to = 0, 0
	h, err := c.readHead()
	if err != nil {
		return 0, nil, fmt.Errorf("read response head: %w", err)
	}
	body, err = c.readBody(&h)
	if err != nil {
		return 0, nil, fmt.Errorf("read response body: %w", err)
	}
	if c.in.from != c.in.to {
		return 0, nil, errors.New("the server sent bytes after the end of the response")
	}
	keep = h.keep
	return h.status, body, nil
}

// head holds the parts of a response's header that the client needs.
type head struct {
	status  int
	length  int // -1 if there is no Content-Length
	chunked bool
	keep    bool // whether the connection stays open
}

// readHead reads the status line and the header, and skips interim (1xx) responses.
func (c *Client) readHead() (head, error) {
	for {
		h, err := c.readOneHead()
		if err != nil || h.status >= 200 {
			return h, err
		}
	}
}

func (c *Client) readOneHead() (head, error) {
	h := head{length: -1}
	line, err := c.in.ReadLine()
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
		line, err := c.in.ReadLine()
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
		case IsName(name, "Content-Length"):
			if h.length, err = strconv.Atoi(string(value)); err != nil || h.length < 0 {
				return h, fmt.Errorf("Content-Length %q is not a number", value)
			}
		case IsName(name, "Transfer-Encoding"):
			h.chunked = IsName(value, "chunked")
		case IsName(name, "Connection"):
			h.keep = h.keep && !IsName(value, "close")
		}
	}
}

// readBody reads the body. It clears h.keep if the body ends with the connection.
func (c *Client) readBody(h *head) ([]byte, error) {
	switch {
	case h.status == 204 || h.status == 304:
		return nil, nil
	case h.chunked:
		return c.readChunks()
	case h.length >= 0:
		return c.in.ReadN(h.length)
	}
	h.keep = false
	for {
		err := c.in.fill()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return c.in.ReadN(c.in.to - c.in.from)
		}
		if err != nil {
			return nil, err
		}
	}
}

// readChunks reads a chunked body, joins the chunks and skips the trailer.
func (c *Client) readChunks() ([]byte, error) {
	c.body = c.body[:0]
	for {
		line, err := c.in.ReadLine()
		if err != nil {
			return nil, err
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 31)
		if err != nil {
			return nil, fmt.Errorf("chunk size %q is not a number", line)
		}
		if size == 0 {
			break
		}
		part, err := c.in.ReadN(int(size))
		if err != nil {
			return nil, err
		}
		c.body = append(c.body, part...)
		if len(c.body) > maxBuffer {
			return nil, errors.New("response is too long")
		}
		if line, err = c.in.ReadLine(); err != nil {
			return nil, err
		}
		if len(line) != 0 {
			return nil, errors.New("chunk is longer than its declared size")
		}
	}
	for {
		line, err := c.in.ReadLine()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			return c.body, nil
		}
	}
}
