package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"cardwall/internal/backoff"
)

const (
	// mapped makes a connection map the file into memory. Unlike the page cache, mapped
	// pages remain valid after another connection commits. However, they count toward
	// the memory of the process once per connection. Therefore, the writer, whose cache
	// stays valid, and streams, which read the whole file, do not map the file.
	mapped = "PRAGMA mmap_size = 1073741824"

	statementsKept = 256   // maximum number of prepared statements per connection
	busyTimeout    = 10000 // milliseconds to wait for the lock of another process
)

// sqliteEngine has one connection that writes, several that read, and several that only
// reports use, so that short reads never wait for reports. Writes that arrive while the
// disk is syncing share the next commit.
type sqliteEngine struct {
	pool    *sql.DB
	readers chan *sqliteConn
	reports chan *sqliteConn
	writer  *sqliteConn
	index   *os.File // of the write-ahead log; nil if it cannot be read
	jobs    chan *writeJob
	closing sync.RWMutex // read-locked while a job is sent to jobs
	closed  bool
	done    chan struct{}

	checkpoints *checkpointer // nil if Litestream runs the checkpoints
	committed   chan struct{} // holds an element if there was a commit since the checkpointer last checked
	restart     atomic.Bool   // whether the writer must checkpoint the end of a long log

	version    int64                 // PRAGMA data_version when the writer last checked for a relocation
	contended  bool                  // another process has held the lock for a long time, so the writer waits only briefly
	relocated  atomic.Pointer[error] // error of all writes; set once the data has moved to another database
	log        *slog.Logger
	failures   *backoff.Log
	uncertain  atomic.Bool // the state of the log on disk is unknown, so writes are refused
	litestream bool
	full       atomic.Bool // the state is uncertain only because the disk was full when the server started
	path       string
	metrics    *Metrics
}

// SQLiteAddress returns the data source name with which servers open a file. Unless
// Litestream replicates the file, connections run checkpoints automatically. The writer
// of a server disables that, because the server has a checkpointer.
func SQLiteAddress(path string, litestream bool) string {
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", busyTimeout))
	q.Add("_pragma", "journal_mode(WAL)")
	q.Add("_pragma", "synchronous("+synchronous()+")")
	if litestream {
		q.Add("_pragma", "wal_autocheckpoint(0)")
	} else {
		q.Add("_pragma", "wal_autocheckpoint(4000)") // pages; most commits change the same pages
	}
	q.Add("_pragma", "foreign_keys(1)")
	q.Add("_pragma", "temp_store(MEMORY)")
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + q.Encode()
}

func openSQLite(ctx context.Context, opts Options) (_ Engine, err error) {
	defer func() { err = FileFault(opts.Database, err) }()
	// Only the owner may read the file. SQLite gives the log the same mode.
	opened, err := openFile(opts.Database)
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite", SQLiteAddress(opts.Database, opts.Litestream))
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
	e := &sqliteEngine{
		pool:      pool,
		committed: make(chan struct{}, 1),
		readers:   make(chan *sqliteConn, cmp.Or(opts.Readers, max(2, cores()))),
		reports:   make(chan *sqliteConn, sqliteReports()),
		jobs:      make(chan *writeJob, writeQueueLimit),
		done:      make(chan struct{}),
		log:       opts.Log,
		failures:  backoff.NewLog(opts.Log),
		path:      opts.Database,
		metrics:   opts.Metrics,
	}
	if err := e.openWriter(ctx, opts, opened); err != nil {
		return nil, err
	}
	if err := e.openIndex(ctx); err != nil {
		return nil, err
	}
	for _, pool := range []chan *sqliteConn{e.readers, e.reports} {
		for range cap(pool) {
			c, err := e.newReader(ctx)
			if err != nil {
				return nil, err
			}
			pool <- c
		}
	}
	if e.litestream = opts.Litestream; !e.litestream {
		if err := e.startCheckpoints(ctx); err != nil {
			return nil, fmt.Errorf("start checkpoints: %w", err)
		}
	}
	go e.loop()
	return e, nil
}

// openWriter opens the writer and recovers the write-ahead log of an earlier process. It
// returns an error if the file is no longer the one that was opened.
func (e *sqliteEngine) openWriter(ctx context.Context, opts Options, opened os.FileInfo) (err error) {
	if e.writer, err = newSQLiteWriter(ctx, e.pool, opts.Refused); err != nil {
		return err
	}
	// A restore replaces the file while it holds the lock on the old file.
	if now, err := os.Stat(opts.Database); err != nil || !os.SameFile(opened, now) {
		return errors.Join(fmt.Errorf("%s was replaced while it was being opened: start the program again",
			opts.Database), err)
	}
	if _, err := e.writer.Exec(ctx, "PRAGMA cache_size = -8000"); err != nil {
		return fmt.Errorf("set the size of the writer's cache: %w", err)
	}
	if err := e.writer.adopt(ctx); isFull(err) {
		e.uncertain.Store(true) // the writer retries until there is room
		e.full.Store(true)
		opts.Log.Warn("disk full: starting read-only until there is room", "error", err)
	} else if err != nil {
		return fmt.Errorf("recover the write-ahead log of an earlier process: %w", err)
	}
	return nil
}

// openFile creates the database file if it does not exist. It returns an error if SQLite
// cannot or must not open the file.
func openFile(path string) (os.FileInfo, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, syscall.EISDIR) || errors.Is(err, fs.ErrPermission) {
		return nil, inaccessible(path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	info, err := file.Stat()
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 && info.Size() == 0 { // SQLite would remove the log
		return nil, &FileError{"the database file " + path + " has lost its content; " + restoreBackup,
			fmt.Errorf("it is empty, but %s-wal is not", path)}
	}
	return info, nil
}

func (e *sqliteEngine) Dialect() Dialect { return Dialect{Name: "sqlite", System: "sqlite"} }

// sqliteReports returns the number of connections for reports: one for every two cores,
// but at least two, so that one long report does not block all others.
func sqliteReports() int { return max(2, cores()/2) }

// cores returns the number of cores that the process may use. It does not rely on
// GOMAXPROCS alone, which can be set higher so that long reads do not delay short ones.
func cores() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }

// newReader returns a new connection for readers or reports.
func (e *sqliteEngine) newReader(ctx context.Context) (*sqliteConn, error) {
	c, err := newSQLiteReader(ctx, e.pool)
	if err != nil {
		return nil, err
	}
	if _, err := c.Exec(ctx, mapped); err != nil {
		return nil, errors.Join(fmt.Errorf("map the file: %w", err), c.close())
	}
	return c, nil
}

// Concurrency allows enough reads to keep the cores busy while responses are encoded. It
// allows one report per report connection, and one stream for every two cores. It allows
// two batches of writes, so that the next batch is always ready.
func (e *sqliteEngine) Concurrency() Concurrency {
	return Concurrency{
		Reads: max(32, 16*cap(e.readers)), Reports: cap(e.reports),
		Streams: max(1, cores()/2), Writes: 2 * writeBatch,
	}
}

func (e *sqliteEngine) Close() error {
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
	if c := e.checkpoints; c != nil {
		close(c.stop)
		<-c.done
		conns = append(conns, c.conn)
	}
	for _, pool := range []chan *sqliteConn{e.readers, e.reports} {
		for range cap(pool) {
			conns = append(conns, <-pool)
		}
	}
	e.keepFiles(conns)
	var errs []error
	for _, c := range conns {
		errs = append(errs, c.close())
	}
	errs = append(errs, e.pool.Close())
	if e.index != nil {
		errs = append(errs, e.index.Close())
	}
	return errors.Join(errs...)
}

// keepFiles makes SQLite keep the empty log and its index when the last connection
// closes. On a full disk, SQLite could not recreate them, and after a restart the
// server could not even read. keepFiles has no effect if the log cannot be emptied or if
// Litestream replicates the file.
func (e *sqliteEngine) keepFiles(conns []*sqliteConn) {
	if e.litestream || e.uncertain.Load() {
		return
	}
	e.pool.SetMaxIdleConns(-1) // closes all other connections
	if emptied, err := e.writer.emptyLog(context.Background()); err != nil || !emptied {
		return
	}
	for _, c := range conns {
		_ = c.conn.Raw(func(driver any) error { // otherwise, SQLite removes the files
			_, err := driver.(sqlite.FileControl).FileControlPersistWAL("main", 1)
			return err
		})
	}
}

func (e *sqliteEngine) Read(ctx context.Context, limit time.Duration, fn func(Runner) error) error {
	return e.readOn(ctx, e.readers, limit, fn)
}

// Report runs fn on a report connection, because a file has no replica. It interrupts a
// statement when ctx ends.
func (e *sqliteEngine) Report(ctx context.Context, limit time.Duration, fn func(Runner) error) error {
	return e.readOn(ctx, e.reports, limit, fn)
}

func (e *sqliteEngine) readOn(ctx context.Context, pool chan *sqliteConn, limit time.Duration, fn func(Runner) error) error {
	var c *sqliteConn
	select {
	case c = <-pool:
	case <-ctx.Done():
		return fmt.Errorf("%w: no reading connection became free in time: %w", ErrUnavailable, ctx.Err())
	}
	defer func() { pool <- c }()
	return FileFault(e.path, c.snapshot(ctx, limit, pool == e.reports, fn))
}

func (e *sqliteEngine) Stream(ctx context.Context, fn func(Runner) error) (err error) {
	defer func() { err = FileFault(e.path, err) }()
	c, err := newSQLiteReader(ctx, e.pool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }() // even if fn panics
	return c.snapshot(ctx, 0, true, fn)
}

// snapshot runs fn in a read transaction. It interrupts statements that run longer
// than limit, unless limit is 0. If withCaller is set, it also interrupts them
// when ctx ends.
func (c *sqliteConn) snapshot(ctx context.Context, limit time.Duration, withCaller bool, fn func(Runner) error) error {
	if _, err := c.Exec(ctx, "BEGIN"); err != nil {
		_, _ = c.Exec(ctx, "ROLLBACK") // the last ROLLBACK may have failed because of a disk error
		return fmt.Errorf("%w: begin: %w", ErrUnavailable, err)
	}
	defer func() { _, _ = c.Exec(ctx, "ROLLBACK") }() // nothing was written
	stop := c.watch.start(ctx, limit, withCaller)
	defer stop()
	return interrupted(ctx, fn(c))
}

// Pause implements Pauser.
func (c *sqliteConn) Pause(ctx context.Context, wait func() error) error {
	if c.watch == nil {
		return errors.New("only a snapshot can pause")
	}
	if _, err := c.Exec(ctx, "ROLLBACK"); err != nil {
		return fmt.Errorf("%w: end a snapshot: %w", ErrUnavailable, err)
	}
	if err := wait(); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("%w: begin: %w", ErrUnavailable, err)
	}
	return nil
}

// sqliteConn is a connection with its prepared statements. It never passes a cancelable
// context to the driver, because an interrupted write would end a whole batch. For
// readers, a stopwatch interrupts statements instead.
type sqliteConn struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	watch *stopwatch // nil for the writer and the checkpointer
	undo  *undo      // nil except for the writer
}

func newSQLiteConn(ctx context.Context, pool *sql.DB) (*sqliteConn, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &sqliteConn{conn: conn, stmts: map[string]*sql.Stmt{}}, nil
}

// newSQLiteWriter returns the connection that writes.
func newSQLiteWriter(ctx context.Context, pool *sql.DB, refused func(error) bool) (*sqliteConn, error) {
	c, err := newSQLiteConn(ctx, pool)
	if err != nil {
		return nil, err
	}
	db, err := handleOf(c.conn)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.undo = &undo{db: db, tls: libc.NewTLS(), refused: refused}
	return c, nil
}

// newSQLiteReader returns a connection that cannot write.
func newSQLiteReader(ctx context.Context, pool *sql.DB) (*sqliteConn, error) {
	c, err := newSQLiteConn(ctx, pool)
	if err != nil {
		return nil, err
	}
	if _, err := c.Exec(ctx, "PRAGMA query_only = 1"); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if c.watch, err = newStopwatch(c.conn); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *sqliteConn) close() error {
	for _, s := range c.stmts {
		_ = s.Close()
	}
	if c.undo != nil {
		c.undo.tls.Close()
	}
	return c.conn.Close()
}

func (c *sqliteConn) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if s, ok := c.stmts[text]; ok {
		return s, nil
	}
	for old, s := range c.stmts {
		if len(c.stmts) < statementsKept {
			break
		}
		delete(c.stmts, old)
		_ = s.Close()
	}
	s, err := c.conn.PrepareContext(ctx, signed(text))
	if err != nil {
		return nil, sqliteFault(err)
	}
	c.stmts[text] = s
	return s, nil
}

// signed replaces each $N in a statement with +$N, which has the same value. Since
// version 3.54, SQLite considers the value bound to a bare parameter when it plans a
// statement. It therefore plans the statement again on every execution (half of the time
// was spent in sqlite3Reprepare). It ignores the value of a signed parameter.
//
// If each parameter occurs exactly once and in order, each becomes +?, because SQLite
// finds a named parameter by searching all of them on every binding.
func signed(text string) string {
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

func (c *sqliteConn) Query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	ctx = context.WithoutCancel(ctx)
	if c.watch != nil {
		c.watch.begin()
	}
	s, err := c.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args...)
	return rows, sqliteFault(err)
}

func (c *sqliteConn) Exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	ctx = context.WithoutCancel(ctx)
	s, err := c.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	res, err := s.ExecContext(ctx, args...)
	return res, sqliteFault(err)
}

// Defer executes the statement immediately, because there is no round trip to save.
func (c *sqliteConn) Defer(ctx context.Context, text string, args ...any) error {
	_, err := c.Exec(ctx, text, args...)
	return err
}

func (c *sqliteConn) Expect(string, ...any) {}

func (c *sqliteConn) ExpectLater(string, ...any) {}

func (c *sqliteConn) Forget() {}

func (c *sqliteConn) AwaitTurn(context.Context, string) {}

func (c *sqliteConn) Learn(string, string) {}

func (c *sqliteConn) Locked(...string) (string, error) { return "", nil }

// sqliteFault adds ErrUnavailable to errors after which a retry may succeed.
func sqliteFault(err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
		sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PROTOCOL,
		sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB: // a disk that disappears during a read also causes the last two
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
