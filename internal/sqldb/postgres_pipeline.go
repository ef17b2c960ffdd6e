package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// errStale means that a connection broke before its transaction received its first
// response. The transaction has no effect and can run again on another connection.
var errStale = errors.New("the connection was broken before the transaction began")

// pipelining is a connector whose connections are pipelines.
type pipelining struct{ driver.Connector }

func (p pipelining) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &pipeline{Conn: c.(*stdlib.Conn)}, nil
}

// pipeline is a connection to PostgreSQL that queues statements whose results are not needed
// immediately. It sends them together with the next statement, in the same round trip. It queues
// BEGIN and the settings of a transaction, deferred statements, and queries whose results will be
// needed soon. Round trips account for most of the time for which a board is locked.
type pipeline struct {
	*stdlib.Conn
	queue    []queued
	results  []expected // fetched, but not requested yet
	open     bool       // inside a transaction, which may still be in the queue
	received bool       // a response inside the transaction was received
	changes  int        // statements of the transaction that were sent and may have changed something
}

// queued is a statement in the queue.
type queued struct {
	text   string
	args   []any
	query  bool // an expected query: its rows are stored
	later  bool // an expected query whose result the changes of the transaction do not affect
	change bool // a deferred statement
	drop   bool // an expected query or a deferred statement that discard drops
}

// expected is the result of an expected query.
type expected struct {
	text  string
	args  []any
	later bool
	rows  *fetchedRows
}

// pipelineOf runs fn with the pipeline that underlies a connection of the pool.
func pipelineOf(c *sql.Conn, fn func(*pipeline) error) error {
	return c.Raw(func(driven any) error { return fn(driven.(*pipeline)) })
}

// begin queues the statements that begin a transaction, instead of executing them.
func (p *pipeline) begin(statements ...string) error {
	if p.Conn.Conn().IsClosed() {
		return driver.ErrBadConn
	}
	p.reset()
	for _, text := range statements {
		p.queue = append(p.queue, queued{text: text})
	}
	p.open, p.received, p.changes = true, false, 0
	return nil
}

func (p *pipeline) reset() { p.queue, p.results, p.open = nil, nil, false }

// defers queues a statement.
func (p *pipeline) defers(ctx context.Context, text string, args []any) error {
	p.forget(false)
	return p.enqueue(ctx, queued{text: text, args: slices.Clone(args), change: true, drop: true})
}

// savepoint queues a statement that changes no data and that discard keeps.
func (p *pipeline) savepoint(ctx context.Context, text string, args ...any) error {
	return p.enqueue(ctx, queued{text: text, args: args})
}

func (p *pipeline) enqueue(ctx context.Context, q queued) error {
	if !p.open {
		return cmp.Or(ctx.Err(), sql.ErrTxDone)
	}
	if len(p.queue) >= deferredMax {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	p.queue = append(p.queue, q)
	return nil
}

// expect queues a query, unless it is already expected or the queue is full.
func (p *pipeline) expect(text string, args []any, later bool) {
	known := slices.ContainsFunc(p.queue, func(q queued) bool { return q.query && q.matches(text, args) }) ||
		slices.ContainsFunc(p.results, func(e expected) bool { return e.text == text && reflect.DeepEqual(e.args, args) })
	if p.open && !known && len(p.queue) < deferredMax {
		p.queue = append(p.queue, queued{text: text, args: slices.Clone(args), query: true, drop: true, later: later})
	}
}

// forget drops expected queries and their results. It keeps those that changes do not affect,
// unless all is set.
func (p *pipeline) forget(all bool) {
	p.queue = slices.DeleteFunc(p.queue, func(q queued) bool { return q.query && (all || !q.later) })
	p.results = slices.DeleteFunc(p.results, func(e expected) bool { return all || !e.later })
}

// accept ends a write of a shared transaction: discard no longer drops its statements, and
// its expected queries are forgotten.
func (p *pipeline) accept() {
	p.forget(true)
	for i := range p.queue {
		p.queue[i].drop = false
	}
}

// discard drops the statements that were queued after the beginning, the last savepoint or the
// last accepted write.
func (p *pipeline) discard() {
	for len(p.queue) > 0 && p.queue[len(p.queue)-1].drop {
		p.queue = p.queue[:len(p.queue)-1]
	}
	p.results = nil
}

// flush executes the queue.
func (p *pipeline) flush(ctx context.Context) error {
	if len(p.queue) == 0 {
		return nil
	}
	results, err := p.send(ctx, nil)
	if err != nil {
		return err
	}
	return p.broken(ctx, results.Close())
}

// send executes the queue, and last if it is not nil, in one round trip. It reads
// the results of the queue. The caller must read the result of last and close the
// results.
func (p *pipeline) send(ctx context.Context, last *queued) (pgx.BatchResults, error) {
	sent := p.queue
	p.queue = nil
	var batch pgx.Batch
	for _, q := range sent {
		batch.Queue(q.text, q.args...)
	}
	if last != nil {
		batch.Queue(last.text, last.args...)
	}
	results := p.Conn.Conn().SendBatch(ctx, &batch)
	for _, q := range sent {
		if err := p.receive(q, results); err != nil {
			_ = results.Close() // returns the same error
			return nil, p.broken(ctx, fmt.Errorf("%.60s …: %w", q.text, err))
		}
		p.received = true
		if q.change {
			p.changes++
		}
	}
	return results, nil
}

// receive reads the result of a queued statement.
func (p *pipeline) receive(q queued, results pgx.BatchResults) error {
	if !q.query {
		_, err := results.Exec()
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	fetched, err := fetch(rows)
	if err == nil {
		p.results = append(p.results, expected{q.text, q.args, q.later, fetched})
	}
	return err
}

// broken adds errStale to the error of a connection that broke before the transaction
// received its first response.
func (p *pipeline) broken(ctx context.Context, err error) error {
	if err == nil || p.received || ctx.Err() != nil || !p.Conn.Conn().IsClosed() {
		return err
	}
	return fmt.Errorf("%w: %w", errStale, err)
}

// BeginTx queues the beginning of a transaction.
func (p *pipeline) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if opts != (driver.TxOptions{}) {
		return p.Conn.BeginTx(ctx, opts)
	}
	if err := p.begin("begin"); err != nil {
		return nil, err
	}
	return pipelineTx{ctx, p}, nil
}

// QueryContext implements driver.QueryerContext. For an expected query, it returns the
// fetched result once.
func (p *pipeline) QueryContext(ctx context.Context, text string, named []driver.NamedValue) (driver.Rows, error) {
	args := values(named)
	if slices.ContainsFunc(p.queue, func(q queued) bool { return q.query && q.matches(text, args) }) {
		if err := p.flush(ctx); err != nil {
			return nil, err
		}
	}
	for i, e := range p.results {
		if e.text == text && reflect.DeepEqual(e.args, args) {
			p.results = slices.Delete(p.results, i, i+1)
			return e.rows, nil
		}
	}
	if !strings.HasPrefix(text, "SELECT ") {
		p.forget(false)
		p.changes++
	}
	if len(p.queue) == 0 {
		rows, err := p.Conn.QueryContext(ctx, text, named)
		return rows, p.broken(ctx, err)
	}
	results, err := p.send(ctx, &queued{text: text, args: args})
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err == nil {
		more := rows.Next() // finds an error before the caller reads the rows
		if err = rows.Err(); err == nil {
			return &batchRows{rows: rows, results: results, preloaded: true, more: more}, nil
		}
		rows.Close()
	}
	_ = results.Close() // returns the same error
	return nil, err
}

func (q queued) matches(text string, args []any) bool {
	return q.text == text && reflect.DeepEqual(q.args, args)
}

// ExecContext implements driver.ExecerContext.
func (p *pipeline) ExecContext(ctx context.Context, text string, named []driver.NamedValue) (driver.Result, error) {
	p.forget(false)
	p.changes++
	if len(p.queue) == 0 {
		return p.Conn.ExecContext(ctx, text, named)
	}
	tag, err := p.exec(ctx, text, values(named))
	return driver.RowsAffected(tag.RowsAffected()), err
}

// exec executes the queue and a statement.
func (p *pipeline) exec(ctx context.Context, text string, args []any) (tag pgconn.CommandTag, err error) {
	results, err := p.send(ctx, &queued{text: text, args: args})
	if err != nil {
		return tag, err
	}
	tag, err = results.Exec()
	if closing := results.Close(); err == nil {
		err = closing
	}
	return tag, err
}

// pipelineTx is the transaction of a pipeline.
type pipelineTx struct {
	ctx context.Context // of BeginTx; database/sql passes none to Commit
	p   *pipeline
}

// Commit executes the queue and commits, in one round trip. It does nothing if the
// transaction was never begun.
func (t pipelineTx) Commit() error {
	p := t.p
	if p.neverBegun() {
		p.reset()
		return nil
	}
	p.received = true // if the connection breaks from here on, it is unknown whether the transaction was committed
	tag, err := p.exec(t.ctx, "commit", nil)
	if err != nil {
		return errors.Join(err, p.rollback(t.ctx))
	}
	p.reset()
	if tag.String() == "ROLLBACK" { // PostgreSQL's response to the commit of a failed transaction
		return pgx.ErrTxCommitRollback
	}
	return nil
}

func (t pipelineTx) Rollback() error { return t.p.rollback(t.ctx) }

// neverBegun reports whether the queue still contains the beginning of the transaction and no
// statement that would change data.
func (p *pipeline) neverBegun() bool {
	return !p.received && !slices.ContainsFunc(p.queue, func(q queued) bool { return q.change })
}

// failed reports whether the transaction is over or accepts no more statements after an error.
func (p *pipeline) failed() bool {
	status := p.Conn.Conn().PgConn().TxStatus() // 'I' before BEGIN was sent
	return p.Conn.Conn().IsClosed() || status == 'E' || status == 'I' && p.received
}

// rollback ends the transaction without its changes.
func (p *pipeline) rollback(ctx context.Context) error {
	p.reset()
	if c := p.Conn.Conn(); c.IsClosed() || c.PgConn().TxStatus() == 'I' {
		return nil
	}
	_, err := p.Conn.Conn().Exec(ctx, "rollback")
	return err
}

func values(named []driver.NamedValue) []any {
	args := make([]any, len(named))
	for i, v := range named {
		args[i] = v.Value
	}
	return args
}

// batchRows are the rows of the last query of a round trip.
type batchRows struct {
	rows            pgx.Rows
	results         pgx.BatchResults
	preloaded, more bool
}

func (r *batchRows) Columns() []string { return columnsOf(r.rows) }

func (r *batchRows) Close() error {
	r.rows.Close()
	return r.results.Close()
}

func (r *batchRows) Next(dest []driver.Value) error {
	more := r.more
	if !r.preloaded {
		more = r.rows.Next()
	}
	if r.preloaded = false; !more {
		return cmp.Or(r.rows.Err(), io.EOF)
	}
	return decode(r.rows, dest)
}

// fetchedRows are rows in memory.
type fetchedRows struct {
	columns []string
	rows    [][]driver.Value
}

func fetch(rows pgx.Rows) (*fetchedRows, error) {
	defer rows.Close()
	f := &fetchedRows{columns: columnsOf(rows)}
	for rows.Next() {
		row := make([]driver.Value, len(f.columns))
		if err := decode(rows, row); err != nil {
			return nil, err
		}
		f.rows = append(f.rows, row)
	}
	return f, rows.Err()
}

func (f *fetchedRows) Columns() []string { return f.columns }

func (f *fetchedRows) Close() error { return nil }

func (f *fetchedRows) Next(dest []driver.Value) error {
	if len(f.rows) == 0 {
		return io.EOF
	}
	copy(dest, f.rows[0])
	f.rows = f.rows[1:]
	return nil
}

func columnsOf(rows pgx.Rows) []string {
	fields := rows.FieldDescriptions()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// decode converts the current row to the types of database/sql.
func decode(rows pgx.Rows, dest []driver.Value) error {
	row, err := rows.Values()
	if err != nil {
		return err
	}
	for i, v := range row {
		switch v := v.(type) {
		case int16:
			dest[i] = int64(v)
		case int32:
			dest[i] = int64(v)
		case uint32:
			dest[i] = int64(v)
		case float32:
			dest[i] = float64(v)
		case driver.Valuer:
			if dest[i], err = v.Value(); err != nil {
				return err
			}
		default:
			dest[i] = v
		}
	}
	return nil
}
