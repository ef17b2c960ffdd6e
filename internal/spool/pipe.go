package spool

import (
	"context"
	"errors"
	"io"
	"sync"
)

const (
	pipeMemory  = 1 << 20  // bytes of a pipe in memory
	pieceSize   = 64 << 10 // bytes that are written at once
	segmentSize = 8 << 20  // bytes of one file
	pipeBehind  = 64 << 20 // unread bytes from which the reader of a pipe is behind
)

// ErrClosed means that the reader of a pipe has closed it.
var ErrClosed = errors.New("the reader of the pipe has gone")

// Pipe passes bytes from a fast writer to a slow reader. The writer never waits:
// unread bytes are in memory, and beyond 1 MB in files. Files are removed as they are
// read.
type Pipe struct {
	folder *Folder
	most   int64 // unread bytes

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	segments []*segment    // unread, in order
	unread   int64
	memory   int64 // of unread, those in memory
	ended    bool
	err      error // of the writer
	closed   bool
}

// pieces are buffers of segments, used again because an export would otherwise
// leave its own size in garbage.
var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// segment is a part of a pipe, in memory or in a file.
type segment struct {
	piece  *[pieceSize]byte
	filled int64 // bytes of piece
	file   *File
	read   int64
}

func (s *segment) size() int64 {
	if s.file != nil {
		return s.file.Size()
	}
	return s.filled
}

// Pipe returns a pipe whose unread bytes may fill at most a quarter of the folder.
func (f *Folder) Pipe() *Pipe {
	return &Pipe{folder: f, most: f.limit / 4, changed: make(chan struct{})}
}

// signal wakes everyone who waits for a change. The caller must hold the lock.
func (p *Pipe) signal() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Write implements io.Writer. It returns ErrFull if the reader is too far behind, and
// ErrClosed if the reader has closed the pipe.
func (p *Pipe) Write(b []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.signal()
	for n < len(b) && err == nil {
		var wrote int
		switch {
		case p.closed:
			return n, ErrClosed
		case p.unread >= p.most:
			return n, ErrFull
		case p.memory < pipeMemory && !p.inFiles():
			wrote = p.writeMemory(b[n:])
			p.memory += int64(wrote)
		default:
			wrote, err = p.writeFile(b[n:min(len(b), n+pieceSize)])
		}
		n += wrote
		p.unread += int64(wrote)
	}
	return n, err
}

// inFiles reports whether the newest unread bytes are in a file.
func (p *Pipe) inFiles() bool {
	return len(p.segments) > 0 && p.segments[len(p.segments)-1].file != nil
}

// writeMemory fills the newest piece, or a new one.
func (p *Pipe) writeMemory(b []byte) int {
	if n := len(p.segments); n == 0 || p.segments[n-1].filled == pieceSize {
		p.segments = append(p.segments, &segment{piece: pieces.Get().(*[pieceSize]byte)})
	}
	s := p.segments[len(p.segments)-1]
	n := copy(s.piece[s.filled:], b)
	s.filled += int64(n)
	return n
}

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

// End marks the end of the pipe. The error is not nil if the writer failed.
func (p *Pipe) End(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.err = true, err
	p.signal()
}

// Next returns the next bytes, at most as many as buf holds. At the end it returns
// io.EOF or the error of the writer.
func (p *Pipe) Next(ctx context.Context, buf []byte) (int, error) {
	for {
		p.mu.Lock()
		n, err := p.take(buf)
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

// take returns the next bytes, or 0 if there are none yet. The caller must hold the
// lock.
func (p *Pipe) take(buf []byte) (n int, err error) {
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
		n = copy(buf, s.piece[s.read:s.filled])
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
		pieces.Put(s.piece)
		return nil
	}
	return s.file.Close()
}

// Behind reports whether the reader is so far behind that the writer should wait, if
// it can.
func (p *Pipe) Behind() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unread >= min(pipeBehind, p.most/2)
}

// Drained waits until all bytes have been read.
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
