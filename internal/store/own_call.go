package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// CallFilter selects calls of the caller. An empty field selects all calls, except for Token.
type CallFilter struct {
	Token   *string // the id of the token that was used; "" selects calls without a token
	BoardID string
	IDs     []string      // of their audit entries
	From    board.Instant // inclusive
	Except  string        // an operation
}

// OwnCalls returns a page of the calls with which the caller changed boards that the caller
// can see, newest first. They do not contain the name of a card or list that is on another
// board now, because the caller may not see that board. If before is not "", it returns only calls older than the one with
// that id.
func (v *View) OwnCalls(ctx context.Context, f CallFilter, before string, limit int) ([]board.OwnCall, error) {
	var a sqldb.Args
	text := `SELECT a.id, a.at, a.operation, a.board_id, b.name, a.subject, COALESCE(su.name, sc.title, sl.name), a.details
		FROM audit a JOIN boards b ON b.id = a.board_id LEFT JOIN users su ON su.id = a.subject LEFT JOIN cards sc ON sc.id = a.subject
		AND sc.board_id = a.board_id LEFT JOIN lists sl ON sl.id = a.subject AND sl.board_id = a.board_id
		WHERE a.workspace_id IN (SELECT workspace_id FROM workspace_members WHERE user_id = ` + a.Add(v.caller.UserID) + `)
		AND a.actor_id = ` + a.Add(v.caller.UserID) + " AND a.board_id IN (" + v.boardsOf(CardPage{IncludeArchived: true}, &a) + `)
		AND a.id >= ` + a.Add(minID("aud_", f.From.Time())) + " AND a.at >= " + a.Add(int64(f.From)) + ` AND a.details LIKE '%"events":%'`
	if f.Token != nil {
		text += " AND COALESCE(a.token_id, '') = " + a.Add(*f.Token)
	}
	for _, c := range []struct{ condition, value string }{{"a.board_id =", f.BoardID}, {"a.operation <>", f.Except}, {"a.id <", before}} {
		if c.value != "" {
			text += " AND " + c.condition + " " + a.Add(c.value)
		}
	}
	if len(f.IDs) > 0 {
		text += " AND a.id IN (" + a.In(f.IDs) + ")"
	}
	out := []board.OwnCall{}
	err := v.each(ctx, text+" ORDER BY a.id DESC LIMIT "+a.Add(limit), a, func(rows *sql.Rows) error {
		var (
			c       board.OwnCall
			text    []byte
			details auditDetails
		)
		if err := rows.Scan(&c.ID, &c.At, &c.Operation, &c.BoardID, &c.BoardName, &c.Subject, &c.SubjectName, &text); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &details); err != nil {
			return fmt.Errorf("decode details of %s: %w", c.ID, err)
		}
		c.BoardVersion, c.Changes = details.BoardVersion, details.Events
		out = append(out, c)
		return nil
	})
	return out, err
}
