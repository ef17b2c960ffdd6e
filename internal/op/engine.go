package op

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/spool"
	"cardwall/internal/store"
)

// Options configures an Engine. The zero value selects the defaults.
type Options struct {
	// CheckAddress returns an error if the server must not send requests to address, a URL from an input.
	// It may use the network and is called before the transaction. If nil, all such inputs are refused.
	CheckAddress func(ctx context.Context, address string) error
	Log          *slog.Logger // for messages about overload; slog.Default if nil

	// Spool holds the output of streams that clients have not read yet. Without it, the engine cannot
	// run streams.
	Spool *spool.Folder

	// Version is the version of the program. Entity tags depend on it.
	Version string

	// Metrics counts and times the calls. It may be nil.
	Metrics *Metrics

	// QueueTime is how long work waits for a slot while there is no overload. It also determines how
	// soon an overload is detected.
	QueueTime time.Duration

	// JobWait is how long calls wait for a job that they start, unless Call.Wait is set.
	JobWait time.Duration

	// RetryWait is how long a retry with the same idempotency key waits for the first request.
	RetryWait time.Duration
}

// Engine runs operations.
type Engine struct {
	o         Options
	db        *store.DB
	inFlight  *inFlight
	streams   board.AtOnce
	slots     chan struct{} // one element for each stream that is reading from the database
	reports   *shares
	admission *admission
}

// NewEngine returns the engine of a server.
func NewEngine(db *store.DB, o Options) *Engine {
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	o.QueueTime, o.JobWait = cmp.Or(o.QueueTime, queueTime), cmp.Or(o.JobWait, JobWait)
	o.RetryWait = cmp.Or(o.RetryWait, retryWait)
	n := db.Concurrency()
	e := &Engine{
		o: o, db: db, inFlight: newInFlight(), slots: make(chan struct{}, n.Streams),
		reports: newShares("searches and reports", max(1, n.Reports-1)), admission: newAdmission(n),
	}
	e.admission.longest = o.QueueTime
	e.admission.log = func() *slog.Logger { return cmp.Or(o.Log, slog.Default()) }
	e.admission.shed = func(k class) { o.Metrics.Shed(k.String()) }
	return e
}

// WaitingRetries returns how many requests wait for an earlier request with the same idempotency key.
func (e *Engine) WaitingRetries() int {
	e.inFlight.mu.Lock()
	defer e.inFlight.mu.Unlock()
	return e.inFlight.waiting
}

// Call is one call of an operation.
type Call struct {
	Operation *Operation
	Caller    board.Caller
	Arguments Arguments
	Key       string            // the idempotency key, only for commands; empty for none
	File      *board.StoredFile // the file in the request; nil for none
	Picture   *board.Picture    // the picture in the request; nil for none
	Match     string            // value of If-None-Match, only for queries; empty for none
	IfMatch   string            // value of If-Match, only for commands; empty for none

	// Asked are the arguments that the caller sent, if Arguments depend on the time of the call.
	// Then an idempotency key and a cursor belong to Asked. nil means Arguments.
	Asked *Arguments

	// Wait is how long to wait for a job that the call starts; 0 means
	// Options.JobWait.
	Wait time.Duration

	expand   []string // the names in ExpandParameter
	expanded any      // what they stand for; nil if expand is empty
}

// Response is the result of a call.
type Response struct {
	Body     []byte // an envelope as JSON; nil for an error, and if Same is set
	Replayed bool   // the response is the stored one of an earlier call with the same key
	Started  bool   // the data is the job that the call started, because the job is not done
	Tag      string // the entity tag (RFC 9110, 8.8.3); "" if the response has none
	Same     bool   // Call.Match matches the entity tag, so Body is nil
	Cookie   *SessionCookie
	Rate     *board.Rate // the rate limit that the operation itself counted against; nil if none
	job      string      // id of the job that the call started; "" if it started none
}

// envelope is the format of successful responses, except streams.
type envelope struct {
	Data         any    `json:"data"`
	NextCursor   string `json:"nextCursor,omitempty"`
	Query        any    `json:"query,omitzero"`
	BoardVersion int64  `json:"boardVersion,omitzero"`
	Expanded     any    `json:"expanded,omitzero"`
}

func (e envelope) write() ([]byte, error) {
	long, ok := e.Data.(Appender)
	if !ok || e.Query != nil || e.BoardVersion != 0 || e.Expanded != nil {
		return json.Marshal(e, encodeOptions)
	}
	body, err := long.AppendJSON([]byte(`{"data":`))
	if e.NextCursor != "" { // its characters need no escape
		body = append(append(append(body, `,"nextCursor":"`...), e.NextCursor...), '"')
	}
	return append(body, '}'), err
}

// retryWait is the default of Options.RetryWait.
const retryWait = 2 * time.Second

// CheckLoad returns an error, and counts a refusal, if a call of the operation would be
// refused immediately because of the load. It lets an interface refuse a request before
// reading it. Do may still refuse the call later.
func (e *Engine) CheckLoad(o *Operation) error {
	if o.Streams() {
		return e.admission.checkStream()
	}
	return e.admission.check(classOf(o))
}

// Do runs one call. An error is either a *board.Fault, or unexpected and must not be
// shown to the caller. Response.Replayed is set even if the replayed response is a
// refusal.
func (e *Engine) Do(ctx context.Context, c Call) (response Response, err error) {
	e.watched(ctx, c, func(ctx context.Context) (bool, error) {
		response, err = e.do(ctx, c)
		return response.Replayed, err
	})
	if err == nil && response.job != "" {
		return e.awaitJob(ctx, c, response) // not measured as part of the operation
	}
	return response, err
}

// do runs the steps of a call. If a step refuses a command with an idempotency key, do still calls
// writeOnce, which stores the refusal. It does not store that the caller lacks a permission.
func (e *Engine) do(ctx context.Context, c Call) (Response, error) {
	if err := e.permit(ctx, c); err != nil {
		return Response{}, err
	}
	if !c.Operation.Keyed() {
		c.Key = ""
	}
	if err := c.checkConditional(); err != nil {
		return Response{}, err
	}
	selected, err := c.takeNames(FieldsParameter, (*Operation).SelectableFields)
	if err != nil {
		return Response{}, err
	}
	if c.expand, err = c.takeNames(ExpandParameter, (*Operation).Expandable); err != nil {
		return Response{}, err
	}
	c.Arguments.Body = canonical(c.Arguments.Body)
	in, refusal := c.Operation.Input.decode(c.Arguments)
	if refusal == nil {
		if err := c.Operation.Input.permit(c.Caller, in); err != nil {
			return Response{}, err
		}
	}
	if c.Operation.Audience == Guest && refusal != nil {
		return Response{}, refusal // without a valid input, the owner of the idempotency key is unknown
	}
	c.asGuest(in)
	for _, step := range []func(context.Context, Call, any) error{e.openPage, e.checkOutbound, e.prepare} {
		if refusal == nil {
			refusal = step(ctx, c, in)
		}
	}
	switch {
	case c.Operation.parts != nil && in != nil:
		c.Operation.parts(in)
		return e.batch(ctx, c, in.(*BatchInput), refusal)
	case refusal != nil && c.Key == "":
		return Response{}, refusal
	case c.Operation.ReadOnly:
		r, err := e.read(ctx, c, in)
		if err == nil && len(selected) > 0 && !r.Same {
			r.Body, err = selectFields(r.Body, selected)
		}
		return r, err
	case c.Key == "":
		return e.write(ctx, c, in)
	}
	return e.writeOnce(ctx, c, in, refusal)
}

// asGuest sets the credential of a guest, which is part of the input.
func (c *Call) asGuest(in any) {
	if c.Operation.Audience == Guest {
		c.Caller.Guest = &board.Guest{Key: board.SecretHash(in.(interface{ GuestKey() string }).GuestKey())}
	}
}

// prepare passes the file or the picture of the request to the input and runs the part of an operation that
// precedes the transaction. It skips that part for a sliced operation whose idempotency key was
// used before.
func (e *Engine) prepare(ctx context.Context, c Call, in any) error {
	if c.File != nil {
		in.(fileTaker).TakeFile(c.File)
	}
	if c.Picture != nil {
		in.(pictureTaker).TakePicture(c.Picture)
	}
	if c.Operation.before == nil {
		return nil
	}
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
		out    any
		cached Response
		done   bool
	)
	var request [32]byte
	cacheable := c.Operation.basis != nil && len(c.expand) == 0
	if cacheable {
		request = c.fingerprint(true)
	}
	read := e.db.Read
	switch {
	case c.Operation.Report:
		read = e.db.Report
	case cacheable:
		read = func(ctx context.Context, caller board.Caller, fn func(*store.View) error) error {
			return e.db.ReadCached(ctx, caller, request, fn)
		}
	}
	if err := read(ctx, c.Caller, func(v *store.View) (err error) {
		if cacheable {
			if cached, done, err = e.cachedResponse(ctx, v, c, in, request); err != nil || done {
				return err
			}
		}
		if out, err = c.Operation.query(ctx, v, in); err == nil && len(c.expand) > 0 {
			c.expanded, err = c.Operation.expand(ctx, v, out, c.expand)
		}
		return err
	}); err != nil || done {
		return cached, err
	}
	r, err := e.respond(c, out, 0)
	if err == nil && c.expanded != nil && c.Operation.returnsRecord() {
		err = r.tagExpanded(out)
	}
	if err == nil && c.Operation.Tagged() {
		r = r.tagged(c.Match)
	}
	return r, err
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
	if err := e.db.WriteTo(ctx, c.Caller, c.Operation.Input.records(in), func(tx *store.Tx) (err error) {
		if err = c.checkVersion(ctx, tx, in); err != nil {
			return err
		}
		out, version, err = c.run(ctx, tx, in)
		rate = tx.Rate()
		return err
	}); err != nil {
		return Response{}, err
	}
	response, err := e.respond(c, out, version)
	response.Rate = rate
	return response, err
}

// run executes the command and writes its audit entry, unless the command started a job or is a batch,
// whose parts have entries.
func (c Call) run(ctx context.Context, tx *store.Tx, in any) (out any, version int64, err error) {
	if out, err = c.Operation.command(ctx, tx, in); err != nil {
		return nil, 0, err
	}
	if _, ok := out.(*board.Job); ok {
		return out, 0, nil // the job writes the audit entry when it is done
	}
	if c.Operation.parts != nil {
		return out, tx.BoardVersion(), nil
	}
	if version = tx.BoardVersion(); c.Operation.Audience == Guest {
		version = 0
	}
	return out, version, tx.Audit(ctx, c.Operation.Name, c.Operation.subjectOf(out, in))
}

// respond returns the response for the result of an operation.
func (e *Engine) respond(c Call, out any, version int64) (r Response, err error) {
	if j, ok := out.(*board.Job); ok {
		r.job = j.ID
	}
	r.Cookie = cookieOf(out)
	r.Body, err = e.encode(c, out, version)
	return r, err
}

// encode returns the envelope of a result as JSON.
func (e *Engine) encode(c Call, out any, version int64) ([]byte, error) {
	env := envelope{Data: out, BoardVersion: version}
	var next any
	switch p := out.(type) {
	case pager:
		env, next = p.content()
	case Continued:
		next = p.Next()
	}
	env.Expanded = c.expanded
	if next != nil {
		var err error
		if env.NextCursor, err = sealCursor(e.db.CursorKey(), c.asked().fingerprint(false), next); err != nil {
			return nil, err
		}
	}
	body, err := env.write()
	if err != nil {
		return nil, fmt.Errorf("encode the response of %s: %w", c.Operation.Name, err)
	}
	return body, nil
}

// checkOutbound checks the outbound URL of an input, if it has one.
func (e *Engine) checkOutbound(ctx context.Context, _ Call, in any) error {
	out, ok := in.(interface{ Outbound() string })
	if !ok || out.Outbound() == "" {
		return nil
	}
	if e.o.CheckAddress == nil {
		return board.Refuse(board.CodeUnavailable, "Outbound requests are disabled on this server.")
	}
	return e.o.CheckAddress(ctx, out.Outbound())
}

// openPage verifies the cursor of a call that has one, and stores its key in the input.
func (e *Engine) openPage(_ context.Context, c Call, in any) error {
	paged, ok := in.(interface{ paging() *Paging })
	if !ok || paged.paging().Cursor == "" {
		return nil
	}
	p := paged.paging()
	var err error
	p.key, err = openCursor(e.db.CursorKey(), c.asked().fingerprint(false), p.Cursor)
	return err
}
