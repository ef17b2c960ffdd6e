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

// RelocateOptions are the options of Relocate.
type RelocateOptions struct {
	From     string // path of a SQLite file
	To       string // postgres://…
	DryRun   bool   // return after the plan
	Clock    func() time.Time
	Progress func(string) // may be nil
	Plan     func(Plan)   // called before any row is copied; may be nil
}

// Plan is the extent of a relocation.
type Plan struct {
	Tables int
	Rows   int64
	Bytes  int64         // of the SQLite file
	Takes  time.Duration // estimated from a sample of all tables
}

// Relocation is the result of Relocate.
type Relocation struct {
	Tables   int
	Rows     int64
	Took     time.Duration
	Finished bool // this call did the last step of an earlier, interrupted call
}

// sampleRows is the number of rows of each table that are copied, and rolled
// back, to estimate the duration of the relocation.
const sampleRows = 5000

// Relocate moves all data from SQLite to an empty PostgreSQL database.
//
// It holds SQLite's write lock from the first row to the last. Servers on the
// file continue to read. Their writes are refused as unavailable, so none is
// acknowledged and lost. At the end of the same SQLite transaction it marks the
// file as moved; no server of this version writes to the file after that.
// PostgreSQL is marked as not ready from its commit until after the commit of
// SQLite. So the two databases are never writable at the same time.
//
// If Relocate is interrupted before it marks the file, nothing has changed, and
// a new call starts again. If it is interrupted between the mark and the end,
// neither database is writable until Relocate is called again, which then does
// only the last step.
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
	have, err := from.schema(ctx)
	if err != nil {
		return done, err
	}
	if have != newest {
		return done, fmt.Errorf("%s has schema %d, but this program has %d: use the cardwall that serves it, or run cardwall migrate "+
			"without --to first", opts.From, have, newest)
	}
	to, err := openBulk(ctx, opts.To)
	if err != nil {
		return done, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, to.close()) }()
	if went, err := sqldb.RelocatedTo(ctx, from); err != nil || went != "" {
		if err == nil {
			err = to.finishRelocation(ctx, went)
		}
		return Relocation{Finished: true}, err
	}
	if err := to.emptyPostgres(ctx, opts.To, newest, opts.Clock()); err != nil {
		return done, err
	}
	tables, err := to.meet(ctx, from)
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
	began := time.Now()
	l, err := to.relocate(ctx, from, opts, tables, plan)
	if err != nil {
		return done, err
	}
	done.Tables, done.Took = len(l.sums), time.Since(began)
	for _, t := range l.sums {
		done.Rows += t.Rows
	}
	return done, to.do(context.WithoutCancel(ctx), "ANALYZE")
}

// finishRelocation does the last step of a relocation whose source is marked as moved.
func (b *bulk) finishRelocation(ctx context.Context, went string) error {
	n, err := b.schema(ctx)
	if err != nil || n == 0 {
		return errors.Join(sqldb.RelocatedError(went), err)
	}
	arriving, err := b.setting(ctx, sqldb.ArrivingSetting)
	if err != nil {
		return err
	}
	if id, _, _ := strings.Cut(went, " "); arriving != id {
		return sqldb.RelocatedError(went)
	}
	_, err = b.exec(ctx, "DELETE FROM settings WHERE key = $1", sqldb.ArrivingSetting)
	return err
}

// plan counts the rows to move and times a sample of them.
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
	if err := b.alone(ctx, tables, opts.Clock()); err != nil {
		return p, err
	}
	silent := func(string) {}
	l, err := b.load(ctx, from, tables, sampleRows, newMeter(silent, "", 0), newMeter(silent, "", 0))
	if err := errors.Join(err, b.do(context.WithoutCancel(ctx), "ROLLBACK")); err != nil {
		return p, fmt.Errorf("move a sample: %w", err)
	}
	var sampled int64
	for i, t := range l.sums {
		sampled += t.Rows
		p.Takes += scaled(l.tables[i], counts[i], t.Rows)
	}
	p.Takes += scaled(l.indexing, p.Rows, sampled)
	return p, nil
}

// scaled returns the estimated duration for all rows, given the duration for
// some of them.
func scaled(took time.Duration, all, some int64) time.Duration {
	if some == 0 || all <= some {
		return took
	}
	return time.Duration(float64(took) * float64(all) / float64(some))
}

func (b *bulk) relocate(ctx context.Context, from *bulk, opts RelocateOptions, tables []table, p Plan) (l loading, err error) {
	if err := b.alone(ctx, tables, opts.Clock()); err != nil {
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
	ctx = context.WithoutCancel(ctx) // an interruption from here on would leave neither database writable
	if err := b.do(ctx, "COMMIT"); err != nil {
		return l, fmt.Errorf("commit in PostgreSQL: %w", err)
	}
	mark := fmt.Sprintf("%s %s %s", id, withoutPassword(opts.To), board.InstantOf(opts.Clock()))
	if _, err := from.exec(ctx, "INSERT INTO settings (key, value) VALUES ($1, $2)", sqldb.RelocatedSetting, mark); err != nil {
		return l, fmt.Errorf("mark the SQLite file; nothing has moved, and PostgreSQL is not used: %w", err)
	}
	if err := from.do(ctx, "COMMIT"); err != nil {
		return l, fmt.Errorf("mark the SQLite file; nothing has moved, and PostgreSQL is not used: %w", err)
	}
	if err := b.finishRelocation(ctx, mark); err != nil {
		return l, fmt.Errorf("all data has moved, but PostgreSQL could not be marked as ready: run the same command again: %w", err)
	}
	return l, nil
}

const (
	lockPatience = 2 * time.Minute
	lockPause    = time.Millisecond
)

// lockFile takes SQLite's write lock. A busy server releases it only briefly, so
// lockFile tries often.
func (b *bulk) lockFile(ctx context.Context) error {
	if err := b.do(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	for began := time.Now(); ; {
		err := b.do(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			return b.do(ctx, "PRAGMA busy_timeout = 10000")
		}
		if !sqldb.IsBusy(err) || time.Since(began) > lockPatience {
			return fmt.Errorf("lock the SQLite file: %w", err)
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// withoutPassword returns the address of a database without its password.
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
