package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// countTo is a statement that takes minutes. thenTo returns its first row immediately and
// takes minutes for the second.
const (
	countTo = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT count(*) FROM n"
	thenTo  = "SELECT 1 UNION ALL SELECT * FROM (" + countTo + ") AS late"
)

func openEngine(t *testing.T, database string) sqldb.Engine {
	t.Helper()
	e, err := sqldb.Open(t.Context(), sqldb.Options{
		Database: database, Readers: 1, Migrations: store.Migrations(), Migrate: true, Progress: func(string) {}, Clock: time.Now,
		Metrics: sqldb.NewMetrics(), Refused: func(error) bool { return false },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func count(ctx context.Context, r sqldb.Runner, text string, args ...any) (n int, err error) {
	err = sqldb.Each(ctx, r, text, args, func(rows *sql.Rows) error { return rows.Scan(&n) })
	return n, err
}

// The database stops a statement at its limit, whether before or after it has returned a
// row. The connection remains usable.
func TestStatementsEndAtTheirLimit(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		e := openEngine(t, database)
		const limit = 200 * time.Millisecond
		for kind, read := range map[string]func(context.Context, time.Duration, func(sqldb.Runner) error) error{
			"read": e.Read, "report": e.Report,
		} {
			for _, text := range []string{countTo, thenTo} {
				for range 3 {
					begun := time.Now()
					err := read(t.Context(), limit, func(r sqldb.Runner) error {
						if _, err := count(t.Context(), r, "SELECT 1"); err != nil {
							return err
						}
						_, err := count(t.Context(), r, text)
						return err
					})
					if took := time.Since(begun); !errors.Is(err, sqldb.ErrTooLong) || took < limit {
						t.Fatalf("%s of %.20s: ended after %s with error %v, want ErrTooLong after %s", kind, text, took, err,
							limit)
					}
					if err := read(t.Context(), time.Minute, func(r sqldb.Runner) error {
						n, err := count(t.Context(), r, "SELECT 7")
						if n != 7 {
							t.Errorf("statement after a stopped %s: got %d, want 7", kind, n)
						}
						return err
					}); err != nil {
						t.Fatalf("statement after a stopped %s: unexpected error %v", kind, err)
					}
				}
			}
		}
	})
}

// The limit applies to each statement separately. Several statements together, and the
// work between them, may take longer.
func TestLimitAppliesToOneStatement(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		e := openEngine(t, database)
		const limit = 500 * time.Millisecond
		var statement time.Duration // the last one; on a busy machine, it can exceed the limit
		err := e.Read(t.Context(), limit, func(r sqldb.Runner) (err error) {
			one := func() error {
				begun := time.Now()
				_, err := count(t.Context(), r, "SELECT 1")
				statement = time.Since(begun)
				return err
			}
			for begun := time.Now(); err == nil && time.Since(begun) < 3*limit; {
				err = one()
			}
			if err != nil {
				return err
			}
			time.Sleep(2 * limit)
			return one()
		})
		if err != nil && (statement < limit || !errors.Is(err, sqldb.ErrTooLong)) {
			t.Errorf("read of short statements: unexpected error %v of a statement that took %s", err, statement)
		}
	})
}

// A limit of 0 means no limit.
func TestZeroMeansNoLimit(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		e := openEngine(t, database)
		const short = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT count(*) FROM n"
		work := func(r sqldb.Runner) error {
			_, err := count(t.Context(), r, short)
			return err
		}
		if err := e.Report(t.Context(), time.Millisecond, work); !errors.Is(err, sqldb.ErrTooLong) {
			t.Errorf("report with a limit: got error %v, want ErrTooLong", err)
		}
		if err := e.Read(t.Context(), 0, work); err != nil {
			t.Errorf("read without a limit: unexpected error %v", err)
		}
		if err := e.Stream(t.Context(), work); err != nil {
			t.Errorf("stream: unexpected error %v", err)
		}
	})
}

// A report ends when its context is canceled. Reports leave connections for short
// reads.
func TestReportsDoNotBlockReads(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		e := openEngine(t, database)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		running, ended := make(chan struct{}), make(chan error)
		n := e.Concurrency().Reports
		for range n {
			go func() {
				ended <- e.Report(ctx, time.Hour, func(r sqldb.Runner) error {
					running <- struct{}{}
					_, err := count(ctx, r, countTo)
					return err
				})
			}()
		}
		for range n {
			<-running
		}
		for range 20 {
			if err := e.Read(t.Context(), time.Minute, func(r sqldb.Runner) error {
				_, err := count(t.Context(), r, "SELECT 1")
				return err
			}); err != nil {
				t.Fatalf("read during %d reports: unexpected error %v", n, err)
			}
		}
		leave()
		for range n {
			if err := <-ended; err == nil {
				t.Error("a report was not stopped, but ran to completion")
			}
		}
	})
}
