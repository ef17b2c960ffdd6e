package op

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/filename"
	"cardwall/internal/spool"
	"cardwall/internal/store"
)

const (
	streamsPerOwner = 2                // streams that one person may read at a time
	maxStreams      = 32               // streams of the server at a time
	streamWait      = 50 * time.Second // longest wait of a new stream for a slot; proxies wait a minute for a response
	streamRetry     = 5 * time.Second  // Retry-After
	sendSize        = 32 << 10         // bytes that are sent at once
)

// Document is the output of an operation that streams a document of its own
// instead of the envelope.
type Document struct{}

// JSON is the default media type of streams.
const JSON = "application/json"

// Media sets the media type of a stream.
func Media(kind string) Option { return option(func(o *Operation) { o.Media = kind }) }

// Stream registers an operation that writes one long document. If the operation
// fails after it has written something, the response is cut off. The format of
// a JSON document must make that detectable.
func Stream[I any](r *Registry, name, route, text string, fn func(context.Context, *store.View, I, io.Writer) error, options ...Option) {
	o := register[I, Document](r, name, route, text, board.ScopeRead, options)
	o.ReadOnly, o.Report = true, true
	o.Media = cmp.Or(o.Media, JSON)
	o.stream = func(ctx context.Context, v *store.View, in any, w io.Writer) error { return fn(ctx, v, *in.(*I), w) }
}

// NameDocument suggests a file name to the reader of a stream, such as "Launch
// 2026-11-23.json". The operation must call it before it writes.
func NameDocument(w io.Writer, title string, at time.Time, extension string) {
	if named, ok := w.(interface{ NameDocument(name string) }); ok {
		named.NameDocument(filename.Of(title, at, extension))
	}
}

// Streams reports whether the operation streams a document.
func (o *Operation) Streams() bool { return o.stream != nil }

// DoStream runs one call of a streaming operation. An error before the first
// byte is reported like the error of any other operation.
func (e *Engine) DoStream(ctx context.Context, c Call, w io.Writer) (err error) {
	e.watched(ctx, c, func(ctx context.Context) (bool, error) {
		err = e.doStream(ctx, c, w)
		return false, err
	})
	return err
}

// doStream produces the document in the background and sends it to w.
//
// A document is read from the database as fast as possible, in one snapshot, into
// a spool that the client empties at its own pace. So a slow client does not
// occupy a connection, a snapshot or a slot, and every board in the document is of
// one moment. With a bounded buffer, the parts of the document would be of
// different moments, and a card that is moved in between could be missing.
func (e *Engine) doStream(ctx context.Context, c Call, w io.Writer) error {
	if err := e.permit(ctx, c); err != nil {
		return err
	}
	in, err := c.Operation.Input.decode(c.Arguments)
	if err != nil {
		return err
	}
	if err := e.CheckLoad(c.Operation); err != nil {
		return err
	}
	leave, err := e.streams.enter(c.Caller.UserID)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancel(ctx)
	d := &document{Pipe: e.Spool.Pipe(), streams: e.streams}
	produced := make(chan struct{})
	go func() {
		defer close(produced)
		d.End(e.produce(ctx, c, in, d))
	}()
	err = d.send(ctx, w)
	cancel()
	if closing := d.Close(); err == nil {
		err = closing
	}
	<-produced
	if errors.Is(err, spool.ErrFull) {
		err = fmt.Errorf("%w: %w", &board.Fault{
			Code: board.CodeUnavailable, Reason: board.ReasonSpoolFull, RetryAfter: streamRetry,
			Message: "The server has no room for the document while it is being sent. Try again later, or export single boards.",
		}, err)
	}
	return err
}

// produce runs the operation with a slot for streams.
func (e *Engine) produce(ctx context.Context, c Call, in any, d *document) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in a stream: %v\n%s", v, debug.Stack())
		}
	}()
	first, stop := context.WithTimeout(ctx, streamWait)
	defer stop()
	if err := d.takeSlot(first); err != nil {
		if ctx.Err() == nil {
			e.admission.shed(reports)
			err = overloadError(reports)
		}
		return err
	}
	defer d.releaseSlot()
	return e.db.Stream(ctx, c.Caller, func(v *store.View) error { return c.Operation.stream(ctx, v, in, d) })
}

// document is a stream between the operation and its reader.
type document struct {
	*spool.Pipe
	streams *streams
	holds   bool   // a slot; only the producer uses it
	begun   bool   // whether it was written to; only the producer uses it
	name    string // set before the first byte, and read after it
}

// NameDocument sets the file name of the document. It panics after the first byte:
// the name may have been sent by then.
func (d *document) NameDocument(name string) {
	if d.begun {
		panic("op: a document is named after it was begun")
	}
	d.name = name
}

// Write adds a part of the document.
func (d *document) Write(p []byte) (int, error) {
	d.begun = d.begun || len(p) > 0
	return d.Pipe.Write(p)
}

func (d *document) takeSlot(ctx context.Context) error {
	select {
	case d.streams.slots <- struct{}{}:
		d.holds = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *document) releaseSlot() {
	if d.holds {
		<-d.streams.slots
		d.holds = false
	}
}

// send writes the document to w as it is produced.
func (d *document) send(ctx context.Context, w io.Writer) error {
	buf := make([]byte, sendSize)
	for begun := false; ; begun = true {
		n, err := d.Next(ctx, buf)
		if n > 0 {
			if named, ok := w.(interface{ NameDocument(name string) }); ok && !begun && d.name != "" {
				named.NameDocument(d.name)
			}
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Yield lets a stream end its snapshot and release its slot while its reader is far
// behind. An operation may call it between parts of a document that need not be of
// the same moment. If Yield reports that the stream has paused, the operation must
// load its records and rights again.
func Yield(ctx context.Context, v *store.View, w io.Writer) (paused bool, err error) {
	d, ok := w.(*document)
	if !ok || !d.Behind() {
		return false, nil
	}
	return true, v.Pause(ctx, func() error {
		d.releaseSlot()
		if err := d.Drained(ctx); err != nil {
			return err
		}
		return d.takeSlot(ctx)
	})
}

// streams counts the open streams of each person and of the server.
type streams struct {
	slots chan struct{} // of streams that read from the database
	mu    sync.Mutex
	open  map[string]int
	all   int
}

func newStreams(slots int) *streams {
	return &streams{open: map[string]int{}, slots: make(chan struct{}, slots)}
}

func (s *streams) enter(userID string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open[userID] >= streamsPerOwner:
		return nil, tooManyStreams("At most two exports can run at a time. Wait until one has finished.")
	case s.all >= maxStreams:
		return nil, tooManyStreams("The server is sending as many exports as it can. Try again in a moment.")
	}
	s.open[userID]++
	s.all++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.open[userID]--; s.open[userID] == 0 {
			delete(s.open, userID)
		}
	}, nil
}

func tooManyStreams(message string) error {
	return &board.Fault{
		Code: board.CodeRateLimited, Reason: board.ReasonTooManyAtOnce, RetryAfter: streamRetry, Message: message,
	}
}
