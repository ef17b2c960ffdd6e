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

// bulk is a separate connection for work on whole tables, while servers may use
// the same database. Opening it neither migrates nor creates anything.
type bulk struct {
	pool *sql.DB
	conn *sql.Conn
	is   sqldb.Dialect
}

// openBulk connects to an existing database.
func openBulk(ctx context.Context, database string) (*bulk, error) {
	if !sqldb.IsPostgres(database) {
		if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no database at %s: %w", database, err)
		}
		return openBulkFile(ctx, database, "mode=rw&_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)")
	}
	cfg, err := pgx.ParseConfig(database)
	if err != nil {
		return nil, sqldb.ErrAddress
	}
	for _, name := range []string{"pool_max_conns", "pool_min_conns", "pool_max_conn_lifetime", "pool_max_conn_idle_time",
		"pool_health_check_period"} {
		delete(cfg.RuntimeParams, name) // settings of the server's pool, which PostgreSQL does not know
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
	return &bulk{pool: pool, conn: conn, is: d}, nil
}

func (b *bulk) close() error { return errors.Join(b.conn.Close(), b.pool.Close()) }

// Query implements sqldb.Querier.
func (b *bulk) Query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return b.conn.QueryContext(ctx, text, args...)
}

func (b *bulk) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return b.conn.ExecContext(ctx, text, args...)
}

func (b *bulk) each(ctx context.Context, text string, args []any, scan func(*sql.Rows) error) error {
	return sqldb.Each(ctx, b, text, args, scan)
}

func (b *bulk) one(ctx context.Context, text string, args []any, dest ...any) (found bool, err error) {
	return sqldb.One(ctx, b, text, args, dest...)
}

func (b *bulk) count(ctx context.Context, text string, args ...any) (n int, err error) {
	_, err = b.one(ctx, text, args, &n)
	return n, err
}

func (b *bulk) texts(ctx context.Context, text string, args ...any) ([]string, error) {
	return sqldb.Strings(ctx, b, text, args...)
}

func (b *bulk) tables(ctx context.Context) ([]table, error) { return tables(ctx, b, b.is) }

func (b *bulk) relations(ctx context.Context) ([]relation, error) { return relations(ctx, b, b.is) }

// do runs statements in order.
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
	there := "SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'"
	if b.is.RowLocks {
		there = "SELECT count(*) FROM pg_class WHERE relname = 'goose_db_version' AND relnamespace = current_schema()::regnamespace"
	}
	n, err := b.count(ctx, there)
	if err == nil && n > 0 {
		_, err = b.one(ctx, "SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied", nil, &version)
	}
	if err != nil {
		err = fmt.Errorf("read the schema's version: %w", err)
	}
	return version, err
}

// setting returns the value of a setting, or "" if there is none.
func (b *bulk) setting(ctx context.Context, key string) (value string, err error) {
	_, err = b.one(ctx, "SELECT value FROM settings WHERE key = $1", []any{key}, &value)
	return value, err
}

// filled returns the name of a table that holds data of people, or "" if the
// installation is empty. The rows that a server writes at its first start do not
// count.
func (b *bulk) filled(ctx context.Context, tables []table) (string, error) {
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
	rows         *sql.Rows
	values, into []any
	see          func(values []any) error // called with each row
	err          error
}

// read starts to read a table, unordered. It returns at most limit rows; 0 is no
// limit.
func (b *bulk) read(ctx context.Context, t table, limit int, see func(values []any) error) (*rowReader, error) {
	text := "SELECT " + quoted(t.columns...) + " FROM " + quoted(t.name)
	if limit > 0 {
		text += " LIMIT " + strconv.Itoa(limit)
	}
	rows, err := b.Query(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t.name, err)
	}
	r := &rowReader{rows: rows, values: make([]any, len(t.columns)), into: make([]any, len(t.columns)), see: see}
	for i := range r.values {
		r.into[i] = &r.values[i]
	}
	return r, nil
}

// Next moves to the next row.
func (r *rowReader) Next() bool {
	if r.err != nil || !r.rows.Next() {
		r.err = errors.Join(r.err, r.rows.Err())
		return false
	}
	if r.err = r.rows.Scan(r.into...); r.err != nil {
		return false
	}
	for i, value := range r.values {
		if text, ok := value.([]byte); ok && text == nil {
			r.values[i] = []byte{} // nil would become null
		}
	}
	r.err = r.see(r.values)
	return r.err == nil
}

// Values returns the row: text, int64, bytes or nil. They are valid until the next
// call of Next.
func (r *rowReader) Values() ([]any, error) { return r.values, nil }

// Err returns the error that stopped Next, if any.
func (r *rowReader) Err() error { return r.err }

// rows reads all rows of a table, unordered.
func (b *bulk) rows(ctx context.Context, t table, see func(values []any) error) error {
	r, err := b.read(ctx, t, 0, see)
	if err != nil {
		return err
	}
	for r.Next() { // the callback see does the work
	}
	if err := errors.Join(r.err, r.rows.Close()); err != nil {
		return fmt.Errorf("read %s: %w", t.name, err)
	}
	return nil
}

// checksum is the sum of the SHA-256 of the canonical text of each row of a
// table. It depends neither on the order of the rows nor on the database. The
// text of a row consists of its columns sorted by name: n for null, or a letter,
// the length, a colon and the value. Numbers are decimal.
type checksum struct {
	rows  int64
	lanes [4]uint64
	text  []byte
}

func newChecksum(t table) *checksum {
	c := &checksum{}
	c.sum([]byte(strings.Join(t.columns, ",")))
	return c
}

func (c *checksum) add(values []any) error {
	c.text = c.text[:0]
	for _, value := range values {
		switch value := value.(type) {
		case nil:
			c.text = append(c.text, 'n')
		case int64:
			var digits [20]byte
			d := strconv.AppendInt(digits[:0], value, 10)
			c.text = append(c.head('i', len(d)), d...)
		case string:
			c.text = append(c.head('t', len(value)), value...)
		case []byte:
			c.text = append(c.head('b', len(value)), value...)
		default:
			return fmt.Errorf("a value has the unexpected type %T", value)
		}
	}
	c.rows++
	c.sum(c.text)
	return nil
}

func (c *checksum) head(kind byte, length int) []byte {
	return append(strconv.AppendInt(append(c.text, kind), int64(length), 10), ':')
}

func (c *checksum) sum(text []byte) {
	hash := sha256.Sum256(text)
	for i := range c.lanes {
		c.lanes[i] += binary.BigEndian.Uint64(hash[8*i:])
	}
}

func (c *checksum) of(t table) TableSum {
	var out [32]byte
	for i, lane := range c.lanes {
		binary.BigEndian.PutUint64(out[8*i:], lane)
	}
	return TableSum{Name: t.name, Rows: c.rows, Checksum: hex.EncodeToString(out[:])}
}

// TableSum is the number of rows of a table and their checksum.
type TableSum struct {
	Name     string
	Rows     int64
	Checksum string
}

// sumTables reads tables and returns their sums.
func (b *bulk) sumTables(ctx context.Context, tables []table, on *meter) ([]TableSum, error) {
	out := make([]TableSum, len(tables))
	for i, t := range tables {
		c := newChecksum(t)
		if err := b.rows(ctx, t, func(values []any) error {
			on.row(t.name)
			return c.add(values)
		}); err != nil {
			return nil, err
		}
		out[i] = c.of(t)
	}
	return out, nil
}

// differences returns an error that names the tables whose sums differ.
func differences(want, got []TableSum) error {
	known := map[string]TableSum{}
	for _, t := range got {
		known[t.Name] = t
	}
	var wrong []string
	for _, t := range want {
		switch other, there := known[t.Name]; {
		case !there:
			wrong = append(wrong, t.Name+" is missing")
		case other.Rows != t.Rows:
			wrong = append(wrong, fmt.Sprintf("%s has %d rows instead of %d", t.Name, other.Rows, t.Rows))
		case other.Checksum != t.Checksum:
			wrong = append(wrong, t.Name+" has different content")
		}
		delete(known, t.Name)
	}
	for name := range known {
		wrong = append(wrong, name+" is not expected")
	}
	if wrong != nil {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

// meter reports the progress of long work from time to time.
type meter struct {
	say   func(string)
	what  string
	total int64 // 0 if unknown
	done  int64
	began time.Time
	last  time.Time
}

const meterPause = 2 * time.Second

func newMeter(say func(string), what string, total int64) *meter {
	if say == nil {
		say = func(string) {}
	}
	return &meter{say: say, what: what, total: total}
}

// row counts one row.
func (m *meter) row(name string) {
	if m.done++; m.done%1024 != 1 {
		return
	}
	now := time.Now()
	if m.done == 1 {
		m.began, m.last = now, now
		return
	}
	if now.Sub(m.last) < meterPause {
		return
	}
	m.last = now
	if m.total <= m.done {
		m.say(fmt.Sprintf("%s: %d rows (%s)", m.what, m.done, name))
		return
	}
	left := time.Duration(float64(now.Sub(m.began)) / float64(m.done) * float64(m.total-m.done))
	m.say(fmt.Sprintf("%s: %d of %d rows (%s), about %s to go", m.what, m.done, m.total, name, left.Round(time.Second)))
}
