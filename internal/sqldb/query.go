package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Querier runs queries.
type Querier interface {
	Query(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// Each runs a query and calls scan for every row until scan returns an error. It closes
// the rows before it returns, so that the next query can run on the same connection.
func Each(ctx context.Context, q Querier, text string, args []any, scan func(*sql.Rows) error) error {
	rows, err := q.Query(ctx, text, args...)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	for rows.Next() {
		if err := scan(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// One scans the first row of a query into dest. It reports whether the query returned a
// row.
func One(ctx context.Context, q Querier, text string, args []any, dest ...any) (found bool, err error) {
	err = Each(ctx, q, text, args, func(rows *sql.Rows) error {
		if found {
			return nil
		}
		found = true
		return rows.Scan(dest...)
	})
	return found, err
}

// Strings returns the first column of all rows.
func Strings(ctx context.Context, q Querier, text string, args ...any) ([]string, error) {
	var out []string
	err := Each(ctx, q, text, args, func(rows *sql.Rows) error {
		var s string
		err := rows.Scan(&s)
		out = append(out, s)
		return err
	})
	return out, err
}
