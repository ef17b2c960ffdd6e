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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"cardwall/internal/backoff"
)

const (
	// mapped lets a connection read the file as memory: a commit empties every
	// reader's page cache, mapped pages stay. What a connection has read so counts as
	// memory of the process, for each of them: so neither the writer, whose own commits
	// leave its cache, nor a long reader, which comes by all of the file, maps it.
	mapped = "PRAGMA mmap_size = 1073741824"

	textsKept   = 256   // prepared statements a connection keeps
	busyTimeout = 10000 // milliseconds that a connection waits for another process's lock
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

	version    int64                 // of the data, when the writer last looked for the mark of a move
	pressed    bool                  // the lock was not to be had, so the writer no longer waits long for it
	gone       atomic.Pointer[error] // why nothing is written here any more: the data has moved
	log        *slog.Logger
	failures   *backoff.Log
	doubt      atomic.Bool // the end of the log on disk is not known; nothing is written before it is
	litestream bool
	full       atomic.Bool // the doubt is only that the disk was full at the start
	path       string
	metrics    *Metrics
}

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
		pool:     pool,
		readers:  make(chan *sqliteConn, readers),
		jobs:     make(chan *writeJob, writeQueue),
		done:     make(chan struct{}),
		log:      opts.Log,
		failures: backoff.NewLog(opts.Log),
		path:     opts.Database,
		metrics:  opts.Metrics,
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
	if err := e.writer.adopt(ctx); isFull(err) {
		e.doubt.Store(true) // the writer goes on with the log when there is room
		e.full.Store(true)
		opts.Log.Warn("the disk is full: the server starts for reading, and takes writes when there is room", "error", err)
	} else if err != nil {
		return nil, fmt.Errorf("adopt the log that was left: %w", err)
	}
	for range readers {
		c, err := newSQLiteReader(ctx, pool)
		if err != nil {
			return nil, err
		}
		if _, err := c.exec(ctx, mapped); err != nil {
			return nil, errors.Join(fmt.Errorf("map the file: %w", err), c.close())
		}
		e.readers <- c
	}
	e.litestream = opts.Litestream
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
	conns := []*sqliteConn{e.writer}
	for range cap(e.readers) {
		conns = append(conns, <-e.readers)
	}
	e.keepFiles(conns)
	var errs []error
	for _, c := range conns {
		errs = append(errs, c.close())
	}
	return errors.Join(append(errs, e.pool.Close())...)
}

// keepFiles keeps the empty log and its index beside the database when the last
// connection closes. SQLite would remove them, and could not make them again on a
// full disk, so the next start could not even read. A log that is not empty is
// left to SQLite, and all of them are left to Litestream.
func (e *sqliteEngine) keepFiles(conns []*sqliteConn) {
	if e.litestream || e.doubt.Load() {
		return
	}
	e.pool.SetMaxIdleConns(-1) // none but these are left
	if emptied, err := e.writer.emptyLog(context.Background()); err != nil || !emptied {
		return
	}
	for _, c := range conns {
		_ = c.conn.Raw(func(driver any) error { // without it SQLite removes the files
			_, err := driver.(sqlite.FileControl).FileControlPersistWAL("main", 1)
			return err
		})
	}
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
	c.heeds = true
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

// sqliteConn is one connection with its prepared statements. Contexts end
// here: SQLite would be interrupted by them, and a batch with it. Only one that
// reads for a single caller, and perhaps for long, heeds them.
type sqliteConn struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	heeds bool
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
	if !c.heeds {
		ctx = context.WithoutCancel(ctx)
	}
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
