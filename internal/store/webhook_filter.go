package store

import (
	"context"

	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// ListIDs returns those of the given ids that are lists of a loaded board. Ids must not be
// empty.
func (v *View) ListIDs(ctx context.Context, boardID string, ids []string) ([]string, error) {
	a := sqldb.Args{boardID}
	in := a.In(ids)
	return v.texts(ctx, "SELECT l.id FROM lists l WHERE l.board_id = $1 AND l.id IN ("+in+") AND "+search.ShownList, a...)
}

// LabelIDs returns those of the given ids that are labels of a loaded board. Ids must not be
// empty.
func (v *View) LabelIDs(ctx context.Context, boardID string, ids []string) ([]string, error) {
	a := sqldb.Args{boardID}
	in := a.In(ids)
	return v.texts(ctx, "SELECT id FROM labels WHERE board_id = $1 AND id IN ("+in+")", a...)
}
