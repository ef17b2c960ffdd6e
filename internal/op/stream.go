package op

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/filename"
	"cardwall/internal/spool"
	"cardwall/internal/store"
)

const (
	streamsPerOwner = 2                // maximum number of concurrent streams per person
	maxStreams      = 32               // maximum number of concurrent streams of the server
	streamWait      = 50 * time.Second // longest wait of a new stream for a slot; many proxies time out after a minute
	streamRetry     = 5 * time.Second  // Retry-After header
	sendSize        = 32 << 10         // maximum number of bytes per write to the client
)

// Document is the output type of an operation that streams a document instead of
// returning an envelope.
type Document struct{}

// JSON is the default media type of streams.
const JSON = "application/json"

// Media sets the media type of a stream.
func Media(kind string) Option { return option(func(o *Operation) { o.Media = kind }) }

// Writes says that a stream writes a JSON document with the members of T.
func Writes[T any]() Option { return option(func(o *Operation) { o.Written = reflect.TypeFor[T]() }) }

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
// 2026-11-23.json". The operation must call it before the first write.
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
// The operation reads the database as fast as possible and writes the document to a
// spool. The client reads the spool at its own rate. So a slow client does not occupy a
// connection, a snapshot or a slot. Unless the operation calls Yield, the whole document
// is from one snapshot. A bounded buffer would require several snapshots, and a card
// that is moved between two of them could be missing.
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
	end, err := e.streams.Start(c.Caller.UserID, "exports", streamsPerOwner, maxStreams)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithCancel(ctx)
	d := &document{Pipe: e.o.Spool.Pipe(), slots: e.slots}
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

// produce waits for a stream slot and runs the operation.
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
	slots   chan struct{} // one element for each stream that is reading from the database
	hasSlot bool          // whether the producer holds a slot; used only by the producer
	begun   bool          // whether anything has been written; used only by the producer
	name    string        // set before the first write and read after it
}

// NameDocument sets the file name of the document. It panics after the first write,
// because the name may already have been sent.
func (d *document) NameDocument(name string) {
	if d.begun {
		panic("op: NameDocument called after the first write")
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
	case d.slots <- struct{}{}:
		d.hasSlot = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *document) releaseSlot() {
	if d.hasSlot {
		<-d.slots
		d.hasSlot = false
	}
}

// send writes the document to w as it is produced.
func (d *document) send(ctx context.Context, w io.Writer) error {
	buf := make([]byte, sendSize)
	for begun := false; ; begun = true {
		n, err := d.Next(ctx, buf)
		if n > 0 || err == io.EOF && !begun { // an empty document has a name and headers as well
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
// behind. An operation may call it between parts of a document that need not be from
// the same moment. If Yield reports that the stream has paused, the operation must
// load its records and permissions again.
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
