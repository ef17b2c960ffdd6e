package store

import (
	"strconv"

	"cardwall/internal/query"
)

// arguments collects the values of a text of SQL that is put together.
type arguments []any

// add takes a value and is the placeholder that stands for it.
func (a *arguments) add(v any) string {
	*a = append(*a, v)
	return "$" + strconv.Itoa(len(*a))
}

// condition is the SQL of a query over the card alias c.
func condition(q query.Query, a *arguments) string {
	switch q.Archived {
	case query.ArchivedOnly:
		return "c.archived_at IS NOT NULL"
	case query.ArchivedAll:
		return "1 = 1"
	}
	return "c.archived_at IS NULL"
}
