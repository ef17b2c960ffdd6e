package store

import (
	"context"
	"database/sql"

	"cardwall/internal/query"
	"cardwall/internal/sqldb"
)

// People returns a function that loads the people whom a query on a page of cards may
// name. The function loads the people only once. For a workspace in which the caller is a
// guest, they are the people on the boards that the guest can see. For any other
// workspace, they are all its members. Email addresses are set only for the caller, and
// for people in workspaces of which the caller is an owner or admin.
func (v *View) People(ctx context.Context, p CardPage) func() ([]query.Person, error) {
	var (
		out    []query.Person
		loaded bool
	)
	return func() ([]query.Person, error) {
		if loaded {
			return out, nil
		}
		var a sqldb.Args
		me := a.Add(v.caller.UserID)
		boards := v.queryBoards(p, &a)
		within := "true"
		for _, w := range []string{p.WorkspaceID, v.caller.WorkspaceID} {
			if w != "" {
				within += " AND me.workspace_id = " + a.Add(w)
			}
		}
		if p.BoardID != "" {
			within += " AND me.workspace_id = (SELECT h.workspace_id FROM boards h WHERE h.id = " + a.Add(p.BoardID) + ")"
		}
		allowed := `SELECT m.user_id FROM workspace_members m JOIN workspace_members me ON me.workspace_id = m.workspace_id
				WHERE me.user_id = ` + me + " AND me.role <> 'guest' AND " + within + `
			UNION SELECT s.user_id FROM boards g JOIN workspace_members me ON me.workspace_id = g.workspace_id AND me.user_id = ` + me +
			` AND me.role = 'guest'
				JOIN workspace_members s ON s.workspace_id = g.workspace_id LEFT JOIN board_members x ON x.board_id = g.id AND x.user_id = s.user_id
				WHERE g.id IN (` + boards + ") AND (x.role IS NOT NULL OR g.visibility = 'workspace' AND s.role <> 'guest')"
		if v.caller.System {
			allowed = "SELECT m.user_id FROM workspace_members m JOIN boards g ON g.workspace_id = m.workspace_id WHERE g.id IN (" + boards + ")"
		}
		text := `SELECT u.id, u.name, CASE WHEN u.id = ` + me + ` OR EXISTS (SELECT 1 FROM workspace_members t
			JOIN workspace_members me ON me.workspace_id = t.workspace_id
				WHERE t.user_id = u.id AND me.user_id = ` + me + " AND me.role IN ('owner', 'admin') AND " + within + `) THEN u.email END
			FROM users u WHERE u.deleted_at IS NULL AND u.id IN (` + allowed + ")"
		err := v.each(ctx, text, a, func(rows *sql.Rows) error {
			var (
				u     query.Person
				email sql.NullString
			)
			err := rows.Scan(&u.ID, &u.Name, &email)
			u.Email = email.String
			out = append(out, u)
			return err
		})
		loaded = err == nil
		return out, err
	}
}

// Named returns a function that reports whether a card on the page's boards refers to
// a person. A person who has left may still be the author of a card or a comment.
func (v *View) Named(ctx context.Context, p CardPage) func(ref query.Ref, id string) (bool, error) {
	return func(ref query.Ref, id string) (bool, error) {
		var a sqldb.Args
		person, boards := a.Add(id), v.queryBoards(p, &a)
		text := ""
		switch ref {
		case query.RefMember:
			text = "SELECT 1 FROM card_assignees k JOIN cards c ON c.id = k.card_id WHERE k.user_id = " + person
		case query.RefCommenter:
			text = "SELECT 1 FROM cards c JOIN comments m ON m.card_id = c.id WHERE m.author_id = " + person
		default:
			text = "SELECT 1 FROM cards c WHERE c.created_by = " + person
		}
		n, err := v.count(ctx, "SELECT count(*) FROM ("+text+" AND c.board_id IN ("+boards+") LIMIT 1) AS n", a...)
		return n > 0, err
	}
}

// queryBoards returns an SQL query for the boards of a page, including archived boards.
func (v *View) queryBoards(p CardPage, a *sqldb.Args) string {
	if p.BoardID != "" {
		return "SELECT p.id FROM boards p WHERE p.id = " + a.Add(p.BoardID)
	}
	p.IncludeArchived = true
	return v.boardsOf(p, a)
}
