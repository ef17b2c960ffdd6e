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

// RelocateOptions say from where to where data moves.
type RelocateOptions struct {
	From     string // the path of an SQLite file
	To       string // postgres://…
	DryRun   bool   // end before anything is moved
	Clock    func() time.Time
	Progress func(string) // may be nil
	Plan     func(Plan)   // told before the move begins; may be nil
}

// Plan is what a move is going to do.
type Plan struct {
	Tables int
	Rows   int64
	Bytes  int64         // of the SQLite file
	Takes  time.Duration // by what a sample of all tables took
}

// Moved is what a move did.
type Moved struct {
	Tables   int
	Rows     int64
	Took     time.Duration
	Finished bool // an earlier move was complete but for its last step, which this one did
}

// sampleRows is how many rows of each table are moved to and fro first, to tell
// how long all takes.
const sampleRows = 5000

// Relocate moves all data from SQLite to an empty PostgreSQL database.
//
// It holds the lock of SQLite's writer from the first row to the last. Servers
// on the file go on reading; their writes are refused as unavailable, and so
// neither acknowledged nor lost. In the same transaction of SQLite it writes,
// as the last thing, that the data has moved: no server of this version writes
// into the file again. PostgreSQL in turn is marked as not ready from its commit
// until after that of SQLite. So at no moment two databases can be written.
//
// Interrupted before the mark, all is as it was, and a new move begins anew.
// Interrupted between the mark and the end, neither can be written until
// Relocate is called again, which then only ends what was begun.
func Relocate(ctx context.Context, opts RelocateOptions) (done Moved, err error) {
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
		return done, fmt.Errorf("%s has schema %d and this program %d: move with the cardwall that serves it, or run cardwall migrate without --to first", opts.From, have, newest)
	}
	to, err := openBulk(ctx, opts.To)
	if err != nil {
		return done, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, to.close()) }()
	if went, err := sqldb.MovedTo(ctx, from); err != nil || went != "" {
		if err == nil {
			err = to.finishMove(ctx, went)
		}
		return Moved{Finished: true}, err
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

// finishMove does the last step of a move whose source is marked.
func (b *bulk) finishMove(ctx context.Context, went string) error {
	n, err := b.schema(ctx)
	if err != nil || n == 0 {
		return errors.Join(sqldb.Relocated(went), err)
	}
	arriving, err := b.setting(ctx, sqldb.ArrivingSetting)
	if err != nil {
		return err
	}
	if id, _, _ := strings.Cut(went, " "); arriving != id {
		return sqldb.Relocated(went)
	}
	_, err = b.exec(ctx, "DELETE FROM settings WHERE key = $1", sqldb.ArrivingSetting)
	return err
}

// plan counts what there is to move, and times a sample of it.
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

// scaled is how long all rows take when some took so long.
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
	defer func() { _ = b.do(context.WithoutCancel(ctx), "ROLLBACK") }() // after a commit it does nothing
	if err := from.lockFile(ctx); err != nil {
		return l, err
	}
	defer func() { _ = from.do(context.WithoutCancel(ctx), "ROLLBACK") }() // likewise
	opts.Progress("moving: nothing is written into the SQLite file from now on")
	if l, err = b.load(ctx, from, tables, 0, newMeter(opts.Progress, "copying", p.Rows), newMeter(opts.Progress, "comparing", p.Rows)); err != nil {
		return l, err
	}
	id := rand.Text()
	if _, err := b.exec(ctx, "INSERT INTO settings (key, value) VALUES ($1, $2)", sqldb.ArrivingSetting, id); err != nil {
		return l, err
	}
	if err := ctx.Err(); err != nil {
		return l, err
	}
	ctx = context.WithoutCancel(ctx) // to be interrupted now would leave neither to be written
	if err := b.do(ctx, "COMMIT"); err != nil {
		return l, fmt.Errorf("commit in PostgreSQL: %w", err)
	}
	mark := fmt.Sprintf("%s %s %s", id, withoutPassword(opts.To), board.InstantOf(opts.Clock()))
	if _, err := from.exec(ctx, "INSERT INTO settings (key, value) VALUES ($1, $2)", sqldb.MovedSetting, mark); err != nil {
		return l, fmt.Errorf("mark the SQLite file; nothing has moved, and PostgreSQL is not used: %w", err)
	}
	if err := from.do(ctx, "COMMIT"); err != nil {
		return l, fmt.Errorf("mark the SQLite file; nothing has moved, and PostgreSQL is not used: %w", err)
	}
	if err := b.finishMove(ctx, mark); err != nil {
		return l, fmt.Errorf("all has moved, but for the word that PostgreSQL is ready: run this again: %w", err)
	}
	return l, nil
}

const (
	lockPatience = 2 * time.Minute
	lockPause    = time.Millisecond
)

// lockFile takes the lock of SQLite's writer. A server in load leaves it for
// moments only, so this looks often.
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
			return fmt.Errorf("hold the SQLite file: %w", err)
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// withoutPassword is the address of a database as people may read it.
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
