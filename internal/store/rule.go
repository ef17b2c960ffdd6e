package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

const (
	ruleColumns = `r.id, r.board_id, r.name, r.definition, r.off, r.off_at, r.since, r.watched_at, r.last_run, r.created_at, ` +
		`r.updated_at, u.id, u.name, u.time_zone`
	ruleFrom = " FROM rules r JOIN users u ON u.id = r.owner_id "
	ruleLoad = "SELECT " + accessColumns + ", " + ruleColumns + ruleFrom + "JOIN boards b ON b.id = r.board_id" +
		accessJoins + "WHERE r.id = $1"
	ruleLock = "SELECT b.id FROM boards b JOIN rules r ON r.board_id = b.id WHERE r.id = $1 FOR UPDATE OF b"
)

// definition is the JSON in the rules.definition column.
type definition struct {
	When board.RuleWhen     `json:"when"`
	If   string             `json:"if"`
	Then []board.RuleAction `json:"then"`
}

// ruleScan collects the rule columns of a row.
type ruleScan struct {
	rule board.Rule
	text []byte
	off  string
}

func (s *ruleScan) dest() []any {
	r := &s.rule
	return []any{&r.ID, &r.BoardID, &r.Name, &s.text, &s.off, &r.OffAt, &r.Since, &r.WatchedAt, &r.LastRunAt, &r.CreatedAt,
		&r.UpdatedAt, &r.Owner.ID, &r.Owner.Name, &r.TimeZone}
}

func (s *ruleScan) result() (board.Rule, error) {
	r := s.rule
	var d definition
	if err := json.Unmarshal(s.text, &d); err != nil {
		return r, fmt.Errorf("decode definition of %s: %w", r.ID, err)
	}
	r.When, r.If, r.Then = d.When, d.If, d.Then
	if r.On = s.off == ""; !r.On {
		r.OffReason = new(board.RuleOff(s.off))
	}
	return r, nil
}

// Rule loads the rule with the given id. It returns an error unless the caller has the
// capability on the rule's board.
func (v *View) Rule(ctx context.Context, id string, need board.Capability) (board.Rule, error) {
	var s ruleScan
	if err := v.authorized(ctx, need, ruleLoad, id, s.dest()...); err != nil {
		return board.Rule{}, err
	}
	return s.result()
}

// Rule locks the rule's board and loads the rule for a change. It returns an error
// unless the caller is an admin of the board.
func (tx *Tx) Rule(ctx context.Context, id string) (board.Rule, error) {
	if err := tx.lock(ctx, ruleLock, id); err != nil {
		return board.Rule{}, err
	}
	return tx.View.Rule(ctx, id, board.Administer)
}

// Rules returns a page of the rules of a board, ordered by id, starting after the given
// id. The board must already be loaded.
func (v *View) Rules(ctx context.Context, boardID, after string, limit int) ([]board.Rule, error) {
	return v.rules(ctx, "WHERE r.board_id = $1 AND r.id > $2 ORDER BY r.id LIMIT $3", boardID, after, limit)
}

// EnabledRules returns the enabled rules of a board, oldest first. If timed is true, it
// returns the rules that are triggered by a time. Otherwise, it returns the rules that are
// triggered by a change.
func (v *View) EnabledRules(ctx context.Context, boardID string, timed bool) ([]board.Rule, error) {
	return v.rules(ctx, "WHERE r.board_id = $1 AND r.off = '' AND r.timed = $2 ORDER BY r.id", boardID, flag(timed))
}

func (v *View) rules(ctx context.Context, where string, args ...any) ([]board.Rule, error) {
	out := []board.Rule{}
	err := v.each(ctx, "SELECT "+ruleColumns+ruleFrom+where, args, func(rows *sql.Rows) error {
		var s ruleScan
		if err := rows.Scan(s.dest()...); err != nil {
			return err
		}
		r, err := s.result()
		out = append(out, r)
		return err
	})
	return out, err
}

// CountRules returns the number of rules of a board. The board must already be loaded.
func (v *View) CountRules(ctx context.Context, boardID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM rules WHERE board_id = $1", boardID)
}

// InsertRule stores a new rule. Only later changes trigger it.
func (tx *Tx) InsertRule(ctx context.Context, r *board.Rule) error {
	r.CreatedAt = tx.now
	text, err := tx.encodeRule(r)
	if err != nil {
		return err
	}
	if err := tx.exec(ctx, `INSERT INTO rules (id, board_id, owner_id, name, timed, definition, off, off_at, since, watched_at,
		created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		r.ID, r.BoardID, r.Owner.ID, r.Name, flag(r.When.Event.Timed()), text, orEmpty(r.OffReason), null(r.OffAt), r.Since,
		int64(r.WatchedAt), int64(r.CreatedAt), int64(r.UpdatedAt)); err != nil {
		return fmt.Errorf("insert rule: %w", err)
	}
	return tx.watchBoard(ctx, r.BoardID)
}

// UpdateRule stores all fields of a rule and resets its failure count. Only later
// changes trigger it.
func (tx *Tx) UpdateRule(ctx context.Context, r *board.Rule) error {
	text, err := tx.encodeRule(r)
	if err != nil {
		return err
	}
	if err := tx.exec(ctx, `UPDATE rules SET owner_id = $1, name = $2, timed = $3, definition = $4, off = $5, off_at = $6,
		since = $7, watched_at = $8, failures = 0, updated_at = $9 WHERE id = $10`,
		r.Owner.ID, r.Name, flag(r.When.Event.Timed()), text, orEmpty(r.OffReason), null(r.OffAt), r.Since, int64(r.WatchedAt),
		int64(r.UpdatedAt), r.ID); err != nil {
		return fmt.Errorf("update rule: %w", err)
	}
	return tx.watchBoard(ctx, r.BoardID)
}

// RenameRule stores the name of a rule. Earlier changes and dates that the rule has not
// handled yet still trigger it.
func (tx *Tx) RenameRule(ctx context.Context, r *board.Rule) error {
	r.UpdatedAt = tx.now
	return tx.exec(ctx, "UPDATE rules SET name = $1, updated_at = $2 WHERE id = $3", r.Name, int64(r.UpdatedAt), r.ID)
}

// encodeRule sets the times of a changed rule and the version after which changes trigger
// it. It returns the rule's definition as JSON.
func (tx *Tx) encodeRule(r *board.Rule) (string, error) {
	r.UpdatedAt, r.WatchedAt, r.Since = tx.now, tx.now, tx.On(r.BoardID).Version
	text, err := json.Marshal(definition{r.When, r.If, r.Then}, json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("encode rule: %w", err)
	}
	return string(text), nil
}

// DeleteRule deletes a rule and its runs.
func (tx *Tx) DeleteRule(ctx context.Context, r board.Rule) error {
	if err := tx.exec(ctx, "DELETE FROM rules WHERE id = $1", r.ID); err != nil {
		return err
	}
	return tx.watchBoard(ctx, r.BoardID)
}

// watchBoard makes automation handle later changes to a board if the board has an enabled
// rule. Otherwise, it makes automation ignore the board.
func (tx *Tx) watchBoard(ctx context.Context, boardID string) error {
	if err := tx.exec(ctx, "DELETE FROM automation_boards WHERE board_id = $1 AND NOT EXISTS (SELECT 1 FROM rules r "+
		"WHERE r.board_id = $1 AND r.off = '')", boardID); err != nil {
		return err
	}
	var version int64
	for _, a := range tx.seen {
		if a.BoardID == boardID {
			version = a.Version
		}
	}
	return tx.exec(ctx, `INSERT INTO automation_boards (board_id, handled) SELECT b.id, CASE WHEN b.version < $2 THEN $2
		ELSE b.version END FROM boards b
		WHERE b.id = $1 AND EXISTS (SELECT 1 FROM rules r WHERE r.board_id = $1 AND r.off = '')
		ON CONFLICT (board_id) DO NOTHING`, boardID, version)
}

// DisableRule disables a rule on behalf of the service, for the given reason.
func (tx *Tx) DisableRule(ctx context.Context, ruleID, boardID string, reason board.RuleOff) error {
	if err := tx.exec(ctx, "UPDATE rules SET off = $1, off_at = $2 WHERE id = $3 AND off = ''", string(reason), int64(tx.now),
		ruleID); err != nil {
		return err
	}
	return tx.watchBoard(ctx, boardID)
}

// disableRules disables the rules whose owner is no longer an admin of the rule's board.
// It checks the rules of a workspace, a board or a person, depending on the id. It skips
// workspaces in the trash: they have no members, but their rules must run again after a
// restore.
func (tx *Tx) disableRules(ctx context.Context, id string) error {
	type lostRule struct{ id, boardID string }
	var lost []lostRule
	if err := tx.each(ctx, `SELECT r.id, r.board_id, b.visibility, wm.role, bm.role FROM rules r JOIN boards b ON b.id = r.board_id
		LEFT JOIN users u ON u.id = r.owner_id AND u.deleted_at IS NULL
		LEFT JOIN workspace_members wm ON wm.workspace_id = b.workspace_id AND wm.user_id = u.id
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = u.id
		WHERE r.off = '' AND NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.id = b.workspace_id AND w.trashed_at IS NOT NULL)
		AND (r.owner_id = $1 OR r.board_id IN (SELECT x.id FROM boards x WHERE x.id = $1 OR x.workspace_id = $1))`,
		[]any{id}, func(rows *sql.Rows) error {
			var (
				l           lostRule
				visibility  board.Visibility
				member, own sql.NullString
			)
			err := rows.Scan(&l.id, &l.boardID, &visibility, &member, &own)
			if err == nil && !board.RoleOn(board.WorkspaceRole(member.String), board.Role(own.String), visibility).Can(board.Administer) {
				lost = append(lost, l)
			}
			return err
		}); err != nil {
		return err
	}
	for _, l := range lost {
		if err := tx.DisableRule(ctx, l.id, l.boardID, board.RuleOffOwner); err != nil {
			return err
		}
	}
	return nil
}

// Matches reports whether a card of a board satisfies a query. The board must already be
// loaded.
func (v *View) Matches(ctx context.Context, boardID, cardID string, q query.Query) (bool, error) {
	where, err := v.resolve(ctx, CardPage{BoardID: boardID}, q.Where)
	if err != nil {
		return false, err
	}
	var a sqldb.Args
	c := search.Compiler{Args: &a, Caller: v.caller}
	n, err := v.count(ctx, "SELECT count(*) FROM cards c JOIN lists l ON l.id = c.list_id WHERE c.id = "+a.Add(cardID)+
		" AND c.board_id = "+a.Add(boardID)+" AND "+c.Archived(q.Archived)+" AND "+c.Condition(where), a...)
	return n == 1, err
}
