package dbtool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// RelocateOptions configures Relocate.
type RelocateOptions struct {
	From     string // path of a SQLite file
	To       string // postgres://…
	DryRun   bool   // only create the tables in PostgreSQL and compute the plan; do not move anything
	Clock    func() time.Time
	Progress func(string) // may be nil
	Plan     func(Plan)   // called before the move begins; may be nil
}

// Plan describes the size and the expected duration of a relocation.
type Plan struct {
	Tables   int
	Rows     int64
	Bytes    int64         // size of the SQLite file
	Estimate time.Duration // duration, estimated from a sample of all tables
}

// Relocation is the result of Relocate.
type Relocation struct {
	Tables   int
	Rows     int64
	Took     time.Duration
	Finished bool // this call only finished an earlier, interrupted relocation
}

// sampleRows is the maximum number of rows per table in the trial copy. The trial copy is
// timed, to estimate the duration of the relocation, and is rolled back.
const sampleRows = 5000

// Relocate moves all data from SQLite to an empty PostgreSQL database.
//
// It holds SQLite's write lock while it copies the rows. Servers that use the file
// continue to read, and their writes fail with CodeUnavailable. This way, no acknowledged
// write is lost. At the end of the same SQLite transaction, Relocate marks the file as
// moved. After that, no server of this version writes to the file. In
// PostgreSQL, Relocate commits the rows together with a mark that the database is not
// ready. It removes the mark after the SQLite commit. So the two databases are never
// writable at the same time.
//
// If Relocate is interrupted before it marks the file, the file is unchanged, and the
// next call starts from the beginning. If it is interrupted later, neither database is
// writable until the next call, which only finishes the relocation.
func Relocate(ctx context.Context, opts RelocateOptions) (done Relocation, err error) {
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	from, err := openBulk(ctx, opts.From)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	newest, err := newestSchema()
	if err != nil {
		return done, err
	}
	current, err := from.schema(ctx)
	if err != nil {
		return done, err
	}
	if current != newest {
		return done, fmt.Errorf("%s has schema version %d, but this program needs version %d: use the cardwall binary that "+
			"serves this file, or first run cardwall migrate without --to", opts.From, current, newest)
	}
	to, err := openBulk(ctx, opts.To)
	if err != nil {
		return done, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, to.close()) }()
	if moved, err := sqldb.RelocatedTo(ctx, from); err != nil || moved != "" {
		if err == nil {
			err = to.finishRelocation(ctx, moved)
		}
		return Relocation{Finished: true}, err
	}
	if err := to.prepareEmptyPostgres(ctx, opts.To, newest, opts.Clock()); err != nil {
		return done, err
	}
	tables, err := to.commonTables(ctx, from)
	if err != nil {
		return done, err
	}
	plan, err := to.plan(ctx, from, opts, tables)
	if err != nil {
		return done, err
	}
	if opts.Plan != nil {
		opts.Plan(plan)
	}
	if opts.DryRun {
		return done, nil
	}
	start := time.Now()
	l, err := to.relocate(ctx, from, opts, tables, plan)
	if err != nil {
		return done, err
	}
	done.Tables, done.Took = len(l.sums), time.Since(start)
	for _, t := range l.sums {
		done.Rows += t.Rows
	}
	return done, to.do(context.WithoutCancel(ctx), "ANALYZE")
}

// finishRelocation marks the target of a relocation as ready. moved is the value of
// RelocatedSetting in the source. finishRelocation returns an error if the data has moved
// to another database, or if the target is already marked as ready.
func (b *bulk) finishRelocation(ctx context.Context, moved string) error {
	n, err := b.schema(ctx)
	if err != nil || n == 0 {
		return errors.Join(sqldb.RelocatedError(moved), err)
	}
	arriving, err := b.setting(ctx, sqldb.ArrivingSetting)
	if err != nil {
		return err
	}
	if id, _, _ := strings.Cut(moved, " "); arriving != id {
		return sqldb.RelocatedError(moved)
	}
	_, err = b.exec(ctx, "DELETE FROM settings WHERE key = $1", sqldb.ArrivingSetting)
	return err
}

// plan counts the rows to move, and estimates the duration from a trial copy.
func (b *bulk) plan(ctx context.Context, from *bulk, opts RelocateOptions, tables []table) (p Plan, err error) {
	info, err := os.Stat(opts.From)
	if err != nil {
		return p, err
	}
	p.Tables, p.Bytes = len(tables), info.Size()
	counts := make([]int64, len(tables))
	for i, t := range tables {
		if _, err := from.one(ctx, "SELECT count(*) FROM "+quoted(t.name), nil, &counts[i]); err != nil {
			return p, fmt.Errorf("count %s: %w", t.name, err)
		}
		p.Rows += counts[i]
	}
	opts.Progress("timing a sample")
	if err := b.beginExclusive(ctx, tables, opts.Clock()); err != nil {
		return p, err
	}
	l, err := b.load(ctx, from, tables, sampleRows, newMeter(nil, "", 0), newMeter(nil, "", 0))
	if err := errors.Join(err, b.do(context.WithoutCancel(ctx), "ROLLBACK")); err != nil {
		return p, fmt.Errorf("copy a sample: %w", err)
	}
	var sampled int64
	for i, t := range l.sums {
		sampled += t.Rows
		p.Estimate += scaled(l.tables[i], counts[i], t.Rows)
	}
	p.Estimate += scaled(l.indexing, p.Rows, sampled)
	return p, nil
}

// scaled returns the estimated duration for all rows, given the duration for the sampled
// rows.
func scaled(took time.Duration, all, sampled int64) time.Duration {
	if sampled == 0 || all <= sampled {
		return took
	}
	return time.Duration(float64(took) * float64(all) / float64(sampled))
}

func (b *bulk) relocate(ctx context.Context, from *bulk, opts RelocateOptions, tables []table, p Plan) (l loadResult, err error) {
	if err := b.beginExclusive(ctx, tables, opts.Clock()); err != nil {
		return l, err
	}
	defer func() { _ = b.do(context.WithoutCancel(ctx), "ROLLBACK") }() // no effect after a commit
	if err := from.lockFile(ctx); err != nil {
		return l, err
	}
	defer func() { _ = from.do(context.WithoutCancel(ctx), "ROLLBACK") }() // no effect after a commit
	opts.Progress("moving: the SQLite file is read-only from now on")
	if l, err = b.load(ctx, from, tables, 0, newMeter(opts.Progress, "copying", p.Rows), newMeter(opts.Progress, "comparing",
		p.Rows)); err != nil {
		return l, err
	}
	id := rand.Text()
	if _, err := b.exec(ctx, "INSERT INTO settings (key, value) VALUES ($1, $2)", sqldb.ArrivingSetting, id); err != nil {
		return l, err
	}
	if err := ctx.Err(); err != nil {
		return l, err
	}
	ctx = context.WithoutCancel(ctx) // an interruption from here on could leave neither database writable
	if err := b.do(ctx, "COMMIT"); err != nil {
		return l, fmt.Errorf("commit in PostgreSQL: %w", err)
	}
	moved := fmt.Sprintf("%s %s %s", id, withoutPassword(opts.To), board.InstantOf(opts.Clock()))
	if _, err := from.exec(ctx, "INSERT INTO settings (key, value) VALUES ($1, $2)", sqldb.RelocatedSetting, moved); err != nil {
		return l, fmt.Errorf("mark the SQLite file as moved (it stays in use, and the PostgreSQL copy is ignored): %w", err)
	}
	if err := from.do(ctx, "COMMIT"); err != nil {
		return l, fmt.Errorf("mark the SQLite file as moved (it stays in use, and the PostgreSQL copy is ignored): %w", err)
	}
	if err := b.finishRelocation(ctx, moved); err != nil {
		return l, fmt.Errorf("all data has moved, but PostgreSQL could not be marked as ready: run the same command again: %w", err)
	}
	return l, nil
}

const (
	fileLockTimeout = 2 * time.Minute
	fileLockPause   = time.Millisecond
)

// lockFile begins a transaction that holds SQLite's write lock. A busy server releases
// the lock only briefly, so lockFile tries often.
func (b *bulk) lockFile(ctx context.Context) error {
	if err := b.do(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	for start := time.Now(); ; {
		err := b.do(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			return b.do(ctx, "PRAGMA busy_timeout = 10000")
		}
		if !sqldb.IsBusy(err) || time.Since(start) > fileLockTimeout {
			return fmt.Errorf("lock the SQLite file: %w", err)
		}
		select {
		case <-time.After(fileLockPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// withoutPassword returns the database address without passwords.
func withoutPassword(database string) string {
	address, err := url.Parse(database)
	if err != nil {
		return "postgres://…"
	}
	query := address.Query()
	for _, secret := range []string{"password", "sslpassword", "passfile"} {
		query.Del(secret)
	}
	address.RawQuery, address.Fragment = query.Encode(), ""
	if address.User != nil {
		address.User = url.User(address.User.Username())
	}
	return address.String()
}
