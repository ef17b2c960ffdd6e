package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"cardwall/internal/trace"
)

const (
	writeQueue = 1024                   // writes that wait before further ones wait for a place in the queue
	writeBatch = 128                    // most writes in one transaction
	writeTime  = 100 * time.Millisecond // after which it takes no more: who fails last has all others run again
	textsKept  = 256                    // prepared statements a connection keeps

	busyTimeout = 10000       // milliseconds that a connection waits for another process's lock
	busyShort   = 100         // and the writer, when it waited that long in vain
	settleEvery = time.Second // while what is on disk is not known
)

// sqliteEngine has one connection that writes and a few that read. The writer
// commits many writes at once: what waits while the disk syncs shares the next
// sync.
type sqliteEngine struct {
	pool    *sql.DB
	readers chan *sqliteConn
	writer  *sqliteConn
	jobs    chan *writeJob
	closing sync.RWMutex // held for reading while a job is handed over
	closed  bool
	done    chan struct{}

	version int64                 // of the data, when the writer last looked for the mark of a move
	pressed bool                  // the lock was not to be had, so the writer no longer waits long for it
	gone    atomic.Pointer[error] // why nothing is written here any more: the data has moved
	log     *slog.Logger
	doubt   atomic.Bool // the end of the log on disk is not known; nothing is written before it is
	path    string
	metrics *Metrics
}

// writeJob is one write on its way through the writer.
type writeJob struct {
	fn     func(runner) error
	state  atomic.Int32 // waiting, then running or abandoned
	err    error
	done   chan struct{}
	handed time.Time // to the writer
	began  time.Time
	ran    time.Time // until then; what follows is the end of its batch
	batch  int       // writes that were committed with it
}

const (
	jobWaiting int32 = iota
	jobRunning
	jobAbandoned
)

// sqliteAddress opens a file as servers do. Its checkpoints are SQLite's own
// unless Litestream replicates the file, which then makes all of them.
func sqliteAddress(path string, litestream bool) string {
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyTimeout))
	q.Add("_pragma", "journal_mode(WAL)")
	q.Add("_pragma", "synchronous("+synchronous()+")")
	if litestream {
		q.Add("_pragma", "wal_autocheckpoint(0)")
	} else {
		q.Add("_pragma", "wal_autocheckpoint(4000)") // pages; the same pages are written again and again
	}
	q.Add("_pragma", "foreign_keys(1)")
	q.Add("_pragma", "mmap_size(1073741824)") // a commit empties every reader's page cache; mapped pages stay
	q.Add("_pragma", "temp_store(MEMORY)")
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + q.Encode()
}

func openSQLite(ctx context.Context, opts Options) (_ engine, err error) {
	// The file is its owner's alone; SQLite gives the files beside it its mode.
	file, err := os.OpenFile(opts.Database, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	opened, err := file.Stat()
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	pool, err := sql.Open("sqlite", sqliteAddress(opts.Database, opts.Litestream))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", opts.Database, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, pool.Close())
		}
	}()
	if err := pool.PingContext(ctx); err != nil {
		return nil, fmt.Errorf("open %s: %w", opts.Database, err)
	}
	if err := migrateSQLite(ctx, pool, opts); err != nil {
		return nil, err
	}
	readers := opts.Readers
	if readers == 0 {
		readers = max(2, runtime.GOMAXPROCS(0))
	}
	e := &sqliteEngine{
		pool:    pool,
		readers: make(chan *sqliteConn, readers),
		jobs:    make(chan *writeJob, writeQueue),
		done:    make(chan struct{}),
		log:     opts.Log,
		path:    opts.Database,
		metrics: opts.Metrics,
	}
	if e.writer, err = newSQLiteConn(ctx, pool); err != nil {
		return nil, err
	}
	// A restore puts another file in its place, under the lock of the old one.
	if now, err := os.Stat(opts.Database); err != nil || !os.SameFile(opened, now) {
		return nil, errors.Join(fmt.Errorf("%s was replaced while it was opened; start again", opts.Database), err)
	}
	if _, err := e.writer.exec(ctx, "PRAGMA cache_size = -8000"); err != nil {
		return nil, fmt.Errorf("widen the writer's cache: %w", err)
	}
	if err := e.writer.adopt(ctx); err != nil {
		return nil, fmt.Errorf("adopt the log that was left: %w", err)
	}
	for range readers {
		c, err := newSQLiteReader(ctx, pool)
		if err != nil {
			return nil, err
		}
		e.readers <- c
	}
	go e.loop()
	return e, nil
}

func (e *sqliteEngine) dialect() dialect { return dialect{name: "sqlite", system: "sqlite"} }

// places are enough readers to keep the cores busy while answers are written, and
// twice as many writes as one transaction takes: the next is there when it ends.
func (e *sqliteEngine) places() (reads, writes int) {
	return max(32, 16*cap(e.readers)), 2 * writeBatch
}

func (e *sqliteEngine) close() error {
	e.closing.Lock()
	if e.closed {
		e.closing.Unlock()
		return nil
	}
	e.closed = true
	close(e.jobs)
	e.closing.Unlock()
	<-e.done
	errs := []error{e.writer.close()}
	for range cap(e.readers) {
		errs = append(errs, (<-e.readers).close())
	}
	return errors.Join(append(errs, e.pool.Close())...)
}

func (e *sqliteEngine) read(ctx context.Context, fn func(runner) error) error {
	var c *sqliteConn
	select {
	case c = <-e.readers:
	case <-ctx.Done():
		return fmt.Errorf("%w: no reader was free in time: %w", errUnavailable, ctx.Err())
	}
	defer func() { e.readers <- c }()
	return c.snapshot(ctx, fn)
}

// report is read: one file has no replica.
func (e *sqliteEngine) report(ctx context.Context, fn func(runner) error) error {
	return e.read(ctx, fn)
}

func (e *sqliteEngine) stream(ctx context.Context, fn func(runner) error) (err error) {
	c, err := newSQLiteReader(ctx, e.pool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }() // also when fn panics
	// Mapped pages count as the process's memory, and a long reader comes by all of them.
	if _, err := c.exec(ctx, "PRAGMA mmap_size = 0"); err != nil {
		return fmt.Errorf("read without a map: %w", err)
	}
	return c.snapshot(ctx, fn)
}

// snapshot runs fn on one state of the data.
func (c *sqliteConn) snapshot(ctx context.Context, fn func(runner) error) error {
	if _, err := c.exec(ctx, "BEGIN"); err != nil {
		_, _ = c.exec(ctx, "ROLLBACK") // of the one before, where a failing disk refused that too
		return fmt.Errorf("%w: begin: %w", errUnavailable, err)
	}
	defer func() { _, _ = c.exec(ctx, "ROLLBACK") }() // nothing was written; it only ends the snapshot
	return fn(c)
}

// write hands fn to the writer. Once it runs the outcome is awaited whatever
// becomes of ctx: a cancelled caller must not roll back the others' batch.
func (e *sqliteEngine) write(ctx context.Context, fn func(runner) error) error {
	j := &writeJob{fn: fn, done: make(chan struct{}), handed: time.Now()}
	e.closing.RLock()
	if e.closed {
		e.closing.RUnlock()
		return fmt.Errorf("%w: the server is stopping", errUnavailable)
	}
	select {
	case e.jobs <- j:
		e.closing.RUnlock()
	case <-ctx.Done():
		e.closing.RUnlock()
		return fmt.Errorf("%w: the queue of writes is full: %w", errUnavailable, ctx.Err())
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if j.state.CompareAndSwap(jobWaiting, jobAbandoned) {
			return fmt.Errorf("%w: the write did not begin in time: %w", errUnavailable, ctx.Err())
		}
		<-j.done
	}
	j.record(trace.Of(ctx))
	return j.err
}

func (e *sqliteEngine) loop() {
	defer close(e.done)
	for {
		var again <-chan time.Time
		if e.doubt.Load() && !e.settle() {
			again = time.After(settleEvery)
		}
		for waiting := true; waiting; waiting = again != nil {
			select {
			case j, more := <-e.jobs:
				switch {
				case !more:
					return
				case again == nil:
					e.commit(j)
				case j.state.CompareAndSwap(jobWaiting, jobRunning):
					j.err = errDoubt
					close(j.done)
				}
			case <-again:
				again = nil
			}
		}
	}
}

// commit runs one write and whatever else is waiting in one transaction. They
// run without savepoints, for which SQLite would copy every page that changes.
// When one fails that had changed something, all are rolled back, and the others
// run again, each in a savepoint of its own.
func (e *sqliteEngine) commit(first *writeJob) {
	batch := make([]*writeJob, 0, 16)
	defer func() {
		for _, j := range batch {
			j.batch = len(batch)
			close(j.done)
		}
	}()
	ctx := context.Background()
	err := e.begin(ctx)
	if err != nil { // the others that wait would only wait longer for the same
		for j := first; j != nil; j = e.next(len(batch)) {
			if j.start(e.metrics) {
				batch = append(batch, j)
			}
		}
		e.abandon(ctx, batch, fmt.Errorf("begin: %w", err))
		return
	}
	careful, began := false, time.Now()
	for j := first; j != nil; j = e.next(len(batch)) {
		if !j.start(e.metrics) {
			continue
		}
		batch = append(batch, j)
		harmless := true
		if careful {
			err = e.apply(ctx, j)
		} else if harmless, err = e.run(ctx, j); !harmless && err == nil {
			careful, err = true, e.again(ctx, batch)
		}
		if err != nil {
			e.abandon(ctx, batch, err)
			return
		}
		if time.Since(began) > writeTime {
			break
		}
	}
	if err := e.end(ctx, len(batch)); err != nil {
		e.abandon(ctx, batch, err)
	}
}

// start begins a write that was not given up meanwhile.
func (j *writeJob) start(m *Metrics) bool {
	if !j.state.CompareAndSwap(jobWaiting, jobRunning) {
		return false
	}
	j.began = time.Now()
	m.queued.Observe(j.began.Sub(j.handed).Seconds())
	return true
}

// changes counts the rows that the writer has changed since it was opened.
func (e *sqliteEngine) changes(ctx context.Context) (n int64, err error) {
	rows, err := e.writer.query(ctx, "SELECT total_changes()")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if rows.Next() {
		err = rows.Scan(&n)
	}
	return n, errors.Join(err, rows.Err())
}

// run runs one write. It is harmless when it succeeds, or fails before it has
// changed anything and without SQLite ending the transaction.
func (e *sqliteEngine) run(ctx context.Context, j *writeJob) (harmless bool, err error) {
	before, err := e.changes(ctx)
	if err != nil {
		return false, err
	}
	j.err = guarded(j.fn, e.writer)
	j.ran = time.Now()
	if j.err == nil {
		return true, nil
	}
	after, err := e.changes(ctx)
	if err != nil || after != before {
		return false, err
	}
	_, begun := e.writer.exec(ctx, "BEGIN") // refused while there is a transaction
	return begun != nil, nil
}

// again runs what has not failed of a batch from its beginning.
func (e *sqliteEngine) again(ctx context.Context, batch []*writeJob) error {
	_, _ = e.writer.exec(ctx, "ROLLBACK") // may have been done by SQLite already
	if err := e.begin(ctx); err != nil {
		return fmt.Errorf("begin again: %w", err)
	}
	for _, j := range batch {
		if j.err == nil {
			if err := e.apply(ctx, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// end makes a batch durable.
func (e *sqliteEngine) end(ctx context.Context, writes int) error {
	begun := time.Now()
	_, err := e.writer.exec(ctx, "COMMIT")
	if isIOError(err) {
		e.doubt.Store(true)
		e.log.Error("the disk failed while a write was made durable; nothing is written before the log is in the database", "error", err)
	}
	e.metrics.commit.Observe(time.Since(begun).Seconds())
	e.metrics.batch.Observe(float64(writes))
	return err
}

// abandon undoes a batch, and fails what had not failed of it.
func (e *sqliteEngine) abandon(ctx context.Context, batch []*writeJob, err error) {
	_, _ = e.writer.exec(ctx, "ROLLBACK") // may have been done by SQLite already
	for _, j := range batch {
		if j.err == nil {
			j.err = fmt.Errorf("%w: %w", errUnavailable, err)
		}
	}
}

// next is the next write that waits, nil when there is none or the batch is full.
func (e *sqliteEngine) next(have int) *writeJob {
	if have >= writeBatch {
		return nil
	}
	select {
	case j := <-e.jobs:
		return j // nil once the queue is closed and empty
	default:
		return nil
	}
}

// apply runs one write in a savepoint. Its own failure is kept in the job; the
// error that it returns ends the whole batch, as when a full disk made SQLite
// roll back everything.
func (e *sqliteEngine) apply(ctx context.Context, j *writeJob) error {
	if _, err := e.writer.exec(ctx, "SAVEPOINT job"); err != nil {
		return err
	}
	j.err = guarded(j.fn, e.writer)
	j.ran = time.Now()
	if j.err != nil {
		if _, err := e.writer.exec(ctx, "ROLLBACK TO job"); err != nil {
			return err
		}
	}
	_, err := e.writer.exec(ctx, "RELEASE job")
	return err
}

// guarded keeps a panic inside one write from ending the writer.
func guarded(fn func(runner) error, r runner) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", v, debug.Stack())
		}
	}()
	return fn(r)
}

// sqliteConn is one connection with its prepared statements. Contexts end
// here: SQLite would be interrupted by them, and a batch with it.
type sqliteConn struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func newSQLiteConn(ctx context.Context, pool *sql.DB) (*sqliteConn, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &sqliteConn{conn: conn, stmts: map[string]*sql.Stmt{}}, nil
}

// newSQLiteReader is a connection that cannot write.
func newSQLiteReader(ctx context.Context, pool *sql.DB) (*sqliteConn, error) {
	c, err := newSQLiteConn(ctx, pool)
	if err != nil {
		return nil, err
	}
	if _, err := c.exec(ctx, "PRAGMA query_only = 1"); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *sqliteConn) close() error {
	for _, s := range c.stmts {
		_ = s.Close()
	}
	return c.conn.Close()
}

func (c *sqliteConn) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if s, ok := c.stmts[text]; ok {
		return s, nil
	}
	for old, s := range c.stmts {
		if len(c.stmts) < textsKept {
			break
		}
		delete(c.stmts, old)
		_ = s.Close()
	}
	s, err := c.conn.PrepareContext(ctx, steady(text))
	if err != nil {
		return nil, sqliteFault(err)
	}
	c.stmts[text] = s
	return s, nil
}

// steady makes each $N of a text +$N, which is the same value. Since 3.54
// SQLite looks at what is bound to a bare parameter when it plans, and so
// plans anew at every execution (sqlite3_reprepare took half of all the time
// here); it does not look behind a sign.
//
// Where each comes once and in its order they become +?: a parameter with a
// name is found among all the others at every binding.
func steady(text string) string {
	parts := strings.Split(text, "$")
	bare := strings.Builder{}
	bare.WriteString(parts[0])
	for i, part := range parts[1:] {
		rest, next := strings.CutPrefix(part, strconv.Itoa(i+1))
		if !next || rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return strings.ReplaceAll(text, "$", "+$")
		}
		bare.WriteString("+?" + rest)
	}
	return bare.String()
}

func (c *sqliteConn) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	ctx = context.WithoutCancel(ctx)
	s, err := c.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args...)
	return rows, sqliteFault(err)
}

func (c *sqliteConn) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	ctx = context.WithoutCancel(ctx)
	s, err := c.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	res, err := s.ExecContext(ctx, args...)
	return res, sqliteFault(err)
}

// put executes at once: nothing travels.
func (c *sqliteConn) put(ctx context.Context, text string, args ...any) error {
	_, err := c.exec(ctx, text, args...)
	return err
}

func (c *sqliteConn) forget() {}

// sqliteFault marks the failures that a retry may mend.
func sqliteFault(err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
		sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PROTOCOL:
		return fmt.Errorf("%w: %w", errUnavailable, err)
	// A disk that is gone in the middle of a read looks like this too.
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: the disk fails or the file is damaged, which cardwall doctor tells: %w", errUnavailable, err)
	}
	return err
}
