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

// All rows are loaded into PostgreSQL in one transaction. That transaction drops the
// indexes and foreign keys, loads the rows with COPY, reads them back and compares them
// with the source, and then creates the indexes and foreign keys again.

var (
	// ErrNotEmpty is returned if the target of a copy already contains data.
	ErrNotEmpty = errors.New("this installation is not empty")
	// ErrInUse is returned if a server uses the target of a copy.
	ErrInUse = errors.New("a server uses this database")
)

// prepareEmptyPostgres migrates an empty PostgreSQL database to the given schema version.
// If the database has a newer schema version, it first drops all tables. It returns
// ErrNotEmpty if the database contains data, or ErrInUse if a server uses it.
func (b *bulk) prepareEmptyPostgres(ctx context.Context, database string, version int64, now time.Time) error {
	current, err := b.schema(ctx)
	if err != nil {
		return err
	}
	if current > 0 {
		if err := b.checkUnused(ctx, now); err != nil {
			return err
		}
	}
	if current > version {
		tables, err := b.strings(ctx, "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition "+
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

// checkUnused returns ErrNotEmpty if a database contains data, or ErrInUse if a server
// uses it. The rows of an interrupted move do not count as data.
func (b *bulk) checkUnused(ctx context.Context, now time.Time) error {
	tables, err := b.tables(ctx)
	if err != nil {
		return err
	}
	// An interrupted first start may have created only some of the tables.
	has := func(name string) bool {
		return slices.ContainsFunc(tables, func(t table) bool { return t.name == name })
	}
	arriving := ""
	if has("settings") {
		if arriving, err = b.setting(ctx, sqldb.ArrivingSetting); err != nil {
			return err
		}
	}
	nonEmpty, err := b.nonEmptyTable(ctx, tables)
	switch {
	case err != nil:
		return err
	case nonEmpty != "" && arriving == "":
		return fmt.Errorf("%w: the table %s has rows; create a new database and use it instead", ErrNotEmpty, nonEmpty)
	}
	var servers []string
	if has("leases") {
		if servers, err = b.strings(ctx, "SELECT name FROM leases WHERE name LIKE $1 AND until >= $2", store.ServerLease+"%",
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

// loadResult holds the results and durations of a load.
type loadResult struct {
	sums     []TableSum
	tables   []time.Duration // time to copy and read back each table
	indexing time.Duration   // time to create the indexes and foreign keys
}

// load copies rows of a SQLite file into the tables of a PostgreSQL database,
// within the current transaction, and reads them back. It copies at most limit
// rows of each table, or all of them if limit is 0.
func (b *bulk) load(ctx context.Context, from *bulk, tables []table, limit int, copying, comparing *meter) (l loadResult, err error) {
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
		start := time.Now()
		sum, err := b.copyTable(ctx, from, t, limit, copying)
		if err != nil {
			return l, fmt.Errorf("copy %s: %w", t.name, err)
		}
		l.sums, l.tables = append(l.sums, sum), append(l.tables, time.Since(start))
	}
	for i, t := range tables {
		start := time.Now()
		copied, err := b.sumTables(ctx, []table{t}, comparing)
		if err != nil {
			return l, err
		}
		if err := compareTables(l.sums[i:i+1], copied); err != nil {
			return l, fmt.Errorf("the rows in PostgreSQL differ from the source: %w", err)
		}
		l.tables[i] += time.Since(start)
	}
	start := time.Now()
	comparing.report("building the indexes")
	if err := b.do(ctx, indexes...); err != nil {
		return l, err
	}
	if limit > 0 { // a sample would violate the foreign keys
		err = b.checkForeignKeys(ctx)
	} else {
		err = b.do(ctx, keys...)
	}
	l.indexing = time.Since(start)
	var p interface{ SQLState() string }
	if errors.As(err, &p) && p.SQLState() == "23503" {
		err = fmt.Errorf("some rows refer to rows that do not exist: run cardwall doctor on the source and follow its advice: %w", err)
	}
	return l, err
}

// checkForeignKeys runs queries like those with which PostgreSQL validates new foreign
// keys, so that the estimate includes their duration. It ignores violations.
func (b *bulk) checkForeignKeys(ctx context.Context) error {
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

// dropIndexes drops the foreign keys and all indexes except those that implement
// constraints. It returns the statements that create the indexes and the foreign keys
// again.
func (b *bulk) dropIndexes(ctx context.Context) (indexes, keys []string, err error) {
	var drop []string
	collect := func(creates *[]string) func(rows *sql.Rows) error {
		return func(rows *sql.Rows) error {
			var dropText, createText string
			err := rows.Scan(&dropText, &createText)
			drop, *creates = append(drop, dropText), append(*creates, createText)
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

// copyTable copies at most limit rows of one table with COPY, or all of them if limit is
// 0.
func (b *bulk) copyTable(ctx context.Context, from *bulk, t table, limit int, m *meter) (sum TableSum, err error) {
	c := newChecksum(t)
	r, err := from.read(ctx, t, limit, func(values []any) error {
		m.row(t.name)
		return c.add(values)
	})
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, r.rows.Close()) }()
	err = b.conn.Raw(func(driver any) error {
		conn, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("COPY requires a pgx connection, got %T", driver)
		}
		_, err := conn.Conn().CopyFrom(ctx, pgx.Identifier{t.name}, t.columns, r)
		return err
	})
	return c.result(t), err
}
