package store

import (
	"context"
	"database/sql"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/store/search"
)

const (
	boardColumns = "b.name, b.description, b.color, b.background, b.created_by, b.created_at, b.updated_at"
	boardLoad    = "SELECT " + accessColumns + ", " + boardColumns + ", b.archived_at, b.trashed_at FROM boards b" +
		accessJoins + "WHERE b.id = $1"
	boardAccess = "SELECT " + accessColumns + " FROM boards b" + accessJoins + "WHERE b.id = $1"
	boardLock   = "SELECT b.id FROM boards b WHERE b.id = $1 FOR UPDATE OF b"
)

func boardDest(b *board.Board) []any {
	return []any{&b.Name, &b.Description, &b.Color, &b.Background, &b.CreatedBy, &b.CreatedAt, &b.UpdatedAt, &b.ArchivedAt, &b.TrashedAt}
}

// setAccess sets the fields of a board that come from the access columns.
func (v *View) setAccess(b *board.Board, a *board.Access) {
	b.ID, b.WorkspaceID, b.Visibility, b.Features = a.BoardID, a.WorkspaceID, a.Visibility, a.Features
	b.Version, b.OpenCards, b.Unfinished, b.Role = a.Version, a.OpenCards, a.Unfinished(), a.Role(v.caller)
	b.URL = v.db.opts.BaseURL + "/boards/" + b.ID
}

// Board loads the board with the given id. It returns an error unless the caller has the
// capability on the board.
func (v *View) Board(ctx context.Context, id string, need board.Capability) (board.Board, error) {
	var b board.Board
	if err := v.authorized(ctx, need, boardLoad, id, boardDest(&b)...); err != nil {
		return b, err
	}
	v.setAccess(&b, v.On(id))
	return b, nil
}

// CheckBoard returns an error unless the caller has the capability on the board.
func (v *View) CheckBoard(ctx context.Context, id string, need board.Capability) error {
	return v.authorized(ctx, need, boardAccess, id)
}

// Board locks the board and loads it for a change.
func (tx *Tx) Board(ctx context.Context, id string, need board.Capability) (board.Board, error) {
	if err := tx.lockToLoad(ctx, boardLock, boardLoad, id); err != nil {
		return board.Board{}, err
	}
	b, err := tx.View.Board(ctx, id, need)
	if err == nil {
		err = tx.loaded(id, id)
	}
	if err == nil {
		tx.loadedRecord(id, id, b.Name, b.Description)
	}
	return b, err
}

// Boards returns a page of the boards that the caller can see, ordered by id, starting
// after the given id. If workspaceID is empty, it covers all workspaces. It includes
// archived boards if archived is true, but never boards in the trash.
func (v *View) Boards(ctx context.Context, workspaceID string, archived bool, after string, limit int) ([]board.Board, error) {
	where := "b.trashed_at IS NULL AND " + visible
	if !archived {
		where += " AND b.archived_at IS NULL"
	}
	return v.boards(ctx, where, workspaceID, after, limit)
}

// TrashedBoards returns a page of the boards in a workspace's trash that the caller may
// restore, ordered by id, starting after the given id.
func (v *View) TrashedBoards(ctx context.Context, workspaceID, after string, limit int) ([]board.Board, error) {
	return v.boards(ctx, "b.trashed_at > 0 AND wm.role IS NOT NULL AND (bm.role = 'admin' OR (b.visibility = 'workspace' "+
		"AND wm.role IN ('owner', 'admin')))", workspaceID, after, limit)
}

func (v *View) boards(ctx context.Context, where, workspaceID, after string, limit int) ([]board.Board, error) {
	out := []board.Board{}
	err := v.each(ctx, "SELECT "+accessColumns+", "+boardColumns+", b.archived_at, b.trashed_at FROM boards b"+accessJoins+
		`WHERE b.workspace_id IN (SELECT me.workspace_id FROM workspace_members me WHERE me.user_id = $2
			AND ($3 = '' OR me.workspace_id = $3) AND ($4 = '' OR me.workspace_id = $4))
		AND b.id > $1 AND `+where+" ORDER BY b.id LIMIT $5",
		[]any{after, v.caller.UserID, workspaceID, v.caller.WorkspaceID, limit}, func(rows *sql.Rows) error {
			var (
				s accessScan
				b board.Board
			)
			if err := rows.Scan(append(s.dest(), boardDest(&b)...)...); err != nil {
				return err
			}
			v.setAccess(&b, s.result())
			out = append(out, b)
			return nil
		})
	return out, err
}

// visible is an SQL condition that is true if a person can see the board b. wm and bm are
// the person's rows in workspace_members and board_members. The condition must agree with
// board.RoleOn.
const visible = `wm.role IS NOT NULL AND (bm.role IS NOT NULL OR (b.visibility = 'workspace' AND wm.role <> 'guest'))`

// InsertBoard writes a new board in a loaded workspace and makes its creator, if any,
// an admin. Afterwards the board counts as loaded.
func (tx *Tx) InsertBoard(ctx context.Context, b *board.Board, in board.Workspace) error {
	b.CreatedAt, b.UpdatedAt = tx.now, tx.now
	tx.remember(&board.Access{
		BoardID: b.ID, WorkspaceID: in.ID, OrganizationID: in.OrganizationID, Visibility: b.Visibility, Features: b.Features,
		WorkspaceRole: in.Role, BoardRole: board.RoleAdmin, ReadOnly: in.ReadOnly, NextNumber: 1,
	})
	tx.storedRecord(b.ID, b.ID, b.Name, b.Description)
	b.Role = board.RoleAdmin
	b.URL = tx.db.opts.BaseURL + "/boards/" + b.ID
	err := tx.exec(ctx, `INSERT INTO boards (id, workspace_id, name, description, color, visibility, features, version, created_by,
		created_at, updated_at, counted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $10)`,
		b.ID, in.ID, b.Name, b.Description, null(b.Color), string(b.Visibility), b.Features.Bits(), b.CreatedBy, int64(b.CreatedAt),
		int64(b.UpdatedAt))
	if err != nil {
		return fmt.Errorf("insert board: %w", err)
	}
	if b.CreatedBy == nil {
		return nil
	}
	return tx.SetBoardMember(ctx, b.ID, *b.CreatedBy, board.RoleAdmin)
}

// UpdateBoard writes the board's own fields.
func (tx *Tx) UpdateBoard(ctx context.Context, b *board.Board) error {
	a := tx.On(b.ID)
	if a.Visibility != b.Visibility {
		tx.regrant(b.ID)
	}
	a.Visibility, a.Features, a.Archived, a.Trashed = b.Visibility, b.Features, b.ArchivedAt != nil, b.TrashedAt != nil
	b.UpdatedAt = tx.now
	tx.storedRecord(b.ID, b.ID, b.Name, b.Description)
	return tx.exec(ctx, "UPDATE boards SET name = $1, description = $2, color = $3, background = $4, visibility = $5, "+
		"features = $6, archived_at = $7, trashed_at = $8 WHERE id = $9", b.Name, b.Description, null(b.Color), b.Background,
		string(b.Visibility), b.Features.Bits(), null(b.ArchivedAt), null(b.TrashedAt), b.ID)
}

// BoardMembers returns a page of the people who can see a loaded board, ordered by id,
// starting after the given id.
func (v *View) BoardMembers(ctx context.Context, boardID, after string, limit int) ([]board.BoardMember, error) {
	a := v.On(boardID)
	out := []board.BoardMember{}
	err := v.each(ctx, `SELECT u.id, u.name, wm.role, bm.role, u.avatar FROM boards b
		JOIN workspace_members wm ON wm.workspace_id = b.workspace_id
		JOIN users u ON u.id = wm.user_id LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = wm.user_id
		WHERE b.id = $1 AND u.id > $2 AND u.deleted_at IS NULL AND `+visible+` ORDER BY u.id LIMIT $3`,
		[]any{boardID, after, limit}, func(rows *sql.Rows) error {
			var (
				m           board.BoardMember
				inWorkspace board.WorkspaceRole
			)
			if err := rows.Scan(&m.ID, &m.Name, &inWorkspace, &m.Given, &m.Avatar); err != nil {
				return err
			}
			given := board.RoleNone
			if m.Given != nil {
				given = *m.Given
			}
			m.Role = board.RoleOn(inWorkspace, given, a.Visibility)
			out = append(out, m)
			return nil
		})
	return out, err
}

// IsSeenByMore reports whether somebody can see one board but not another one, or the first
// one has a public page. Both must be loaded.
func (v *View) IsSeenByMore(ctx context.Context, boardID, than string) (bool, error) {
	if v.On(boardID).Features.PublicPage {
		return true, nil
	}
	const readers = `SELECT u.id FROM boards b JOIN workspace_members wm ON wm.workspace_id = b.workspace_id
		JOIN users u ON u.id = wm.user_id AND u.deleted_at IS NULL
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = wm.user_id WHERE ` + visible + ` AND b.id = `
	n, err := v.count(ctx, "SELECT count(*) FROM ("+readers+"$1 EXCEPT "+readers+"$2) more", boardID, than)
	return n > 0, err
}

// BoardMember returns a member of a loaded board's workspace, with the member's role on
// the board, which may be none. It returns a not_found error for anyone else.
func (v *View) BoardMember(ctx context.Context, boardID, userID string) (board.BoardMember, error) {
	a := v.On(boardID)
	m := board.BoardMember{ID: userID}
	var inWorkspace board.WorkspaceRole
	found, err := v.one(ctx, `SELECT u.name, wm.role, bm.role, u.avatar FROM users u JOIN workspace_members wm ON wm.user_id = u.id
		AND wm.workspace_id = $1
		LEFT JOIN board_members bm ON bm.user_id = u.id AND bm.board_id = $2 WHERE u.id = $3 AND u.deleted_at IS NULL`,
		[]any{a.WorkspaceID, boardID, userID}, &m.Name, &inWorkspace, &m.Given, &m.Avatar)
	if err != nil {
		return m, err
	}
	if !found {
		return m, board.NotFound()
	}
	given := board.RoleNone
	if m.Given != nil {
		given = *m.Given
	}
	m.Role = board.RoleOn(inWorkspace, given, a.Visibility)
	return m, nil
}

// CountBoardMembers returns the number of people who were given a role on the board
// itself. It does not count people who have a role only through the workspace.
func (v *View) CountBoardMembers(ctx context.Context, boardID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM board_members WHERE board_id = $1", boardID)
}

// CountBoardAdmins returns the number of people who can administer a board, by their role
// on the board or in its workspace. It does not count the person with the id except.
func (v *View) CountBoardAdmins(ctx context.Context, boardID, except string) (int, error) {
	return v.count(ctx, `SELECT count(*) FROM boards b JOIN workspace_members wm ON wm.workspace_id = b.workspace_id
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = wm.user_id
		WHERE b.id = $1 AND wm.user_id <> $2 AND (bm.role = 'admin' OR (b.visibility = 'workspace'
		AND wm.role IN ('owner', 'admin')))`, boardID, except)
}

// SetBoardMember gives a person a role on a board.
func (tx *Tx) SetBoardMember(ctx context.Context, boardID, userID string, role board.Role) error {
	tx.regrant(boardID)
	return tx.exec(ctx, `INSERT INTO board_members (board_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (board_id, user_id) DO UPDATE SET role = excluded.role`, boardID, userID, string(role), int64(tx.now))
}

// RemoveBoardMember removes a person's role on a board.
func (tx *Tx) RemoveBoardMember(ctx context.Context, boardID, userID string) error {
	tx.regrant(boardID)
	return tx.exec(ctx, "DELETE FROM board_members WHERE board_id = $1 AND user_id = $2", boardID, userID)
}

// UnassignFromBoard removes a person from the assignees of all cards of a board. It
// returns the ids of these cards, both open and archived, except cards in hidden lists.
func (tx *Tx) UnassignFromBoard(ctx context.Context, boardID, userID string) ([]string, error) {
	var cards []string
	err := tx.each(ctx, "SELECT k.card_id FROM card_assignees k JOIN cards c ON c.id = k.card_id WHERE k.user_id = $1 "+
		"AND c.board_id = $2 AND "+shownCard+" ORDER BY k.card_id",
		[]any{userID, boardID}, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			cards = append(cards, id)
			return err
		})
	if err != nil {
		return nil, err
	}
	return cards, tx.exec(ctx, "DELETE FROM card_assignees WHERE user_id = $1 AND card_id IN (SELECT id FROM cards "+
		"WHERE board_id = $2)", userID, boardID)
}

// AssignedBoard is a board with the number of its cards that are assigned to a person.
type AssignedBoard struct {
	WorkspaceID, ID string
	Cards           int
}

// shownCard is an SQL condition that is true if the card c is not in a hidden list.
const shownCard = "EXISTS (SELECT 1 FROM lists l WHERE l.id = c.list_id AND " + search.ShownList + ")"

// AssignedBoards returns the boards on which cards are assigned to a person, ordered by
// id. WorkspaceOrBoardID is the id of a workspace, for all of its boards, or of a
// single board. AssignedBoards includes archived boards and boards in the trash. It
// does not check permissions.
func (v *View) AssignedBoards(ctx context.Context, workspaceOrBoardID, userID string) (out []AssignedBoard, err error) {
	err = v.each(ctx, "SELECT b.workspace_id, b.id, count(*) FROM card_assignees k JOIN cards c ON c.id = k.card_id "+
		"JOIN boards b ON b.id = c.board_id WHERE k.user_id = $1 AND (b.id = $2 OR b.workspace_id = $2) AND "+shownCard+
		" GROUP BY b.workspace_id, b.id ORDER BY b.id",
		[]any{userID, workspaceOrBoardID}, func(rows *sql.Rows) error {
			var a AssignedBoard
			err := rows.Scan(&a.WorkspaceID, &a.ID, &a.Cards)
			out = append(out, a)
			return err
		})
	return out, err
}

// UnassignSome is like UnassignFromBoard, but for at most limit cards, and it leaves
// the cards in hidden lists assigned.
func (tx *Tx) UnassignSome(ctx context.Context, boardID, userID string, limit int) ([]string, error) {
	cards, err := tx.texts(ctx, "SELECT k.card_id FROM card_assignees k JOIN cards c ON c.id = k.card_id WHERE k.user_id = $1 "+
		"AND c.board_id = $2 AND "+shownCard+" ORDER BY k.card_id LIMIT $3", userID, boardID, limit)
	if err != nil {
		return nil, err
	}
	return cards, tx.Unassign(ctx, cards, userID)
}
