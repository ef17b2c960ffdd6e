package store

import (
	"context"
	"database/sql"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// ExportCards returns a page of the cards of a list, including archived cards, in order,
// starting after the given rank. The list's board must already be loaded.
func (v *View) ExportCards(ctx context.Context, listID, after string, limit int) ([]board.Card, error) {
	var cards []board.Card
	err := v.each(ctx, "SELECT "+cardColumns+", c.description FROM cards c JOIN lists l ON l.id = c.list_id WHERE c.list_id = $1 "+
		"AND c.rank > $2 ORDER BY c.rank, c.id LIMIT $3",
		[]any{listID, after, limit}, func(rows *sql.Rows) error {
			var c board.Card
			err := rows.Scan(cardDest(&c)...)
			cards = append(cards, c)
			return err
		})
	if err != nil {
		return nil, err
	}
	return cards, v.hydrate(ctx, cards)
}

// CardsWithDetails returns which of the given cards have checklists, and which have
// comments.
func (v *View) CardsWithDetails(ctx context.Context, ids []string) (checklists, comments map[string]bool, err error) {
	checklists, comments = map[string]bool{}, map[string]bool{}
	err = sqldb.InChunks(ids, func(in string, args []any) error {
		text := "SELECT DISTINCT 1, card_id FROM checklists WHERE card_id IN (" + in + ") UNION ALL SELECT DISTINCT 2, card_id " +
			"FROM comments WHERE card_id IN (" + in + ")"
		return v.each(ctx, text, args, func(rows *sql.Rows) error {
			var (
				detail int // the first column of the query
				id     string
			)
			err := rows.Scan(&detail, &id)
			if detail == 1 {
				checklists[id] = true
			} else {
				comments[id] = true
			}
			return err
		})
	})
	return checklists, comments, err
}

// UsersOn returns the ids of the people to whom the records of a board refer: the
// creators of the board, of its cards and of their attachments, the authors of comments and status updates, the
// assignees, and the actors of changes. It omits people who occur only in the JSON of a
// change.
func (v *View) UsersOn(ctx context.Context, boardID string) ([]string, error) {
	var ids []string
	err := v.each(ctx, `SELECT created_by FROM boards WHERE id = $1 AND created_by IS NOT NULL
		UNION SELECT created_by FROM cards WHERE board_id = $1 AND created_by IS NOT NULL
		UNION SELECT k.user_id FROM card_assignees k JOIN cards c ON c.id = k.card_id WHERE c.board_id = $1
		UNION SELECT m.author_id FROM comments m JOIN cards c ON c.id = m.card_id WHERE c.board_id = $1 AND m.author_id IS NOT NULL
		UNION SELECT t.created_by FROM attachments t JOIN cards c ON c.id = t.card_id WHERE c.board_id = $1 AND t.created_by IS NOT NULL
			AND t.removed_at IS NULL
		UNION SELECT author_id FROM status_updates WHERE board_id = $1 AND author_id IS NOT NULL
		UNION SELECT actor_id FROM activity WHERE board_id = $1 AND actor_type = 'person' AND actor_id IS NOT NULL`,
		[]any{boardID}, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		})
	return ids, err
}

// ExportStatusUpdates returns a page of the status updates of a board, oldest first,
// after the cursor. It sets only the ids of their authors. The board must already be
// loaded.
func (v *View) ExportStatusUpdates(ctx context.Context, boardID string, cursor StatusUpdateCursor,
	limit int) ([]board.StatusUpdate, error) {
	var out []board.StatusUpdate
	err := v.each(ctx, `SELECT id, board_id, status, title, text, start_date, target_date, author_id, created_at, figures FROM status_updates
		WHERE board_id = $1 AND (created_at, id) > ($2, $3) ORDER BY created_at, id LIMIT $4`,
		[]any{boardID, int64(cursor.At), cursor.ID, limit}, func(rows *sql.Rows) error {
			var (
				s       board.StatusUpdate
				author  sql.NullString
				figures []byte
			)
			if err := rows.Scan(&s.ID, &s.BoardID, &s.Status, &s.Title, &s.Text, &s.StartDate, &s.TargetDate, &author, &s.CreatedAt,
				&figures); err != nil {
				return err
			}
			if author.Valid {
				s.Author = &board.UserRef{ID: author.String}
			}
			out = append(out, s)
			return json.Unmarshal(figures, &out[len(out)-1].Snapshot)
		})
	return out, err
}

// SharedFilters returns a page of the shared filters of a workspace that the caller can
// see, ordered by id, starting after the given id. The workspace, or one of its boards,
// must already be loaded.
func (v *View) SharedFilters(ctx context.Context, workspaceID, after string, limit int) ([]board.SavedFilter, error) {
	var a sqldb.Args
	text := `SELECT f.id, f.workspace_id, f.name, f.query, f.created_at, f.updated_at, u.id, u.name FROM saved_filters f
		JOIN users u ON u.id = f.owner_id
		WHERE f.shared = 1 AND f.workspace_id = ` + a.Add(workspaceID) + " AND f.id > " + a.Add(after)
	if !v.caller.System {
		text += " AND EXISTS (SELECT 1 FROM workspace_members m WHERE m.workspace_id = f.workspace_id AND m.role <> 'guest' " +
			"AND m.user_id = " + a.Add(v.caller.UserID) + ")"
	}
	var out []board.SavedFilter
	err := v.each(ctx, text+" ORDER BY f.id LIMIT "+a.Add(limit), a, func(rows *sql.Rows) error {
		f := board.SavedFilter{Shared: true}
		err := rows.Scan(&f.ID, &f.WorkspaceID, &f.Name, &f.Query, &f.CreatedAt, &f.UpdatedAt, &f.Owner.ID, &f.Owner.Name)
		out = append(out, f)
		return err
	})
	return out, err
}

// Location is the workspace and the board that contain a list or a label. The location
// of a board is the board itself.
type Location struct{ WorkspaceID, BoardID string }

// Locations returns the locations of the boards, lists and labels among the given ids. It
// does not check permissions, so the result must not be revealed.
func (v *View) Locations(ctx context.Context, ids []string) (map[string]Location, error) {
	out := map[string]Location{}
	err := sqldb.InChunks(ids, func(in string, args []any) error {
		return v.each(ctx, "SELECT id, workspace_id, id FROM boards WHERE id IN ("+in+`)
			UNION ALL SELECT x.id, b.workspace_id, b.id FROM lists x JOIN boards b ON b.id = x.board_id WHERE x.id IN (`+in+`)
			UNION ALL SELECT x.id, b.workspace_id, b.id FROM labels x JOIN boards b ON b.id = x.board_id WHERE x.id IN (`+in+")", args,
			func(rows *sql.Rows) error {
				var (
					id string
					l  Location
				)
				err := rows.Scan(&id, &l.WorkspaceID, &l.BoardID)
				out[id] = l
				return err
			})
	})
	return out, err
}

// ChangesContaining calls fn, in order, with the JSON of each change to a board whose
// JSON contains the given text. Text is part of a LIKE pattern, so an underscore matches
// any character.
func (v *View) ChangesContaining(ctx context.Context, boardID, text string, fn func(changes []byte) error) error {
	return v.each(ctx, "SELECT changes FROM activity WHERE board_id = $1 AND changes LIKE $2 ORDER BY version",
		[]any{boardID, "%" + text + "%"}, func(rows *sql.Rows) error {
			var changes []byte
			if err := rows.Scan(&changes); err != nil {
				return err
			}
			return fn(changes)
		})
}

// UserNames returns the users with the given ids, including users whose accounts were
// deleted.
func (v *View) UserNames(ctx context.Context, ids []string) ([]board.UserRef, error) {
	out := []board.UserRef{}
	err := sqldb.InChunks(ids, func(in string, args []any) error {
		return v.each(ctx, "SELECT id, name FROM users WHERE id IN ("+in+")", args, func(rows *sql.Rows) error {
			var u board.UserRef
			err := rows.Scan(&u.ID, &u.Name)
			out = append(out, u)
			return err
		})
	})
	return out, err
}

// WorkspaceBoards returns a page of the ids of the boards that an export of a workspace
// may contain, ordered and starting after the given id. It omits boards that are
// confidential or in the trash. It does not check permissions, so the caller must load
// each board.
func (v *View) WorkspaceBoards(ctx context.Context, workspaceID, after string, limit int) ([]string, error) {
	var ids []string
	err := v.each(ctx, "SELECT id FROM boards WHERE workspace_id = $1 AND id > $2 AND trashed_at IS NULL AND visibility <> $3 "+
		"ORDER BY id LIMIT $4",
		[]any{workspaceID, after, string(board.Confidential), limit}, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		})
	return ids, err
}

// CountFiltersOf returns the number of filters that a person owns in a workspace.
func (v *View) CountFiltersOf(ctx context.Context, workspaceID, ownerID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM saved_filters WHERE owner_id = $1 AND workspace_id = $2", ownerID, workspaceID)
}

// IsMember reports whether a person is a member of a workspace.
func (v *View) IsMember(ctx context.Context, workspaceID, userID string) (bool, error) {
	n, err := v.count(ctx, `SELECT count(*) FROM users u JOIN workspace_members wm ON wm.user_id = u.id
		WHERE wm.workspace_id = $1 AND u.id = $2 AND u.deleted_at IS NULL`, workspaceID, userID)
	return n > 0, err
}
