package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// The owner of a filter can see it. If it is shared, members of the workspace can also see
// it, except guests: a filter could reveal names of boards that a guest cannot see.
const (
	filterSelect = `SELECT f.id, f.workspace_id, f.name, f.query, f.shared, f.created_at, f.updated_at, u.id, u.name, wm.role
		FROM saved_filters f JOIN users u ON u.id = f.owner_id
		JOIN workspace_members wm ON wm.workspace_id = f.workspace_id AND wm.user_id = $2
		WHERE (f.owner_id = $2 OR (f.shared = 1 AND wm.role <> 'guest')) `
	filterLock = "SELECT f.id FROM saved_filters f WHERE f.id = $1 FOR UPDATE OF f"
)

func scanFilter(rows *sql.Rows) (f board.SavedFilter, role board.WorkspaceRole, err error) {
	var shared int64
	err = rows.Scan(&f.ID, &f.WorkspaceID, &f.Name, &f.Query, &shared, &f.CreatedAt, &f.UpdatedAt, &f.Owner.ID, &f.Owner.Name, &role)
	f.Shared = shared != 0
	return f, role, err
}

// SavedFilters returns a page of the filters of a workspace that the caller can see,
// ordered by id, starting after the given id. The workspace must already be loaded.
func (v *View) SavedFilters(ctx context.Context, workspaceID, after string, limit int) ([]board.SavedFilter, error) {
	out := []board.SavedFilter{}
	err := v.each(ctx, filterSelect+"AND f.workspace_id = $1 AND f.id > $3 ORDER BY f.id LIMIT $4",
		[]any{workspaceID, v.caller.UserID, after, limit}, func(rows *sql.Rows) error {
			f, _, err := scanFilter(rows)
			out = append(out, f)
			return err
		})
	return out, err
}

// SavedFilter loads the filter with the given id. It returns a not_found error if the
// caller cannot see it.
func (v *View) SavedFilter(ctx context.Context, id string) (board.SavedFilter, error) {
	f, _, err := v.savedFilter(ctx, id)
	return f, err
}

func (v *View) savedFilter(ctx context.Context, id string) (f board.SavedFilter, role board.WorkspaceRole, err error) {
	found := false
	err = v.each(ctx, filterSelect+"AND f.id = $1", []any{id, v.caller.UserID}, func(rows *sql.Rows) (err error) {
		found = true
		f, role, err = scanFilter(rows)
		return err
	})
	if err == nil && (!found || v.caller.WorkspaceID != "" && v.caller.WorkspaceID != f.WorkspaceID) {
		return board.SavedFilter{}, "", board.NotFound()
	}
	return f, role, err
}

// SavedFilter locks and loads a filter for a change by its owner or, if the filter is
// shared, by an owner or admin of the workspace. It returns an error if the organization
// is read-only.
func (tx *Tx) SavedFilter(ctx context.Context, id string) (board.SavedFilter, error) {
	if err := tx.lock(ctx, filterLock, id); err != nil {
		return board.SavedFilter{}, err
	}
	f, role, err := tx.savedFilter(ctx, id)
	if err != nil {
		return f, err
	}
	if f.Owner.ID != tx.caller.UserID && !role.Can(board.ManageMembers) {
		return board.SavedFilter{}, board.Forbidden("Only the filter's owner, and owners and admins of the workspace, can change it.")
	}
	if _, err := tx.Workspace(ctx, f.WorkspaceID, board.ViewWorkspace); err != nil {
		return board.SavedFilter{}, err
	}
	tx.workspace = f.WorkspaceID
	return f, nil
}

// CountSavedFilters returns the number of the caller's filters in a workspace.
func (v *View) CountSavedFilters(ctx context.Context, workspaceID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM saved_filters WHERE owner_id = $1 AND workspace_id = $2", v.caller.UserID, workspaceID)
}

// InsertSavedFilter stores a new filter.
func (tx *Tx) InsertSavedFilter(ctx context.Context, f *board.SavedFilter) error {
	f.CreatedAt, f.UpdatedAt = tx.now, tx.now
	return tx.exec(ctx, "INSERT INTO saved_filters (id, workspace_id, owner_id, name, query, shared, created_at, updated_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
		f.ID, f.WorkspaceID, f.Owner.ID, f.Name, f.Query, flag(f.Shared), int64(f.CreatedAt), int64(f.UpdatedAt))
}

// UpdateSavedFilter stores the name, the query and the sharing of a filter.
func (tx *Tx) UpdateSavedFilter(ctx context.Context, f *board.SavedFilter) error {
	f.UpdatedAt = tx.now
	return tx.exec(ctx, "UPDATE saved_filters SET name = $1, query = $2, shared = $3, updated_at = $4 WHERE id = $5", f.Name,
		f.Query, flag(f.Shared), int64(f.UpdatedAt), f.ID)
}

// DeleteSavedFilter deletes a filter.
func (tx *Tx) DeleteSavedFilter(ctx context.Context, id string) error {
	return tx.exec(ctx, "DELETE FROM saved_filters WHERE id = $1", id)
}

// Known returns the given ids that the caller may know: the ids of boards, lists, labels
// and people that the caller can see in a workspace, and all ids of other kinds. A guest
// cannot list the members, so for a guest it returns all ids of people.
func (v *View) Known(ctx context.Context, workspace board.Workspace, ids []string) (map[string]bool, error) {
	kinds := map[string][]string{}
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		switch prefix, _, _ := strings.Cut(id, "_"); {
		case prefix == "brd", prefix == "lst", prefix == "lbl", prefix == "usr" && workspace.Role.Can(board.ViewDirectory):
			kinds[prefix] = append(kinds[prefix], id)
		default:
			known[id] = true
		}
	}
	for prefix, ids := range kinds {
		for len(ids) > 0 {
			n := min(len(ids), 256)
			var a sqldb.Args
			found, err := v.texts(ctx, v.knownQuery(prefix, workspace.ID, ids[:n], &a), a...)
			if err != nil {
				return nil, fmt.Errorf("find known ids: %w", err)
			}
			for _, id := range found {
				known[id] = true
			}
			ids = ids[n:]
		}
	}
	return known, nil
}

// knownQuery returns an SQL query for the ids, all with the given prefix, that the caller
// can see.
func (v *View) knownQuery(prefix, workspaceID string, ids []string, a *sqldb.Args) string {
	if prefix == "usr" {
		return `SELECT wm.user_id FROM workspace_members wm JOIN users u ON u.id = wm.user_id
			WHERE wm.workspace_id = ` + a.Add(workspaceID) + " AND u.deleted_at IS NULL AND wm.user_id IN (" + a.In(ids) + ")"
	}
	boards := v.boardsOf(CardPage{WorkspaceID: workspaceID, IncludeArchived: true}, a)
	if prefix == "brd" {
		return boards + " AND b.id IN (" + a.In(ids) + ")"
	}
	table := map[string]string{"lst": "lists", "lbl": "labels"}[prefix]
	return "SELECT x.id FROM " + table + " x WHERE x.id IN (" + a.In(ids) + ") AND x.board_id IN (" + boards + ")"
}
