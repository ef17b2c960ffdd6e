package sqldb_test

import (
	"context"
	"errors"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/sqldb"
)

// terminate ends all connections to a database, as a restart of PostgreSQL does.
func terminate(t *testing.T, database string) {
	t.Helper()
	if err := apptest.ExecPostgres(database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "+
		"AND pid <> pg_backend_pid()"); err != nil {
		t.Fatal(err)
	}
}

const (
	insertSetting = "INSERT INTO settings (key, value) VALUES ($1, $2)"
	selectSetting = "SELECT count(*) FROM settings WHERE key = 'k'"
)

// If a connection broke while it was idle, the transaction runs again on another
// connection, and takes effect once.
func TestBrokenIdleConnectionsAreReplaced(t *testing.T) {
	t.Parallel()
	ctx, database := t.Context(), apptest.EmptyPostgresURL(t)
	e := openEngine(t, database)
	read := func(r sqldb.Runner) error {
		_, err := count(ctx, r, selectSetting)
		return err
	}
	for name, run := range map[string]func() error{
		"read":   func() error { return e.Read(ctx, 0, read) },
		"probe":  func() error { return e.Probe(ctx, read) },
		"report": func() error { return e.Report(ctx, 0, read) },
		"stream": func() error { return e.Stream(ctx, read) },
		"write": func() error {
			return e.Write(ctx, nil, func(r sqldb.Runner) error {
				if err := read(r); err != nil {
					return err
				}
				return r.Defer(ctx, insertSetting, "k", "v")
			})
		},
	} {
		if err := e.Read(ctx, 0, read); err != nil { // leaves an idle connection
			t.Fatal(err)
		}
		terminate(t, database)
		if err := run(); err != nil {
			t.Errorf("%s: unexpected error %v", name, err)
		}
	}
	var n int
	if err := e.Read(ctx, 0, func(r sqldb.Runner) (err error) {
		n, err = count(ctx, r, selectSetting)
		return err
	}); err != nil || n != 1 {
		t.Errorf("the write was applied %d times (%v), want once", n, err)
	}
}

// If the connection breaks during the commit, the transaction may have been committed, so
// it does not run again.
func TestBrokenCommitIsNotRepeated(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := openEngine(t, apptest.EmptyPostgresURL(t))
	tries := 0
	err := e.Write(ctx, nil, func(r sqldb.Runner) error {
		tries++
		return r.Defer(ctx, "SELECT pg_terminate_backend(pg_backend_pid())")
	})
	if !errors.Is(err, sqldb.ErrUnavailable) || tries != 1 {
		t.Errorf("got %d attempts and error %v, want 1 attempt and %v", tries, err, sqldb.ErrUnavailable)
	}
}

// A failed subtransaction drops the statements that were deferred in it, whether or not those before it were
// sent.
func TestSubtransactionKeepsWhatIsBeforeIt(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		ctx := t.Context()
		e := openEngine(t, database)
		for key, sent := range map[string]bool{"sent": true, "queued": false} {
			err := e.Write(ctx, nil, func(r sqldb.Runner) error {
				if err := r.Defer(ctx, insertSetting, key+" before", ""); err != nil {
					return err
				}
				refused := errors.New("refused")
				if err := r.Subtransaction(ctx, func() error {
					if sent {
						if _, err := count(ctx, r, selectSetting); err != nil {
							return err
						}
					}
					return errors.Join(refused, r.Defer(ctx, insertSetting, key+" in it", ""))
				}); !errors.Is(err, refused) {
					return err
				}
				return r.Defer(ctx, insertSetting, key+" last", "")
			})
			if err != nil {
				t.Errorf("%s: unexpected error %v", key, err)
			}
			if got := settingsLike(ctx, t, e, key); got != 2 {
				t.Errorf("%s: got %d settings, want 2: those from before and after the subtransaction", key, got)
			}
		}
	})
}

func settingsLike(ctx context.Context, t *testing.T, e sqldb.Engine, key string) (n int) {
	t.Helper()
	if err := e.Read(ctx, 0, func(r sqldb.Runner) (err error) {
		n, err = count(ctx, r, "SELECT count(*) FROM settings WHERE key LIKE '"+key+" %'")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// An announced query is executed early only once. The next query with the same text reads
// the data again.
func TestAnnouncedQueriesReturnTheirRowsOnce(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		ctx := t.Context()
		if err := openEngine(t, database).Write(ctx, nil, func(r sqldb.Runner) error {
			r.Expect("SELECT value FROM settings WHERE key = $1", "k")
			r.Expect(selectSetting)
			none, err := count(ctx, r, selectSetting)
			if err != nil || none != 0 {
				t.Errorf("first query: got %d rows (%v), want 0", none, err)
			}
			if err := r.Defer(ctx, insertSetting, "k", "v"); err != nil {
				return err
			}
			one, err := count(ctx, r, selectSetting)
			if err != nil || one != 1 {
				t.Errorf("after an insert: got %d rows (%v), want 1", one, err)
			}
			value, err := sqldb.Strings(ctx, r, "SELECT value FROM settings WHERE key = $1", "other")
			if err != nil || len(value) != 0 {
				t.Errorf("with other arguments: got values %q (%v), want none", value, err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}

// The result of an announced query is used only while it is valid: until the first change,
// or with ExpectLater until Forget.
func TestAnnouncedQueriesAreForgotten(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	e := openEngine(t, apptest.EmptyPostgresURL(t))
	const selectByKey = "SELECT count(*) FROM settings WHERE key = $1"
	for name, c := range map[string]struct {
		announce func(r sqldb.Runner)
		forget   bool
		want     int
	}{
		"Expect":                 {func(r sqldb.Runner) { r.Expect(selectByKey, "k") }, false, 1},
		"ExpectLater":            {func(r sqldb.Runner) { r.ExpectLater(selectByKey, "k") }, false, 0},
		"ExpectLater and Forget": {func(r sqldb.Runner) { r.ExpectLater(selectByKey, "k") }, true, 1},
	} {
		rollback := errors.New("rolled back")
		err := e.Write(ctx, nil, func(r sqldb.Runner) error {
			c.announce(r)
			if _, err := count(ctx, r, "SELECT count(*) FROM settings"); err != nil { // also executes the announced query
				return err
			}
			if err := r.Defer(ctx, insertSetting, "k", "v"); err != nil {
				return err
			}
			if c.forget {
				r.Forget()
			}
			n, err := count(ctx, r, selectByKey, "k")
			if err == nil && n != c.want {
				t.Errorf("%s: got the count %d after an insert, want %d", name, n, c.want)
			}
			return errors.Join(err, rollback)
		})
		if !errors.Is(err, rollback) {
			t.Errorf("%s: got error %v, want %v", name, err, rollback)
		}
	}
}
