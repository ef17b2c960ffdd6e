package dbtool

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"cardwall/internal/sqldb"
)

// The list of tables is read from the schema, so a new table needs no change here.

// table is a table of the application.
type table struct {
	name    string
	columns []string // sorted by name, without generated columns and identity columns
}

// internalTables returns the tables that contain no application data: those used by
// migrations, by the search index, and by the manifest of a backup.
func internalTables() []string {
	return []string{"goose_db_version", "migration_lease", "texts_indexed", "texts_gone", "backup", "backup_tables"}
}

// quoted returns names as a list of quoted identifiers, in a syntax that both databases
// accept.
func quoted(names ...string) string {
	return `"` + strings.Join(names, `", "`) + `"`
}

// derivedColumns returns the computed columns that only PostgreSQL has.
func derivedColumns() []string { return []string{"texts.workspace_id"} }

// tables returns the tables of the application, sorted by name.
func tables(ctx context.Context, q sqldb.Querier, d sqldb.Dialect) ([]table, error) {
	text := `SELECT t.name, c.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c
		JOIN sqlite_schema s ON s.name = t.name AND s.type = 'table'
		WHERE t.type = 'table' AND t.schema = 'main' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND t.name NOT LIKE '\_litestream\_%' ESCAPE '\' AND NOT (c.pk = 1 AND s.sql LIKE '%AUTOINCREMENT%')`
	if d.RowLocks {
		text = `SELECT t.relname, a.attname FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid
			WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
			AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '' AND a.attgenerated = ''`
	}
	var out []table
	skipped, derived := internalTables(), derivedColumns()
	if err := sqldb.Each(ctx, q, text, nil, func(rows *sql.Rows) error {
		var name, column string
		if err := rows.Scan(&name, &column); err != nil || slices.Contains(skipped, name) || slices.Contains(derived, name+"."+column) {
			return err
		}
		i := slices.IndexFunc(out, func(t table) bool { return t.name == name })
		if i < 0 {
			i, out = len(out), append(out, table{name: name})
		}
		out[i].columns = append(out[i].columns, column)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	for _, t := range out {
		slices.Sort(t.columns)
	}
	slices.SortFunc(out, func(a, b table) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// sameTables returns an error if one of two databases has a table or column that the
// other one lacks.
func sameTables(first, second []table) error {
	if slices.EqualFunc(first, second, func(a, b table) bool { return a.name == b.name && slices.Equal(a.columns, b.columns) }) {
		return nil
	}
	describe := func(all []table) (out []string) {
		for _, t := range all {
			for _, c := range t.columns {
				out = append(out, t.name+"."+c)
			}
		}
		return out
	}
	minus := func(a, b []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) }), ", ")
	}
	one, other := describe(first), describe(second)
	return fmt.Errorf("the two databases do not have the same tables and columns: only the first has [%s], only the second "+
		"has [%s]",
		minus(one, other), minus(other, one))
}

// relation is a foreign key.
type relation struct {
	table, parent string
	columns, keys []string // columns of the table, and the columns of the parent that they refer to
	cascade       bool     // ON DELETE CASCADE
	optional      bool     // at least one of the columns is nullable
}

// relations returns all foreign keys of the schema.
func relations(ctx context.Context, q sqldb.Querier, d sqldb.Dialect) ([]relation, error) {
	text := `SELECT t.name || ' ' || f.id, t.name, f."table", f."from", f."to", f.on_delete = 'CASCADE',
			(SELECT c."notnull" = 0 AND c.pk = 0 FROM pragma_table_info(t.name) c WHERE c.name = f."from")
		FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table' AND t.schema = 'main' ORDER BY t.name, f.id, f.seq`
	if d.RowLocks {
		text = `SELECT CAST(k.oid AS TEXT), t.relname, p.relname, a.attname, b.attname, k.confdeltype = 'c', NOT a.attnotnull
			FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid JOIN pg_class p ON p.oid = k.confrelid
			CROSS JOIN generate_subscripts(k.conkey, 1) AS n
			JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.conkey[n] JOIN pg_attribute b ON b.attrelid = p.oid
			AND b.attnum = k.confkey[n]
			WHERE k.contype = 'f' AND k.conparentid = 0 AND t.relnamespace = current_schema()::regnamespace ORDER BY t.relname, k.conname, n`
	}
	var (
		out  []relation
		last string
	)
	err := sqldb.Each(ctx, q, text, nil, func(rows *sql.Rows) error {
		var (
			r           relation
			id          string
			column, key string
		)
		if err := rows.Scan(&id, &r.table, &r.parent, &column, &key, &r.cascade, &r.optional); err != nil {
			return err
		}
		if id != last {
			out, last = append(out, r), id
		}
		current := &out[len(out)-1]
		current.columns, current.keys = append(current.columns, column), append(current.keys, key)
		current.optional = current.optional || r.optional
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the foreign keys: %w", err)
	}
	return out, nil
}
