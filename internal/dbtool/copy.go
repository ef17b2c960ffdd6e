package dbtool

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// How rows get into PostgreSQL: into tables without indexes and foreign keys,
// by COPY, in one transaction; then the indexes, and then all is read back.

var (
	// ErrNotEmpty is that an installation holds data already.
	ErrNotEmpty = errors.New("this installation is not empty")
	// ErrInUse is that a server works on a database.
	ErrInUse = errors.New("a server uses this database")
)

// emptyPostgres makes sure that a PostgreSQL database has a version of the
// schema, no data and no server. A version that is newer is taken away first.
func (b *bulk) emptyPostgres(ctx context.Context, database string, version int64, now time.Time) error {
	have, err := b.schema(ctx)
	if err != nil {
		return err
	}
	if have > 0 {
		if err := b.unused(ctx, now); err != nil {
			return err
		}
	}
	if have > version {
		tables, err := b.texts(ctx, "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace")
		if err != nil {
			return err
		}
		if err := b.do(ctx, "DROP TABLE "+quoted(tables...)+" CASCADE"); err != nil {
			return err
		}
	}
	return sqldb.MigratePostgres(ctx, database, store.Migrations(), version)
}

// unused refuses a database with data or with a server. What a move that was
// interrupted left behind is no data yet.
func (b *bulk) unused(ctx context.Context, now time.Time) error {
	tables, err := b.tables(ctx)
	if err != nil {
		return err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(tables, func(t table) bool { return t.name == name }) // an interrupted start may have made some only
	}
	arriving := ""
	if has("settings") {
		if arriving, err = b.setting(ctx, sqldb.ArrivingSetting); err != nil {
			return err
		}
	}
	filled, err := b.filled(ctx, tables)
	switch {
	case err != nil:
		return err
	case filled != "" && arriving == "":
		return fmt.Errorf("%w: there are %s; make a new database and name that", ErrNotEmpty, filled)
	}
	var servers []string
	if has("leases") {
		if servers, err = b.texts(ctx, "SELECT name FROM leases WHERE name LIKE $1 AND until >= $2", store.ServerLease+"%", int64(board.InstantOf(now))); err != nil {
			return err
		}
	}
	connected, err := b.count(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cardwall' AND pid <> pg_backend_pid()")
	if err != nil {
		return err
	}
	if len(servers) > 0 && arriving == "" || connected > 0 {
		return fmt.Errorf("%w: stop it; after a kill wait half a minute", ErrInUse)
	}
	return nil
}

// loading is how long the parts of a load took.
type loading struct {
	sums     []TableSum
	tables   []time.Duration // each table, copied and read back
	indexing time.Duration   // and the foreign keys
}

// load puts rows of a SQLite file into the tables of a PostgreSQL database, in
// the transaction that was begun, and reads them back. Limit is how many of each
// table; 0 is all.
func (b *bulk) load(ctx context.Context, from *bulk, tables []table, limit int, copied, checked *meter) (l loading, err error) {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	if err := b.do(ctx, "SET LOCAL lock_timeout = '5s'", "SET LOCAL maintenance_work_mem = '256MB'", "TRUNCATE "+quoted(names...)+" RESTART IDENTITY"); err != nil {
		return l, err
	}
	indexes, keys, err := b.strip(ctx)
	if err != nil {
		return l, err
	}
	for _, t := range tables {
		began := time.Now()
		sum, err := b.copyTable(ctx, from, t, limit, copied)
		if err != nil {
			return l, fmt.Errorf("copy %s: %w", t.name, err)
		}
		l.sums, l.tables = append(l.sums, sum), append(l.tables, time.Since(began))
	}
	for i, t := range tables {
		began := time.Now()
		back, err := b.sumTables(ctx, []table{t}, checked)
		if err != nil {
			return l, err
		}
		if err := differences(l.sums[i:i+1], back); err != nil {
			return l, fmt.Errorf("what PostgreSQL holds is not what it was given: %w", err)
		}
		l.tables[i] += time.Since(began)
	}
	began := time.Now()
	checked.say("building the indexes")
	if err := b.do(ctx, indexes...); err != nil {
		return l, err
	}
	if limit > 0 { // some rows of each table don't satisfy the keys
		err = b.lookAtKeys(ctx)
	} else {
		err = b.do(ctx, keys...)
	}
	l.indexing = time.Since(began)
	var p interface{ SQLState() string }
	if errors.As(err, &p) && p.SQLState() == "23503" {
		err = fmt.Errorf("some rows refer to missing rows: run cardwall doctor --repair on the source first: %w", err)
	}
	return l, err
}

// lookAtKeys does what PostgreSQL does to make foreign keys, to time it.
func (b *bulk) lookAtKeys(ctx context.Context) error {
	relations, err := b.relations(ctx)
	if err != nil {
		return err
	}
	for _, r := range relations {
		if _, err := b.count(ctx, "SELECT count(*) FROM "+quoted(r.table)+" o WHERE "+r.orphaned()); err != nil {
			return err
		}
	}
	return nil
}

// strip takes the foreign keys and all indexes but those of keys away, and
// returns what makes them again, the indexes first.
func (b *bulk) strip(ctx context.Context) (indexes, keys []string, err error) {
	var drop []string
	collect := func(into *[]string) func(rows *sql.Rows) error {
		return func(rows *sql.Rows) error {
			var away, back string
			err := rows.Scan(&away, &back)
			drop, *into = append(drop, away), append(*into, back)
			return err
		}
	}
	if err := b.each(ctx, `SELECT 'DROP INDEX ' || quote_ident(x.relname), replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
		FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
		WHERE x.relnamespace = current_schema()::regnamespace AND NOT x.relispartition
		AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x')) ORDER BY x.relname`, nil, collect(&indexes)); err != nil {
		return nil, nil, fmt.Errorf("read the indexes: %w", err)
	}
	if err := b.each(ctx, `SELECT 'ALTER TABLE ' || quote_ident(t.relname) || ' DROP CONSTRAINT ' || quote_ident(k.conname),
			'ALTER TABLE ' || quote_ident(t.relname) || ' ADD CONSTRAINT ' || quote_ident(k.conname) || ' ' || pg_get_constraintdef(k.oid)
		FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid
		WHERE k.contype = 'f' AND k.conparentid = 0 AND t.relnamespace = current_schema()::regnamespace ORDER BY k.conname`, nil, collect(&keys)); err != nil {
		return nil, nil, fmt.Errorf("read the foreign keys: %w", err)
	}
	return indexes, keys, b.do(ctx, strings.Join(drop, "; "))
}

// copyTable copies rows by COPY.
func (b *bulk) copyTable(ctx context.Context, from *bulk, t table, limit int, on *meter) (sum TableSum, err error) {
	c := newChecksum(t)
	r, err := from.read(ctx, t, limit, func(values []any) error {
		on.row(t.name)
		return c.add(values)
	})
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, r.rows.Close()) }()
	err = b.conn.Raw(func(driver any) error {
		conn, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("COPY over a connection of type %T", driver)
		}
		_, err := conn.Conn().CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, r)
		return err
	})
	return c.of(t), err
}
