package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// Period is a range of time. It includes both ends.
type Period struct{ Since, Until board.Instant }

// ActiveBoard is a board with the number of its changes in a period.
type ActiveBoard struct {
	ID, Name string
	Changes  int
}

// ActiveBoards returns the boards of a workspace that the caller can see and that changed in
// a period, including archived ones, with the most active ones first.
func (v *View) ActiveBoards(ctx context.Context, workspaceID string, p Period) ([]ActiveBoard, error) {
	var (
		a   sqldb.Args
		out []ActiveBoard
	)
	text := "SELECT r.id, r.name, (SELECT count(*) FROM activity t WHERE t.board_id = r.id AND t.at >= " + a.Add(int64(p.Since)) +
		" AND t.at <= " + a.Add(int64(p.Until)) + ") FROM boards r WHERE r.id IN (" +
		v.boardsOf(CardPage{WorkspaceID: workspaceID, IncludeArchived: true}, &a) + ") ORDER BY 3 DESC, r.id"
	err := v.each(ctx, text, a, func(rows *sql.Rows) error {
		var b ActiveBoard
		err := rows.Scan(&b.ID, &b.Name, &b.Changes)
		if b.Changes > 0 {
			out = append(out, b)
		}
		return err
	})
	return out, err
}

// CountChanges returns the number of changes to a loaded board in a period.
func (v *View) CountChanges(ctx context.Context, boardID string, p Period) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM activity WHERE board_id = $1 AND at >= $2 AND at <= $3", boardID, int64(p.Since),
		int64(p.Until))
}

// detailedKinds are the kinds of changes whose entries PeriodChanges returns with their
// values. The values of other kinds can be large, such as descriptions.
var detailedKinds = []board.Kind{
	board.KindCardMoved, board.KindCardDueDateChanged, board.KindCommentAdded, board.KindCommentDeleted,
	board.KindBoardMemberAdded, board.KindBoardMemberUpdated, board.KindBoardMemberRemoved, board.KindStatusPosted,
	board.KindLabelCreated, board.KindLabelDeleted,
}

// PeriodEntry is a change to a board. Values is the JSON of its changes, or nil for a kind that
// is not in detailedKinds. The entry is only valid during the call of the function that gets it.
type PeriodEntry struct {
	Type           board.Kind
	Actor          board.EntryActor
	ListID, CardID string // empty if there is none
	Values         []byte
}

// PeriodChanges calls fn for each of the newest changes to a loaded board in a period, newest
// first.
func (v *View) PeriodChanges(ctx context.Context, boardID string, p Period, limit int, fn func(*PeriodEntry) error) error {
	var a sqldb.Args
	kinds := make([]string, len(detailedKinds))
	for i, k := range detailedKinds {
		kinds[i] = string(k)
	}
	text := "SELECT type, actor_type, actor_id, program, list_id, card_id, CASE WHEN type IN (" + a.In(kinds) + ") " +
		"THEN changes END FROM activity WHERE board_id = " + a.Add(boardID) + " AND at >= " + a.Add(int64(p.Since)) +
		" AND at <= " + a.Add(int64(p.Until)) +
		" ORDER BY at DESC, version DESC LIMIT " + a.Add(limit)
	return v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			e                          PeriodEntry
			actor, program, list, card sql.NullString
			values                     sql.RawBytes
		)
		if err := rows.Scan(&e.Type, &e.Actor.Type, &actor, &program, &list, &card, &values); err != nil {
			return err
		}
		if actor.Valid {
			e.Actor.ID = &actor.String
		}
		if program.Valid {
			e.Actor.Client = &program.String
		}
		e.ListID, e.CardID, e.Values = list.String, card.String, values
		return fn(&e)
	})
}

// LacksChanges reports whether some of the changes to a loaded board since an instant may not
// be in its activity, because they are no longer kept or a job has yet to write them.
func (v *View) LacksChanges(ctx context.Context, boardID string, since board.Instant) (bool, error) {
	version, err := v.ReducedTo(ctx, boardID)
	if err != nil || version == 0 {
		return false, err
	}
	first := v.now
	_, err = v.one(ctx, "SELECT at FROM activity WHERE board_id = $1 AND version > $2 ORDER BY version LIMIT 1",
		[]any{boardID, version}, &first)
	return since < first, err
}

// NamedCard is what a digest shows of a card.
type NamedCard struct {
	Number      int
	Title, List string
}

// CardNames returns those of the given cards that are on a loaded board, by id. (IS TRUE keeps
// SQLite from reading all cards of the board.)
func (v *View) CardNames(ctx context.Context, boardID string, ids []string) (map[string]NamedCard, error) {
	out := make(map[string]NamedCard, len(ids))
	err := sqldb.InChunks(ids, func(in string, args []any) error {
		text := fmt.Sprintf("SELECT c.id, c.number, c.title, l.name FROM cards c JOIN lists l ON l.id = c.list_id WHERE c.id IN (%s) "+
			"AND (c.board_id = $%d) IS TRUE", in, len(args)+1)
		return v.each(ctx, text, append(args, boardID), func(rows *sql.Rows) error {
			var (
				id string
				c  NamedCard
			)
			err := rows.Scan(&id, &c.Number, &c.Title, &c.List)
			out[id] = c
			return err
		})
	})
	return out, err
}

// ListNames returns the names of those of the given lists that are on a loaded board, by id.
func (v *View) ListNames(ctx context.Context, boardID string, ids []string) (map[string]string, error) {
	return v.namesOf(ctx, "SELECT l.id, l.name FROM lists l WHERE l.id IN (%s) AND (l.board_id = $%d) IS TRUE", ids, boardID)
}

// CommentBeginnings returns the beginnings of those of the given comments that are on cards of
// a loaded board, by id.
func (v *View) CommentBeginnings(ctx context.Context, boardID string, ids []string, length int) (map[string]string, error) {
	return v.namesOf(ctx, fmt.Sprintf("SELECT m.id, substr(m.text, 1, %d) FROM comments m JOIN cards c ON c.id = m.card_id ", length)+
		"WHERE m.id IN (%s) AND (c.board_id = $%d) IS TRUE", ids, boardID)
}

// ActorNames returns the names of those of the given people whom the caller can see on a loaded
// board, by id: the members of the workspace or, for a guest, the people who can see the board.
func (v *View) ActorNames(ctx context.Context, boardID string, ids []string) (map[string]string, error) {
	text := `SELECT u.id, u.name FROM users u JOIN boards b ON u.id IN (%s) AND b.id = $%d
		JOIN workspace_members wm ON wm.workspace_id = b.workspace_id AND wm.user_id = u.id
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = u.id WHERE u.deleted_at IS NULL`
	if v.On(boardID).WorkspaceRole == board.WorkspaceGuest {
		text += " AND " + visible
	}
	return v.namesOf(ctx, text, ids, boardID)
}

// namesOf runs a query for the names of records, in which %s are their ids and %d is the
// number of the argument with the board's id.
func (v *View) namesOf(ctx context.Context, format string, ids []string, boardID string) (map[string]string, error) {
	out := make(map[string]string, len(ids))
	err := sqldb.InChunks(slices.Compact(slices.Sorted(slices.Values(ids))), func(in string, args []any) error {
		text := fmt.Sprintf(format, in, len(args)+1)
		return v.each(ctx, text, append(args, boardID), func(rows *sql.Rows) error {
			var id, name string
			err := rows.Scan(&id, &name)
			out[id] = name
			return err
		})
	})
	return out, err
}
