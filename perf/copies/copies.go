// Package copies quickly creates large installations. It copies the data folder and the rows of an imported workspace.
package copies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Kind specifies which rows to copy and how the copies differ.
type Kind struct {
	Tables []string
	Same   []string // columns whose ids stay the same in the copies
}

// Into specifies where the rows are and where to write the copies.
type Into struct {
	DB       *sql.DB
	From     string // prefix of the source tables if they are in an attached database; otherwise empty
	Indexes  string // query for the names and definitions of the indexes of table $1
	Progress func(format string, args ...any)
}

// Add makes n copies of all rows of the tables, with new ids. It replaces the last characters of each id with the
// number of the copy and a letter. No original id ends with this letter, because the last character of an id encodes
// only three bits. The letter must be one that occurs in ids, because the search index requires that. Add drops the
// indexes of a table before it adds rows and creates them again afterwards, which is faster.
func Add(ctx context.Context, to Into, of Kind, n int) error {
	into := ""
	if to.From != "" { // name the schema, because the attached database has tables with the same names
		into = "main."
	}
	for _, table := range of.Tables {
		to.Progress("filling %s", table)
		columns, err := Columns(ctx, to.DB, table)
		if err != nil {
			return err
		}
		if table == "texts" { // the database assigns new ids to the rows of this table
			columns = slices.DeleteFunc(columns, func(c string) bool { return c == "id" })
		}
		restore, err := withoutIndexes(ctx, to.DB, to.Indexes, table)
		if err != nil {
			return err
		}
		text := "INSERT INTO " + into + table + " (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(of.values(columns), ", ") +
			" FROM " + to.From + table + " t CROSS JOIN (" + Numbers(1, n) + ") k"
		if _, err := to.DB.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("copy %s: %w", table, err)
		}
		for _, make := range restore {
			if _, err := to.DB.ExecContext(ctx, make); err != nil {
				return fmt.Errorf("%.60s: %w", make, err)
			}
		}
	}
	return nil
}

// values returns the SQL expressions for the columns of a copy.
func (k Kind) values(columns []string) (values []string) {
	for _, c := range columns {
		switch {
		case slices.Contains(k.Same, c):
			values = append(values, "t."+c)
		case c == "id", c == "created_by", strings.HasSuffix(c, "_id"):
			values = append(values, "substr(t."+c+", 1, 26) || (100 + k.n) || 'z'")
		case c == "email":
			values = append(values, "(100 + k.n) || t."+c)
		default:
			values = append(values, "t."+c)
		}
	}
	return values
}

// Numbers returns a query for all numbers between from and to, inclusive.
func Numbers(from, to int) string {
	text := "SELECT " + strconv.Itoa(from) + " AS n"
	for i := from + 1; i <= to; i++ {
		text += " UNION ALL SELECT " + strconv.Itoa(i)
	}
	return text
}

// withoutIndexes drops the indexes of a table and returns the statements that create them again.
func withoutIndexes(ctx context.Context, db *sql.DB, list, table string) (restore []string, err error) {
	rows, err := db.QueryContext(ctx, list, table)
	if err != nil {
		return nil, fmt.Errorf("list the indexes of %s: %w", table, err)
	}
	var names []string
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		names, restore = append(names, name), append(restore, text)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := db.ExecContext(ctx, "DROP INDEX "+name); err != nil {
			return nil, fmt.Errorf("drop %s: %w", name, err)
		}
	}
	return restore, nil
}

// Columns returns the names of the columns of a table.
func Columns(ctx context.Context, db *sql.DB, table string) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return nil, fmt.Errorf("read the columns of %s: %w", table, err)
	}
	columns, err := rows.Columns()
	return columns, errors.Join(err, rows.Close())
}

// Folder copies the files of a folder. Only the current user can read the copies.
func Folder(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
}
