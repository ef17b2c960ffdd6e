package op

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/filename"
	"cardwall/internal/store"
)

// streamsPerOwner is how many streams one person may read at a time.
const streamsPerOwner = 2

// Document is the output of an operation that streams a document of its own
// instead of the envelope.
type Document struct{}

// JSON is the default media type of streams.
const JSON = "application/json"

// Media sets the media type of a stream.
func Media(kind string) Option { return option(func(o *Operation) { o.Media = kind }) }

// Stream registers an operation that writes one long document. Once written,
// bytes cannot be taken back. If the operation fails later, the response is cut
// off, and a JSON document must make that detectable.
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

func (e *Engine) doStream(ctx context.Context, c Call, w io.Writer) error {
	if err := e.permit(ctx, c); err != nil {
		return err
	}
	in, err := c.Operation.Input.decode(c.Arguments)
	if err != nil {
		return err
	}
	leave, err := e.streams.enter(c.Caller.UserID)
	if err != nil {
		return err
	}
	defer leave()
	began, err := e.admission.enter(ctx, reports)
	if err != nil {
		return err
	}
	defer e.admission.leave(reports, began)
	return e.db.Stream(ctx, c.Caller, func(v *store.View) error { return c.Operation.stream(ctx, v, in, w) })
}

// streams counts the open streams of each person.
type streams struct {
	mu   sync.Mutex
	open map[string]int
}

func newStreams() *streams { return &streams{open: map[string]int{}} }

func (s *streams) enter(userID string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[userID] >= streamsPerOwner {
		return nil, &board.Fault{
			Code: board.CodeRateLimited, RetryAfter: 5 * time.Second,
			Message: "At most two exports can run at a time. Wait until one has finished.",
		}
	}
	s.open[userID]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[userID]--; s.open[userID] == 0 {
			delete(s.open, userID)
		}
	}, nil
}
