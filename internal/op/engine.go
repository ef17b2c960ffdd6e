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
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/spool"
	"cardwall/internal/store"
)

// Engine runs operations.
type Engine struct {
	// CheckAddress returns an error if an input contains a URL to which the service must not send
	// requests. It may use the network, and is called before the transaction.
	CheckAddress func(ctx context.Context, address string) error
	Log          *slog.Logger // for overload; nil is slog.Default

	// Spool holds the output of streams that their clients have not read yet. It must be set before
	// the first stream.
	Spool *spool.Folder

	// Version is the program's. Entity tags depend on it.
	Version string

	// Metrics counts the calls. The value set by NewEngine may be replaced
	// before the first call.
	Metrics *Metrics

	db        *store.DB
	inFlight  *inFlight
	streams   *streams
	reports   *shares
	admission *admission
}

// NewEngine returns the engine of a server.
func NewEngine(db *store.DB) *Engine {
	n := db.Concurrency()
	e := &Engine{
		Metrics: NewMetrics(), db: db, inFlight: newInFlight(), streams: newStreams(n.Streams),
		reports: newShares("searches and reports", max(1, n.Reports-1)), admission: newAdmission(n),
	}
	e.admission.log = func() *slog.Logger { return cmp.Or(e.Log, slog.Default()) }
	e.admission.shed = func(k class) { e.Metrics.Shed(k.String()) }
	return e
}

// Call is one call of an operation.
type Call struct {
	Operation *Operation
	Caller    board.Caller
	Arguments Arguments
	Key       string // the Idempotency-Key; empty for none; only commands accept one
	Match     string // If-None-Match; empty for none; only queries accept one

	// Wait is how long to wait for the end of a job that the call starts; 0
	// means two seconds.
	Wait time.Duration
}

// Response is the result of a call.
type Response struct {
	Body     []byte // JSON object with data, nextCursor and boardVersion; nil for an error
	Replayed bool   // the response is the stored one of an earlier call with the same key
	Started  bool   // the data is a job that has not ended
	Tag      string // the entity tag (RFC 9110, 8.8.3); "" if the operation has none
	Same     bool   // the entity tag is in Call.Match, and Body is nil
	Cookie   *SessionCookie
	Rate     *board.Rate // a budget that the operation itself spent from; nil if none
}

// envelope is the format of every successful response.
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

// inFlightWait is how long a repeated request waits for the first one to
// finish.
const inFlightWait = 2 * time.Second

// CheckLoad refuses an operation during an overload, before its request is
// read. Do may still refuse it later.
func (e *Engine) CheckLoad(o *Operation) error {
	if o.Streams() {
		return e.admission.checkStream()
	}
	return e.admission.check(classOf(o))
}

// Do runs one call. Its error is a *board.Fault, or an unexpected error that must
// not be shown to callers. Response.Replayed is set even if the replayed response was
// a refusal.
func (e *Engine) Do(ctx context.Context, c Call) (response Response, err error) {
	e.watched(ctx, c, func(ctx context.Context) (bool, error) {
		response, err = e.do(ctx, c)
		return response.Replayed, err
	})
	if err == nil && c.Operation.Starts() {
		if id := startedJob(response.Body); id != "" {
			return e.awaitJob(ctx, c, id, response.Replayed) // not part of the operation's time
		}
	}
	return response, err
}

func (e *Engine) do(ctx context.Context, c Call) (Response, error) {
	if err := e.permit(ctx, c); err != nil {
		return Response{}, err
	}
	if !c.Operation.Keyed() {
		c.Key = ""
	}
	sent := c.Arguments.Body
	c.Arguments.Body = canonical(sent)
	in, err := c.Operation.Input.decode(c.Arguments)
	if err == nil {
		if err := c.Operation.Input.permit(c.Caller, in); err != nil {
			return Response{}, err
		}
	}
	if c.Operation.Audience == Guest {
		if err != nil {
			return Response{}, err // the owner of the key is unknown
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
		err = e.prepare(ctx, c, in)
	}
	switch {
	case c.Operation.ReadOnly && err == nil:
		return e.read(ctx, c, in)
	case c.Operation.ReadOnly || err != nil && c.Key == "":
		return Response{}, err
	case c.Key == "":
		return e.write(ctx, c, in)
	}
	return e.writeOnce(ctx, c, in, sent, err)
}

// prepare runs what comes before the transaction of a call.
func (e *Engine) prepare(ctx context.Context, c Call, in any) error {
	if c.Operation.sliced && c.Key != "" {
		used, err := e.db.KeyUsed(ctx, c.Caller, c.Key)
		if err != nil || used {
			return err
		}
	}
	return c.Operation.before(ctx, e.db, c.Caller, in)
}

func (e *Engine) read(ctx context.Context, c Call, in any) (Response, error) {
	k := classOf(c.Operation)
	if k == reports {
		leave, err := e.reports.enter(ctx, c.Caller.UserID)
		if err != nil {
			return Response{}, err
		}
		defer leave()
	}
	began, err := e.admission.enter(ctx, k)
	if err != nil {
		return Response{}, err
	}
	defer e.admission.leave(k, began)
	var (
		out  any
		kept Response
		done bool
	)
	read := e.db.Read
	if c.Operation.Report {
		read = e.db.Report
	}
	if err := read(ctx, c.Caller, func(v *store.View) (err error) {
		if kept, done, err = e.keptResponse(ctx, v, c, in); err != nil || done {
			return err
		}
		out, err = c.Operation.query(ctx, v, in)
		return err
	}); err != nil || done {
		return kept, err
	}
	body, err := e.encode(c, out, 0)
	return Response{Body: body, Cookie: cookieOf(out)}, err
}

func (e *Engine) write(ctx context.Context, c Call, in any) (Response, error) {
	began, err := e.admission.enter(ctx, writes)
	if err != nil {
		return Response{}, err
	}
	defer e.admission.leave(writes, began)
	var (
		out     any
		version int64
		rate    *board.Rate
	)
	if err := e.db.Write(ctx, c.Caller, func(tx *store.Tx) (err error) {
		out, version, err = c.run(ctx, tx, in)
		rate = tx.Rate()
		return err
	}); err != nil {
		return Response{}, err
	}
	body, err := e.encode(c, out, version)
	return Response{Body: body, Cookie: cookieOf(out), Rate: rate}, err
}

// writeOnce runs a command under its idempotency key. The key, the changes,
// their events and the stored response are one transaction. Refusals are stored
// as well. Unexpected errors are not stored, nor are errors after which a retry
// may succeed: unavailable, rate_limited and unauthenticated.
//
// The key matches every body with the same fields and values, in any order.
// Versions before 0.2 stored a hash of the raw body.
func (e *Engine) writeOnce(ctx context.Context, c Call, in any, sent []byte, refused error) (Response, error) {
	release, err := e.inFlight.enter(ctx, c.Caller.KeyOwner()+"\x00"+c.Key, inFlightWait)
	if err != nil {
		return Response{}, err
	}
	defer release()
	began, err := e.admission.enter(ctx, writes)
	if err != nil {
		return Response{}, err
	}
	defer e.admission.leave(writes, began)
	sum := c.fingerprint(true)
	asSent := c
	asSent.Arguments.Body = sent
	old := asSent.fingerprint(true)
	var (
		response Response
		fault    error
	)
	err = e.db.Write(ctx, c.Caller, func(tx *store.Tx) error {
		response, fault = Response{}, nil
		stored, err := tx.Claim(ctx, c.Key, c.Operation.Name, sum[:], old[:])
		if err != nil {
			return err
		}
		if stored != nil {
			response, fault, err = replay(ctx, tx, stored)
			return err
		}
		err = refused
		if err == nil {
			err = tx.Attempt(ctx, func() error {
				out, version, err := c.run(ctx, tx, in)
				if err != nil {
					return err
				}
				response.Body, err = e.encode(c, out, version)
				response.Rate = tx.Rate()
				return err
			})
		}
		keep := store.Stored{Answer: response.Body}
		if err != nil {
			f, final := board.AsFault(err)
			if !final || passing(f.Code) || c.Operation.Audience == Guest {
				// Refusals of guests are not stored, because anyone could fill the table.
				return err
			}
			fault = f
			if keep, err = storedFault(f); err != nil {
				return err
			}
		} else {
			keep.WorkspaceID, keep.BoardID = tx.Scope()
		}
		keep.Sealed = c.Operation.Secret
		return tx.Keep(ctx, c.Key, keep)
	})
	if err == nil {
		err = fault
	}
	return response, err
}

// passing reports whether a refusal depends on something other than the request
// itself.
func passing(c board.Code) bool {
	return slices.Contains([]board.Code{
		board.CodeUnavailable, board.CodeInternal, board.CodeRateLimited, board.CodeUnauthenticated, board.CodeInsufficientScope,
	}, c)
}

// replay returns the stored response if the caller can still see what it describes.
func replay(ctx context.Context, tx *store.Tx, s *store.Stored) (Response, error, error) {
	if err := tx.StillVisible(ctx, s.WorkspaceID, s.BoardID); err != nil {
		return Response{}, nil, err
	}
	if s.Fault != "" {
		fault, err := replayedFault(s)
		return Response{Replayed: true}, fault, err
	}
	return Response{Body: s.Answer, Replayed: true}, nil, nil
}

// faultRecord is a fault as it is stored for an idempotency key.
type faultRecord struct {
	Message string         `json:"message"`
	Reason  board.Reason   `json:"reason,omitzero"`
	Details []board.Detail `json:"details,omitempty"`
}

func storedFault(f *board.Fault) (store.Stored, error) {
	record, err := json.Marshal(faultRecord{f.Message, f.Reason, f.Details})
	return store.Stored{Fault: f.Code, Answer: record}, err
}

// replayedFault returns a stored fault. Servers before v0.2.0 stored the message
// alone.
func replayedFault(s *store.Stored) (*board.Fault, error) {
	if jsontext.Value(s.Answer).Kind() != '{' {
		return &board.Fault{Code: s.Fault, Message: string(s.Answer)}, nil
	}
	var r faultRecord
	err := json.Unmarshal(s.Answer, &r)
	return &board.Fault{Code: s.Fault, Message: r.Message, Reason: r.Reason, Details: r.Details}, err
}

// run executes the command and writes its audit entry.
func (c Call) run(ctx context.Context, tx *store.Tx, in any) (out any, version int64, err error) {
	if out, err = c.Operation.command(ctx, tx, in); err != nil {
		return nil, 0, err
	}
	if _, ok := out.(*board.Job); ok {
		return out, 0, nil // the job writes the entry when it is done
	}
	if version = tx.BoardVersion(); c.Operation.Audience == Guest {
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
		return nil, fmt.Errorf("encode the response of %s: %w", c.Operation.Name, err)
	}
	return body, nil
}

// checkOutbound checks the outbound URL of an input, if it has one.
func (e *Engine) checkOutbound(ctx context.Context, in any) error {
	out, ok := in.(interface{ Outbound() string })
	if !ok || out.Outbound() == "" {
		return nil
	}
	if e.CheckAddress == nil {
		return board.Refuse(board.CodeUnavailable, "Outbound requests are disabled on this server.")
	}
	return e.CheckAddress(ctx, out.Outbound())
}

// openPage verifies the cursor of a call that has one.
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

// fingerprint returns a hash of the operation and its arguments. For cursors it
// omits the arguments that differ from page to page.
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
