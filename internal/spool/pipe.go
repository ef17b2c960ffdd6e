package spool

import (
	"context"
	"errors"
	"io"
	"sync"
)

const (
	pipeMemory  = 1 << 20  // maximum number of unread bytes of a pipe in memory
	chunkSize   = 64 << 10 // bytes of one buffer, and maximum number of bytes per write to a file
	segmentSize = 8 << 20  // size from which a pipe starts a new file
	pipeBehind  = 64 << 20 // number of unread bytes from which Behind returns true, unless the pipe's limit is small
)

// ErrClosed means that the reader has closed the pipe.
var ErrClosed = errors.New("the pipe is closed")

// Pipe passes bytes from a fast writer to a slow reader. The writer never waits for the
// reader: up to 1 MiB of unread bytes is in memory, and the rest is in files. A file is
// removed when all of it has been read.
type Pipe struct {
	folder *Folder
	limit  int64 // maximum number of unread bytes

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced on every change
	segments []*segment    // segments with unread bytes, in order
	unread   int64         // number of unread bytes
	memory   int64         // number of unread bytes in memory
	ended    bool          // the writer has called End
	err      error         // error of the writer
	closed   bool          // the reader has called Close
}

// buffers is a pool of buffers for segments. Without the pool, an export would allocate
// as many bytes as it writes.
var buffers = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// segment is a part of a pipe, in memory or in a file.
type segment struct {
	buffer *[chunkSize]byte // nil for a file
	filled int64            // number of bytes in buffer
	file   *File            // nil for memory
	read   int64            // number of bytes that have been read
}

func (s *segment) size() int64 {
	if s.file != nil {
		return s.file.Size()
	}
	return s.filled
}

// Pipe returns a pipe whose unread bytes can use up to a quarter of the folder's limit.
func (f *Folder) Pipe() *Pipe {
	return &Pipe{folder: f, limit: f.limit / 4, changed: make(chan struct{})}
}

// signal wakes all goroutines that wait for a change. The caller must hold the lock.
func (p *Pipe) signal() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Write implements io.Writer. It returns ErrFull if there are too many unread bytes or
// the folder is full, and ErrClosed if the reader has closed the pipe.
func (p *Pipe) Write(b []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.signal()
	for n < len(b) && err == nil {
		var wrote int
		switch {
		case p.closed:
			return n, ErrClosed
		case p.unread >= p.limit:
			return n, ErrFull
		case p.memory < pipeMemory && !p.inFiles():
			wrote = p.writeMemory(b[n:])
			p.memory += int64(wrote)
		default:
			wrote, err = p.writeFile(b[n:min(len(b), n+chunkSize)])
		}
		n += wrote
		p.unread += int64(wrote)
	}
	return n, err
}

// inFiles reports whether the last segment is a file.
func (p *Pipe) inFiles() bool {
	return len(p.segments) > 0 && p.segments[len(p.segments)-1].file != nil
}

// writeMemory copies bytes to the last buffer, or to a new buffer if the last one is
// full. It returns the number of bytes copied.
func (p *Pipe) writeMemory(b []byte) int {
	if n := len(p.segments); n == 0 || p.segments[n-1].filled == chunkSize {
		p.segments = append(p.segments, &segment{buffer: buffers.Get().(*[chunkSize]byte)})
	}
	s := p.segments[len(p.segments)-1]
	n := copy(s.buffer[s.filled:], b)
	s.filled += int64(n)
	return n
}

// writeFile appends b to the last file, or to a new file if the last one is full.
func (p *Pipe) writeFile(b []byte) (int, error) {
	if !p.inFiles() || p.segments[len(p.segments)-1].size() >= segmentSize {
		file, err := p.folder.Create()
		if err != nil {
			return 0, err
		}
		p.segments = append(p.segments, &segment{file: file})
	}
	return p.segments[len(p.segments)-1].file.Write(b)
}

// End marks the end of the data. If err is not nil, the reader gets it instead of io.EOF.
func (p *Pipe) End(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.err = true, err
	p.signal()
}

// Next waits for unread bytes, copies the next ones to buf and returns their number. At
// the end, it returns io.EOF or the error of the writer. If ctx ends first, it returns the
// error of ctx.
func (p *Pipe) Next(ctx context.Context, buf []byte) (int, error) {
	for {
		p.mu.Lock()
		n, err := p.read(buf)
		changed := p.changed
		p.mu.Unlock()
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// read copies the next bytes to buf. It returns 0 if there are none yet. The caller must
// hold the lock.
func (p *Pipe) read(buf []byte) (n int, err error) {
	if len(p.segments) == 0 {
		switch {
		case p.err != nil:
			return 0, p.err
		case p.ended:
			return 0, io.EOF
		}
		return 0, nil
	}
	s := p.segments[0]
	if s.file == nil {
		n = copy(buf, s.buffer[s.read:s.filled])
		p.memory -= int64(n)
	} else if n, err = s.file.file.ReadAt(buf[:min(int64(len(buf)), s.size()-s.read)], s.read); err != nil {
		return 0, err
	}
	s.read += int64(n)
	p.unread -= int64(n)
	if s.read == s.size() {
		p.segments = p.segments[1:]
		err = s.remove()
	}
	p.signal()
	return n, err
}

func (s *segment) remove() error {
	if s.file == nil {
		buffers.Put(s.buffer)
		return nil
	}
	return s.file.Close()
}

// Behind reports whether the writer should pause if it can, because many bytes are unread.
func (p *Pipe) Behind() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unread >= min(pipeBehind, p.limit/2)
}

// Drained waits until all bytes have been read. It returns ErrClosed if the reader closes
// the pipe, and the error of ctx if ctx ends first.
func (p *Pipe) Drained(ctx context.Context) error {
	for {
		p.mu.Lock()
		unread, closed, changed := p.unread, p.closed, p.changed
		p.mu.Unlock()
		switch {
		case closed:
			return ErrClosed
		case unread == 0:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close discards the unread bytes. Further writes return ErrClosed.
func (p *Pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var errs []error
	for _, s := range p.segments {
		errs = append(errs, s.remove())
	}
	p.segments, p.unread, p.memory = nil, 0, 0
	p.signal()
	return errors.Join(errs...)
}
