package op

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Engine runs operations.
type Engine struct {
	// CheckAddress refuses an address outside to which an input wants the service
	// to send. It may ask the network, and so is called before the transaction.
	CheckAddress func(ctx context.Context, address string) error
	Log          *slog.Logger // told when there is too much work; nil is slog.Default

	// Metrics count the calls; those that NewEngine made may be replaced before the
	// first.
	Metrics *Metrics

	db        *store.DB
	flights   *flights
	streams   *streams
	admission *admission
}

// NewEngine makes the engine of a server.
func NewEngine(db *store.DB) *Engine {
	e := &Engine{Metrics: NewMetrics(), db: db, flights: newFlights(), streams: newStreams(), admission: newAdmission(db.Places())}
	e.admission.log = func() *slog.Logger { return cmp.Or(e.Log, slog.Default()) }
	e.admission.shed = func(k class) { e.Metrics.Shed(k.String()) }
	return e
}

// Call is one call of an operation.
type Call struct {
	Operation *Operation
	Caller    board.Caller
	Arguments Arguments
	Key       string // the Idempotency-Key; empty for none; only commands take one
}

// Answer is what came of a call.
type Answer struct {
	Body     []byte // the JSON object with data, nextCursor and boardVersion; nil for a refusal
	Replayed bool   // the answer is the stored one of an earlier call with the same key
	Cookie   *SessionCookie
}

// envelope is the shape of every successful answer.
type envelope struct {
	Data         any    `json:"data"`
	NextCursor   string `json:"nextCursor,omitempty"`
	Query        any    `json:"query,omitzero"`
	BoardVersion int64  `json:"boardVersion,omitzero"`
}

func (e envelope) write() ([]byte, error) {
	long, ok := e.Data.(Appender)
	if !ok || e.NextCursor != "" || e.Query != nil || e.BoardVersion != 0 {
		return json.Marshal(e, answered)
	}
	body, err := long.AppendJSON([]byte(`{"data":`))
	return append(body, '}'), err
}

// flightWait is how long a copy of a request waits for the first to end.
const flightWait = 2 * time.Second

// Look refuses an operation for which there is too much to do right now, so that
// nothing more is read and understood of its request. Do may refuse it still.
func (e *Engine) Look(o *Operation) error { return e.admission.look(classOf(o)) }

// Do runs one call. Its error is a *board.Fault, or an unexpected error that
// nobody outside may read; the answer says whether a refusal was replayed.
func (e *Engine) Do(ctx context.Context, c Call) (answer Answer, err error) {
	e.watched(ctx, c, func(ctx context.Context) (bool, error) {
		answer, err = e.do(ctx, c)
		return answer.Replayed, err
	})
	return answer, err
}

func (e *Engine) do(ctx context.Context, c Call) (Answer, error) {
	if err := e.permit(ctx, c); err != nil {
		return Answer{}, err
	}
	if c.Operation.Unkeyed {
		c.Key = ""
	}
	sent := c.Arguments.Body
	c.Arguments.Body = canonical(sent)
	in, err := c.Operation.Input.decode(c.Arguments)
	if err == nil {
		if err := c.Operation.Input.permit(c.Caller, in); err != nil {
			return Answer{}, err
		}
	}
	if c.Operation.Guest {
		if err != nil {
			return Answer{}, err // nobody knows whose key it is
		}
		c.Caller.Guest = &board.Guest{Key: board.SecretHash(in.(interface{ GuestKey() string }).GuestKey())}
	}
	if err == nil {
		err = e.openPage(c, in)
	}
	if err == nil {
		err = e.checkOutbound(ctx, in)
	}
	if err == nil && c.Operation.before != nil {
		err = c.Operation.before(ctx, e.db, c.Caller, in)
	}
	switch {
	case c.Operation.ReadOnly && err == nil:
		return e.read(ctx, c, in)
	case c.Operation.ReadOnly || err != nil && c.Key == "":
		return Answer{}, err
	case c.Key == "":
		return e.write(ctx, c, in)
	}
	return e.writeOnce(ctx, c, in, sent, err)
}

func (e *Engine) read(ctx context.Context, c Call, in any) (Answer, error) {
	k := classOf(c.Operation)
	began, err := e.admission.enter(ctx, k)
	if err != nil {
		return Answer{}, err
	}
	defer e.admission.leave(k, began)
	var out any
	read := e.db.Read
	if c.Operation.Report {
		read = e.db.Report
	}
	if err := read(ctx, c.Caller, func(v *store.View) (err error) {
		out, err = c.Operation.query(ctx, v, in)
		return err
	}); err != nil {
		return Answer{}, err
	}
	body, err := e.encode(c, out, 0)
	return Answer{Body: body, Cookie: cookieOf(out)}, err
}

func (e *Engine) write(ctx context.Context, c Call, in any) (Answer, error) {
	began, err := e.admission.enter(ctx, writes)
	if err != nil {
		return Answer{}, err
	}
	defer e.admission.leave(writes, began)
	var (
		out     any
		version int64
	)
	if err := e.db.Write(ctx, c.Caller, func(tx *store.Tx) (err error) {
		out, version, err = c.run(ctx, tx, in)
		return err
	}); err != nil {
		return Answer{}, err
	}
	body, err := e.encode(c, out, version)
	return Answer{Body: body, Cookie: cookieOf(out)}, err
}

// writeOnce runs a command under its key: the key, the effect, its events and
// the stored answer are one transaction. A refusal is an answer like any other
// and is stored too; an unexpected error is not, and neither is what another
// try may mend: unavailable, rate_limited, unauthenticated.
//
// The key holds for every body with the same fields and values, in whatever
// order. Versions before 0.2 kept a fingerprint of the body as it was sent.
func (e *Engine) writeOnce(ctx context.Context, c Call, in any, sent []byte, refused error) (Answer, error) {
	land, err := e.flights.enter(ctx, c.Caller.KeyOwner()+"\x00"+c.Key, flightWait)
	if err != nil {
		return Answer{}, err
	}
	defer land()
	began, err := e.admission.enter(ctx, writes)
	if err != nil {
		return Answer{}, err
	}
	defer e.admission.leave(writes, began)
	sum := c.fingerprint(true)
	asSent := c
	asSent.Arguments.Body = sent
	old := asSent.fingerprint(true)
	var (
		answer Answer
		fault  error
	)
	err = e.db.Write(ctx, c.Caller, func(tx *store.Tx) error {
		answer, fault = Answer{}, nil
		stored, err := tx.Claim(ctx, c.Key, c.Operation.Name, sum[:], old[:])
		if err != nil {
			return err
		}
		if stored != nil {
			answer, fault, err = replay(ctx, tx, stored)
			return err
		}
		err = refused
		if err == nil {
			err = tx.Attempt(ctx, func() error {
				out, version, err := c.run(ctx, tx, in)
				if err != nil {
					return err
				}
				answer.Body, err = e.encode(c, out, version)
				return err
			})
		}
		keep := store.Stored{Answer: answer.Body}
		if err != nil {
			f, final := board.AsFault(err)
			if !final || passing(f.Code) || c.Operation.Guest { // anybody may be refused, without leaving a trace
				return err
			}
			fault = f
			keep = store.Stored{Fault: f.Code, Answer: []byte(f.Message)}
		} else {
			keep.WorkspaceID, keep.BoardID = tx.Scope()
		}
		keep.Sealed = c.Operation.Secret
		return tx.Keep(ctx, c.Key, keep)
	})
	if err == nil {
		err = fault
	}
	return answer, err
}

// passing tells which refusals say nothing about the request itself.
func passing(c board.Code) bool {
	return slices.Contains([]board.Code{
		board.CodeUnavailable, board.CodeInternal, board.CodeRateLimited, board.CodeUnauthenticated, board.CodeInsufficientScope,
	}, c)
}

// replay answers what the first call was answered, if the caller may still
// see what it was about.
func replay(ctx context.Context, tx *store.Tx, s *store.Stored) (Answer, error, error) {
	if err := tx.StillVisible(ctx, s.WorkspaceID, s.BoardID); err != nil {
		return Answer{}, nil, err
	}
	if s.Fault != "" {
		return Answer{Replayed: true}, &board.Fault{Code: s.Fault, Message: string(s.Answer)}, nil
	}
	return Answer{Body: s.Answer, Replayed: true}, nil, nil
}

// run is the command itself with its audit entry.
func (c Call) run(ctx context.Context, tx *store.Tx, in any) (out any, version int64, err error) {
	if out, err = c.Operation.command(ctx, tx, in); err != nil {
		return nil, 0, err
	}
	if version = tx.BoardVersion(); c.Operation.Guest {
		version = 0
	}
	return out, version, tx.Audit(ctx, c.Operation.Name, c.Operation.subjectOf(out, in))
}

func (e *Engine) encode(c Call, out any, version int64) ([]byte, error) {
	env := envelope{Data: out, BoardVersion: version}
	if p, ok := out.(pager); ok {
		items, next, query := p.content()
		env.Data, env.Query = items, query
		if next != nil {
			var err error
			if env.NextCursor, err = sealCursor(e.db.CursorKey(), c.fingerprint(false), next); err != nil {
				return nil, err
			}
		}
	}
	body, err := env.write()
	if err != nil {
		return nil, fmt.Errorf("encode the answer of %s: %w", c.Operation.Name, err)
	}
	return body, nil
}

// checkOutbound has the address checked that an input names, if it names one.
func (e *Engine) checkOutbound(ctx context.Context, in any) error {
	out, ok := in.(interface{ Outbound() string })
	if !ok || out.Outbound() == "" {
		return nil
	}
	if e.CheckAddress == nil {
		return board.Refuse(board.CodeUnavailable, "This server sends to no address.")
	}
	return e.CheckAddress(ctx, out.Outbound())
}

// openPage checks the cursor of a call that has one.
func (e *Engine) openPage(c Call, in any) error {
	paged, ok := in.(interface{ paging() *Paging })
	if !ok || paged.paging().Cursor == "" {
		return nil
	}
	p := paged.paging()
	var err error
	p.key, err = openCursor(e.db.CursorKey(), c.fingerprint(false), p.Cursor)
	return err
}

// fingerprint tells two calls apart: by operation and all arguments, or (for
// cursors) without those that differ from page to page.
func (c Call) fingerprint(paging bool) (sum [32]byte) {
	h := sha256.New()
	part(h, c.Operation.Name)
	for _, f := range c.Operation.Input.Fields {
		if f.In == InPath {
			part(h, c.Arguments.Path(f.Name))
		}
	}
	names := make([]string, 0, len(c.Arguments.Query))
	for name := range c.Arguments.Query {
		if paging || name != "cursor" && name != "limit" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		part(h, name)
		for _, v := range c.Arguments.Query[name] {
			part(h, v)
		}
	}
	part(h, string(c.Arguments.Body))
	h.Sum(sum[:0])
	return sum
}

func part(h hash.Hash, s string) {
	_, _ = fmt.Fprintf(h, "%d:", len(s)) // a hash never fails
	_, _ = io.WriteString(h, s)
}
