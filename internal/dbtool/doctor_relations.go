package dbtool

import (
	"context"
	"fmt"
	"strings"

	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// orphanChecks returns a check for each foreign key of the schema. The check finds rows
// whose parent does not exist.
func orphanChecks(ctx context.Context, v *store.RawView, d sqldb.Dialect) ([]check, error) {
	relations, err := relations(ctx, v, d)
	if err != nil {
		return nil, err
	}
	out := make([]check, len(relations))
	for i, r := range relations {
		out[i] = r.check()
	}
	return out, nil
}

// orphaned returns an SQL condition that is true if the parent of row o does not exist.
func (r relation) orphaned() string {
	var present, equal []string
	for i, column := range r.columns {
		present = append(present, "o."+quoted(column)+" IS NOT NULL")
		equal = append(equal, "p."+quoted(r.keys[i])+" = o."+quoted(column))
	}
	return strings.Join(present, " AND ") + " AND NOT EXISTS (SELECT 1 FROM " + quoted(r.parent) + " p WHERE " +
		strings.Join(equal, " AND ") + ")"
}

// check returns the check for orphans of a relation. The reported ids are the keys of the
// missing parents. If the foreign key is ON DELETE CASCADE, the repair deletes the
// orphans. Otherwise, it clears their reference if the column is nullable. The repair
// requires a choice: both databases enforce foreign keys, so the parent may have been lost.
func (r relation) check() check {
	first := quoted(r.columns[0])
	c := check{
		remedy: restoreRemedy + ", because the missing row may have been lost; if it was deleted on purpose, " +
			"run cardwall doctor --repair " + string(DeleteOrphans) + ", which removes what refers to it",
		choice:  DeleteOrphans,
		problem: fmt.Sprintf("%s.%s: %%s is not in %s", r.table, strings.Join(r.columns, ", "), r.parent),
		query:   "SELECT DISTINCT o." + first + " FROM " + quoted(r.table) + " o WHERE " + r.orphaned(),
	}
	where := " WHERE o." + first + " = $1 AND " + r.orphaned()
	switch {
	case r.cascade:
		c.repair = func(ctx context.Context, tx *store.RawTx, id string) error {
			return tx.Exec(ctx, "DELETE FROM "+quoted(r.table)+" AS o"+where, id)
		}
	case r.optional:
		c.repair = func(ctx context.Context, tx *store.RawTx, id string) error {
			return tx.Exec(ctx, "UPDATE "+quoted(r.table)+" AS o SET "+first+" = NULL"+where, id)
		}
	default:
		c.remedy, c.choice = restoreRemedy, ""
	}
	return c
}
