package store

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/trace"
)

// View reads one consistent state for one caller.
type View struct {
	db     *DB
	run    sqldb.Runner
	caller board.Caller
	now    board.Instant
	seen   []*board.Access // of the boards loaded so far

	span       *trace.Span // of the transaction; nil when it is not recorded
	statements int         // recorded so far
}

// Caller is who is asking.
func (v *View) Caller() board.Caller { return v.caller }

// Now is the one time of this view or transaction.
func (v *View) Now() board.Instant { return v.now }

// Time is Now as a time.Time in UTC.
func (v *View) Time() time.Time { return v.now.Time() }

// Limits are the caps of every board of this server.
func (v *View) Limits() board.Limits { return v.db.opts.Limits }

// DefaultPlan is the plan of a new organization.
func (v *View) DefaultPlan() board.Plan { return cmp.Or(v.db.opts.Plan, board.DefaultPlan) }

// On is what is known of a board that a loader has loaded from in this view.
// Asking for another is a mistake in the program.
func (v *View) On(boardID string) *board.Access {
	for _, a := range v.seen {
		if a.BoardID == boardID {
			return a
		}
	}
	panic("store: On: nothing was loaded from board " + boardID)
}

// each runs a query and calls scan for every row; it closes the rows before
// it returns, so that the next query may run.
func (v *View) each(ctx context.Context, text string, args []any, scan func(*sql.Rows) error) error {
	defer v.statement(text).End()
	return sqldb.Each(ctx, v.run, text, args, scan)
}

// one reads the first row of a query into dest, and tells whether there was one.
func (v *View) one(ctx context.Context, text string, args []any, dest ...any) (found bool, err error) {
	defer v.statement(text).End()
	return sqldb.One(ctx, v.run, text, args, dest...)
}

// count reads one number.
func (v *View) count(ctx context.Context, text string, args ...any) (n int, err error) {
	_, err = v.one(ctx, text, args, &n)
	return n, err
}

// The columns and joins that tell what a caller is to a board. Every loader
// of something on a board selects them with the record: $1 is the record,
// $2 the caller.
const (
	accessColumns = `b.id, b.workspace_id, w.organization_id, b.visibility, b.features, o.read_only,
		b.archived_at, b.trashed_at, b.version, b.open_cards, b.all_cards, b.open_lists, b.next_number,
		wm.role, bm.role`
	accessJoins = ` JOIN workspaces w ON w.id = b.workspace_id
		JOIN organizations o ON o.id = w.organization_id
		LEFT JOIN workspace_members wm ON wm.workspace_id = b.workspace_id AND wm.user_id = $2
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = $2 `
)

// accessScan collects the access columns of a row.
type accessScan struct {
	access              board.Access
	features, readOnly  int64
	archived, trashed   sql.NullInt64
	workspaceRole, role sql.NullString
}

func (s *accessScan) dest() []any {
	a := &s.access
	return []any{&a.BoardID, &a.WorkspaceID, &a.OrganizationID, &a.Visibility, &s.features, &s.readOnly,
		&s.archived, &s.trashed, &a.Version, &a.OpenCards, &a.AllCards, &a.OpenLists, &a.NextNumber,
		&s.workspaceRole, &s.role}
}

func (s *accessScan) result() *board.Access {
	a := s.access
	a.Features = board.FeaturesOf(s.features)
	a.ReadOnly = s.readOnly != 0
	a.Archived, a.Trashed = s.archived.Valid, s.trashed.Valid
	a.WorkspaceRole, a.BoardRole = board.WorkspaceRole(s.workspaceRole.String), board.Role(s.role.String)
	return &a
}

// authorized runs a loader's query (access columns first) and decides with
// the same row whether the caller may.
func (v *View) authorized(ctx context.Context, need board.Capability, text, id string, dest ...any) error {
	_, err := v.authorize(ctx, need, text, id, dest...)
	return err
}

// authorize is authorized that tells which board it was.
func (v *View) authorize(ctx context.Context, need board.Capability, text, id string, dest ...any) (boardID string, err error) {
	var s accessScan
	found, err := v.one(ctx, text, []any{id, v.caller.UserID}, append(s.dest(), dest...)...)
	if err != nil {
		return "", err
	}
	if !found {
		return "", board.NotFound()
	}
	a := s.result()
	if err := a.Allow(v.caller, need); err != nil {
		return "", err
	}
	v.remember(a)
	return a.BoardID, nil
}

// remember keeps the access of a board. What is known already stays: a Tx
// counts its own changes in it.
func (v *View) remember(a *board.Access) {
	for _, known := range v.seen {
		if known.BoardID == a.BoardID {
			return
		}
	}
	v.seen = append(v.seen, a)
}

// flag is a truth value as both databases hold it.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// optional is a text that may be null.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// word is a word of a fixed set as a column holds it; NULL for none.
func word[T ~string](w *T) any {
	if w == nil {
		return nil
	}
	return string(*w)
}
