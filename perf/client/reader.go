package client

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
)

// maxBuffer is the maximum size of a Reader's buffer.
const maxBuffer = 64 << 20

// Reader reads lines and bodies of known length from a connection. It reads into one buffer, which grows as needed.
type Reader struct {
	Received bool // whether a byte has arrived; a Client clears it before each request

	conn     net.Conn
	buf      []byte // buf[from:to] has been read but not parsed
	from, to int
}

// NewReader returns a Reader that reads from conn.
func NewReader(conn net.Conn) *Reader { return &Reader{conn: conn} }

// ReadLine returns the next line without its line ending. The line is valid until the next read.
func (r *Reader) ReadLine() ([]byte, error) {
	scanned := 0
	for {
		if i := bytes.IndexByte(r.buf[r.from+scanned:r.to], '\n'); i >= 0 {
			line := r.buf[r.from : r.from+scanned+i]
			r.from += scanned + i + 1
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		scanned = r.to - r.from
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// ReadN returns the next n bytes, which are valid until the next read.
func (r *Reader) ReadN(n int) ([]byte, error) {
	for r.to-r.from < n {
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
	r.from += n
	return r.buf[r.from-n : r.from], nil
}

// fill makes room in the buffer and reads once from the connection.
func (r *Reader) fill() error {
	if r.to == len(r.buf) {
		switch {
		case r.from > 0:
			r.to = copy(r.buf, r.buf[r.from:r.to])
			r.from = 0
		case len(r.buf) >= maxBuffer:
			return errors.New("message is too long")
		default:
			r.buf = append(r.buf, make([]byte, max(len(r.buf), 4<<10))...)
		}
	}
	n, err := r.conn.Read(r.buf[r.to:])
	r.to += n
	if n > 0 {
		r.Received = true
		return nil
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// IsClosed reports whether an error means that the peer closed the connection.
func IsClosed(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// IsName reports whether two header names are equal, ignoring case. It compares the lengths first, because most names
// differ in length.
func IsName(b []byte, name string) bool {
	return len(b) == len(name) && bytes.EqualFold(b, []byte(name))
}

// Clip trims white space around body and returns at most the first 400 bytes, for use in a message.
func Clip(body []byte) []byte {
	body = bytes.TrimSpace(body)
	return body[:min(len(body), 400)]
}
