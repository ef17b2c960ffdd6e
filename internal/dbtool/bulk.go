package dbtool

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"cardwall/internal/sqldb"
)

// bulk is a connection for operations on whole tables. Servers may use the same database
// concurrently. Opening a bulk does not create or migrate the database.
type bulk struct {
	pool    *sql.DB
	conn    *sql.Conn
	dialect sqldb.Dialect
	file    string // path of the database file; "" for PostgreSQL and for temporary files
}

// openBulk connects to an existing database.
func openBulk(ctx context.Context, database string) (*bulk, error) {
	if !sqldb.IsPostgres(database) {
		if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no database at %s: %w", database, err)
		}
		b, err := openBulkFile(ctx, database, "mode=rw&_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)")
		if err != nil {
			return nil, sqldb.FileFault(database, err)
		}
		b.file = database
		return b, nil
	}
	cfg, err := pgx.ParseConfig(database)
	if err != nil {
		return nil, sqldb.ErrAddress
	}
	for _, name := range []string{"pool_max_conns", "pool_min_conns", "pool_max_conn_lifetime", "pool_max_conn_idle_time",
		"pool_health_check_period"} {
		delete(cfg.RuntimeParams, name) // settings of pgxpool; PostgreSQL would reject them
	}
	cfg.RuntimeParams["application_name"] = "cardwall-bulk"
	cfg.RuntimeParams["jit"] = "off"
	return connectBulk(ctx, stdlib.OpenDB(*cfg), sqldb.Dialect{Name: "postgres", RowLocks: true})
}

// openBulkFile connects to a SQLite file with the given parameters.
func openBulkFile(ctx context.Context, path, parameters string) (*bulk, error) {
	pool, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()+"?"+parameters)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return connectBulk(ctx, pool, sqldb.Dialect{Name: "sqlite"})
}

func connectBulk(ctx context.Context, pool *sql.DB, d sqldb.Dialect) (*bulk, error) {
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect: %w", err), pool.Close())
	}
	return &bulk{pool: pool, conn: conn, dialect: d}, nil
}

func (b *bulk) close() error { return errors.Join(b.conn.Close(), b.pool.Close()) }

// Query implements sqldb.Querier.
func (b *bulk) Query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	rows, err := b.conn.QueryContext(ctx, text, args...)
	return rows, b.fault(err)
}

func (b *bulk) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	result, err := b.conn.ExecContext(ctx, text, args...)
	return result, b.fault(err)
}

// fault adds to an error about the database file what is wrong with the file.
func (b *bulk) fault(err error) error {
	if b.file == "" {
		return err
	}
	return sqldb.FileFault(b.file, err)
}

func (b *bulk) each(ctx context.Context, text string, args []any, scan func(*sql.Rows) error) error {
	return b.fault(sqldb.Each(ctx, b, text, args, scan))
}

func (b *bulk) one(ctx context.Context, text string, args []any, dest ...any) (found bool, err error) {
	found, err = sqldb.One(ctx, b, text, args, dest...)
	return found, b.fault(err)
}

func (b *bulk) count(ctx context.Context, text string, args ...any) (n int, err error) {
	_, err = b.one(ctx, text, args, &n)
	return n, err
}

func (b *bulk) strings(ctx context.Context, text string, args ...any) ([]string, error) {
	out, err := sqldb.Strings(ctx, b, text, args...)
	return out, b.fault(err)
}

func (b *bulk) tables(ctx context.Context) ([]table, error) { return tables(ctx, b, b.dialect) }

func (b *bulk) relations(ctx context.Context) ([]relation, error) {
	return relations(ctx, b, b.dialect)
}

// do runs the given statements in order.
func (b *bulk) do(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if _, err := b.exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// schema returns the version of the schema, or 0 if there is none.
func (b *bulk) schema(ctx context.Context) (version int64, err error) {
	exists := "SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'"
	if b.dialect.RowLocks {
		exists = "SELECT count(*) FROM pg_class WHERE relname = 'goose_db_version' AND relnamespace = current_schema()::regnamespace"
	}
	n, err := b.count(ctx, exists)
	if err == nil && n > 0 {
		_, err = b.one(ctx, "SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied", nil, &version)
	}
	if err != nil {
		err = fmt.Errorf("read the schema version: %w", err)
	}
	return version, err
}

// setting returns the value of a setting, or "" if there is none.
func (b *bulk) setting(ctx context.Context, key string) (value string, err error) {
	_, err = b.one(ctx, "SELECT value FROM settings WHERE key = $1", []any{key}, &value)
	return value, err
}

// nonEmptyTable returns the name of a table that contains data, or "" if the installation
// is empty. It ignores the tables to which a server writes when it first starts.
func (b *bulk) nonEmptyTable(ctx context.Context, tables []table) (string, error) {
	for _, t := range tables {
		if t.name == "settings" || t.name == "leases" {
			continue
		}
		n, err := b.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+quoted(t.name)+" LIMIT 1) AS r")
		if err != nil || n > 0 {
			return t.name, err
		}
	}
	return "", nil
}

// rowReader reads the rows of a table one by one. It implements
// pgx.CopyFromSource.
type rowReader struct {
	rows   *sql.Rows
	values []any
	dest   []any                    // pointers to values
	visit  func(values []any) error // called with each row
	err    error
}

// read returns a reader for at most limit rows of a table, or for all rows if limit is 0.
// The order is undefined. The reader calls visit with each row.
func (b *bulk) read(ctx context.Context, t table, limit int, visit func(values []any) error) (*rowReader, error) {
	text := "SELECT " + quoted(t.columns...) + " FROM " + quoted(t.name)
	if limit > 0 {
		text += " LIMIT " + strconv.Itoa(limit)
	}
	rows, err := b.Query(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t.name, err)
	}
	r := &rowReader{rows: rows, values: make([]any, len(t.columns)), dest: make([]any, len(t.columns)), visit: visit}
	for i := range r.values {
		r.dest[i] = &r.values[i]
	}
	return r, nil
}

// Next moves to the next row.
func (r *rowReader) Next() bool {
	if r.err != nil || !r.rows.Next() {
		r.err = errors.Join(r.err, r.rows.Err())
		return false
	}
	if r.err = r.rows.Scan(r.dest...); r.err != nil {
		return false
	}
	for i, value := range r.values {
		if text, ok := value.([]byte); ok && text == nil {
			r.values[i] = []byte{} // nil would become NULL
		}
	}
	r.err = r.visit(r.values)
	return r.err == nil
}

// Values returns the values of the current row. Each is a string, an int64, a []byte or
// nil. They are valid until the next call to Next.
func (r *rowReader) Values() ([]any, error) { return r.values, nil }

// Err returns the error that stopped Next, if any.
func (r *rowReader) Err() error { return r.err }

// rows calls visit with each row of a table, in no particular order.
func (b *bulk) rows(ctx context.Context, t table, visit func(values []any) error) error {
	r, err := b.read(ctx, t, 0, visit)
	if err != nil {
		return err
	}
	for r.Next() { // Next calls visit
	}
	if err := errors.Join(r.err, r.rows.Close()); err != nil {
		return fmt.Errorf("read %s: %w", t.name, b.fault(err))
	}
	return nil
}

// checksum adds up the SHA-256 hashes of the canonically encoded rows of a table, and the
// hash of its column names joined by commas. The result depends neither on the order of
// the rows nor on the type of database. The encoding of a row is the concatenation of its
// columns, sorted by name. NULL is encoded as n. Any other value is encoded as a letter
// for its type, its length, a colon and the value itself. Numbers are decimal.
type checksum struct {
	rows  int64
	lanes [4]uint64 // sums of the four 64-bit parts of the hashes
	row   []byte    // the current row, encoded
}

func newChecksum(t table) *checksum {
	c := &checksum{}
	c.sum([]byte(strings.Join(t.columns, ",")))
	return c
}

func (c *checksum) add(values []any) error {
	c.row = c.row[:0]
	for _, value := range values {
		switch value := value.(type) {
		case nil:
			c.row = append(c.row, 'n')
		case int64:
			var digits [20]byte
			d := strconv.AppendInt(digits[:0], value, 10)
			c.row = append(c.header('i', len(d)), d...)
		case string:
			c.row = append(c.header('t', len(value)), value...)
		case []byte:
			c.row = append(c.header('b', len(value)), value...)
		default:
			return fmt.Errorf("unexpected type %T of a column value", value)
		}
	}
	c.rows++
	c.sum(c.row)
	return nil
}

// header appends the type and the length of a value to the encoded row and returns the
// result.
func (c *checksum) header(kind byte, length int) []byte {
	return append(strconv.AppendInt(append(c.row, kind), int64(length), 10), ':')
}

func (c *checksum) sum(data []byte) {
	hash := sha256.Sum256(data)
	for i := range c.lanes {
		c.lanes[i] += binary.BigEndian.Uint64(hash[8*i:])
	}
}

func (c *checksum) result(t table) TableSum {
	var out [32]byte
	for i, lane := range c.lanes {
		binary.BigEndian.PutUint64(out[8*i:], lane)
	}
	return TableSum{Name: t.name, Rows: c.rows, Checksum: hex.EncodeToString(out[:])}
}

// TableSum is the number of rows and the checksum of a table.
type TableSum struct {
	Name     string
	Rows     int64
	Checksum string
}

// sumTables reads tables and returns their row counts and checksums.
func (b *bulk) sumTables(ctx context.Context, tables []table, m *meter) ([]TableSum, error) {
	out := make([]TableSum, len(tables))
	for i, t := range tables {
		c := newChecksum(t)
		if err := b.rows(ctx, t, func(values []any) error {
			m.row(t.name)
			return c.add(values)
		}); err != nil {
			return nil, err
		}
		out[i] = c.result(t)
	}
	return out, nil
}

// compareTables returns an error that names the tables that are missing from got, are
// unexpected, or have other row counts or checksums. It returns nil if there are none.
func compareTables(want, got []TableSum) error {
	known := map[string]TableSum{}
	for _, t := range got {
		known[t.Name] = t
	}
	var wrong []string
	for _, t := range want {
		switch other, ok := known[t.Name]; {
		case !ok:
			wrong = append(wrong, t.Name+" is missing")
		case other.Rows != t.Rows:
			wrong = append(wrong, fmt.Sprintf("%s has %d rows instead of %d", t.Name, other.Rows, t.Rows))
		case other.Checksum != t.Checksum:
			wrong = append(wrong, t.Name+" has different content")
		}
		delete(known, t.Name)
	}
	for name := range known {
		wrong = append(wrong, name+" is unexpected")
	}
	if wrong != nil {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

// meter reports the progress of a long operation, at most once per meterInterval.
type meter struct {
	report    func(string)
	operation string
	total     int64 // number of rows; 0 if unknown
	done      int64
	start     time.Time
	last      time.Time // when the last report was made
}

const meterInterval = 2 * time.Second

func newMeter(report func(string), operation string, total int64) *meter {
	if report == nil {
		report = func(string) {}
	}
	return &meter{report: report, operation: operation, total: total}
}

// row counts one row of the named table.
func (m *meter) row(name string) {
	if m.done++; m.done%1024 != 1 {
		return
	}
	now := time.Now()
	if m.done == 1 {
		m.start, m.last = now, now
		return
	}
	if now.Sub(m.last) < meterInterval {
		return
	}
	m.last = now
	if m.total <= m.done {
		m.report(fmt.Sprintf("%s: %d rows (%s)", m.operation, m.done, name))
		return
	}
	remaining := time.Duration(float64(now.Sub(m.start)) / float64(m.done) * float64(m.total-m.done))
	m.report(fmt.Sprintf("%s: %d of %d rows (%s), about %s to go", m.operation, m.done, m.total, name, remaining.Round(time.Second)))
}
