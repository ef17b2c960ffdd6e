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

// Rows are loaded into PostgreSQL by COPY, in one transaction, into tables
// without indexes and foreign keys. Then the indexes and keys are created, and
// all rows are read back and compared.

var (
	// ErrNotEmpty means that an installation already holds data.
	ErrNotEmpty = errors.New("this installation is not empty")
	// ErrInUse means that a server uses a database.
	ErrInUse = errors.New("a server uses this database")
)

// emptyPostgres ensures that a PostgreSQL database has the given version of the
// schema, no data and no server. It first removes a newer schema without data.
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
		tables, err := b.texts(ctx, "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition "+
			"AND relnamespace = current_schema()::regnamespace")
		if err != nil {
			return err
		}
		if err := b.do(ctx, "DROP TABLE "+quoted(tables...)+" CASCADE"); err != nil {
			return err
		}
	}
	return sqldb.MigratePostgres(ctx, database, store.Migrations(), version)
}

// unused returns an error if a database holds data or is used by a server. Rows of
// an interrupted move do not count as data.
func (b *bulk) unused(ctx context.Context, now time.Time) error {
	tables, err := b.tables(ctx)
	if err != nil {
		return err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(tables, func(t table) bool { return t.name == name }) // an interrupted start may have created only some
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
		return fmt.Errorf("%w: it has %s; create a new database and use that", ErrNotEmpty, filled)
	}
	var servers []string
	if has("leases") {
		if servers, err = b.texts(ctx, "SELECT name FROM leases WHERE name LIKE $1 AND until >= $2", store.ServerLease+"%",
			int64(board.InstantOf(now))); err != nil {
			return err
		}
	}
	connected, err := b.count(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = "+
		"'cardwall' AND pid <> pg_backend_pid()")
	if err != nil {
		return err
	}
	if len(servers) > 0 && arriving == "" || connected > 0 {
		return fmt.Errorf("%w: stop the server; if it was killed, wait half a minute", ErrInUse)
	}
	return nil
}

// loading holds the durations and results of a load.
type loading struct {
	sums     []TableSum
	tables   []time.Duration // for each table: copying and reading back
	indexing time.Duration   // includes the foreign keys
}

// load copies rows of a SQLite file into the tables of a PostgreSQL database,
// within the current transaction, and reads them back. It copies at most limit
// rows of each table; 0 is no limit.
func (b *bulk) load(ctx context.Context, from *bulk, tables []table, limit int, copied, checked *meter) (l loading, err error) {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	if err := b.do(ctx, "SET LOCAL lock_timeout = '5s'", "SET LOCAL maintenance_work_mem = '256MB'", "TRUNCATE "+quoted(names...)+
		" RESTART IDENTITY"); err != nil {
		return l, err
	}
	indexes, keys, err := b.dropIndexes(ctx)
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
			return l, fmt.Errorf("the rows in PostgreSQL differ from the source: %w", err)
		}
		l.tables[i] += time.Since(began)
	}
	began := time.Now()
	checked.say("building the indexes")
	if err := b.do(ctx, indexes...); err != nil {
		return l, err
	}
	if limit > 0 { // a sample does not satisfy the foreign keys
		err = b.checkKeys(ctx)
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

// checkKeys runs the checks that PostgreSQL runs when it adds foreign keys, to
// time them.
func (b *bulk) checkKeys(ctx context.Context) error {
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

// dropIndexes drops the foreign keys and all indexes except those of keys. It returns
// the statements that create them again, indexes first.
func (b *bulk) dropIndexes(ctx context.Context) (indexes, keys []string, err error) {
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
		AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
		ORDER BY x.relname`, nil, collect(&indexes)); err != nil {
		return nil, nil, fmt.Errorf("read the indexes: %w", err)
	}
	if err := b.each(ctx, `SELECT 'ALTER TABLE ' || quote_ident(t.relname) || ' DROP CONSTRAINT ' || quote_ident(k.conname),
			'ALTER TABLE ' || quote_ident(t.relname) || ' ADD CONSTRAINT ' || quote_ident(k.conname) || ' ' || pg_get_constraintdef(k.oid)
		FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid
		WHERE k.contype = 'f' AND k.conparentid = 0 AND t.relnamespace = current_schema()::regnamespace ORDER BY k.conname`, nil,
		collect(&keys)); err != nil {
		return nil, nil, fmt.Errorf("read the foreign keys: %w", err)
	}
	return indexes, keys, b.do(ctx, strings.Join(drop, "; "))
}

// copyTable copies the rows of one table by COPY.
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
			return fmt.Errorf("COPY needs a connection of pgx, not of type %T", driver)
		}
		_, err := conn.Conn().CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, r)
		return err
	})
	return c.of(t), err
}
