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
	seen   []*board.Access // access to the boards loaded so far
	writes bool            // the view belongs to a write transaction

	version sqldb.DataVersion // state of the data before the transaction began, for ReadCached; otherwise zero
	probe   bool              // there is no transaction (see sqldb.Engine.Probe)

	queries        int     // number of queries so far
	edition        Edition // the first result of Edition
	editionQueries int     // number of queries before it

	span       *trace.Span // span of the transaction; nil if it is not traced
	statements int         // number of statements traced so far
}

// Caller returns the caller that the view acts for.
func (v *View) Caller() board.Caller { return v.caller }

// Now returns the time of this view or transaction.
func (v *View) Now() board.Instant { return v.now }

// Time returns Now as a time.Time in UTC.
func (v *View) Time() time.Time { return v.now.Time() }

// NewID returns a new identifier with the prefix of its kind.
func (v *View) NewID(prefix string) string { return v.db.opts.NewID(prefix) }

// Limits returns the limits that apply to every board of this server.
func (v *View) Limits() board.Limits { return v.db.opts.Limits }

// DefaultPlan returns the plan of a new organization.
func (v *View) DefaultPlan() board.Plan { return cmp.Or(v.db.opts.Plan, board.DefaultPlan) }

// On returns the caller's access to a board from which a loader of this view has
// loaded a record. It panics for any other board.
func (v *View) On(boardID string) *board.Access {
	for _, a := range v.seen {
		if a.BoardID == boardID {
			return a
		}
	}
	panic("store: On: nothing was loaded from board " + boardID)
}

// each runs a query and calls scan for every row. It closes the rows before it
// returns, so that the next query can run.
func (v *View) each(ctx context.Context, text string, args []any, scan func(*sql.Rows) error) error {
	defer v.statement(text).End()
	v.queries++
	return sqldb.Each(ctx, v.run, text, args, scan)
}

// one scans the first row of a query into dest and reports whether there was one.
func (v *View) one(ctx context.Context, text string, args []any, dest ...any) (found bool, err error) {
	defer v.statement(text).End()
	v.queries++
	return sqldb.One(ctx, v.run, text, args, dest...)
}

// count returns the number that a query selects.
func (v *View) count(ctx context.Context, text string, args ...any) (n int, err error) {
	_, err = v.one(ctx, text, args, &n)
	return n, err
}

// The columns and joins with the caller's permissions on a board. Each loader of a record
// on a board selects them together with the record. $1 is the record's id, and $2 the
// caller's user id.
const (
	accessColumns = `b.id, b.workspace_id, w.organization_id, b.visibility, b.features, o.read_only,
		b.archived_at, b.trashed_at, b.version, b.open_cards, b.done_cards, b.all_cards, b.open_lists, b.next_number,
		wm.role, bm.role, ` + namesVersion
	accessJoins = ` JOIN workspaces w ON w.id = b.workspace_id
		JOIN organizations o ON o.id = w.organization_id
		LEFT JOIN workspace_members wm ON wm.workspace_id = b.workspace_id AND wm.user_id = $2
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = $2 `
)

// hiddenAt is the value of trashed_at for a board that a job is writing or that is being
// deleted. Such a board does not appear in the trash.
const hiddenAt = 0

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
		&s.archived, &s.trashed, &a.Version, &a.OpenCards, &a.DoneCards, &a.AllCards, &a.OpenLists, &a.NextNumber,
		&s.workspaceRole, &s.role, &a.NamesVersion}
}

func (s *accessScan) result() *board.Access {
	a := s.access
	a.Features = board.FeaturesOf(s.features)
	a.ReadOnly = s.readOnly != 0
	a.Archived, a.Trashed = s.archived.Valid, s.trashed.Valid
	a.Hidden = a.Trashed && s.trashed.Int64 == hiddenAt
	a.WorkspaceRole, a.BoardRole = board.WorkspaceRole(s.workspaceRole.String), board.Role(s.role.String)
	return &a
}

// authorized runs a loader's query, which selects the access columns first, and checks the
// caller's permissions with the same row.
func (v *View) authorized(ctx context.Context, need board.Capability, text, id string, dest ...any) error {
	_, err := v.authorize(ctx, need, text, id, dest...)
	return err
}

// authorize is like authorized, but also returns the id of the board.
func (v *View) authorize(ctx context.Context, need board.Capability, text, id string, dest ...any) (boardID string, err error) {
	a, err := v.access(ctx, text, id, dest...)
	if err != nil {
		return "", err
	}
	if err := a.Allow(v.caller, need); err != nil {
		return "", err
	}
	v.remember(a)
	return a.BoardID, nil
}

// access returns the caller's access to the board of a record.
func (v *View) access(ctx context.Context, text, id string, dest ...any) (*board.Access, error) {
	key := accessKey{text, id, v.caller.UserID}
	if len(dest) == 0 {
		if a, ok := v.cachedAccess(key); ok {
			return &a, nil
		}
	}
	var s accessScan
	found, err := v.one(ctx, text, []any{id, v.caller.UserID}, append(s.dest(), dest...)...)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, board.NotFound()
	}
	a := s.result()
	if len(dest) == 0 {
		v.cacheAccess(key, *a)
	}
	return a, nil
}

// remember stores the access to a board. It keeps an access that is already stored,
// because a Tx updates the counts in it.
func (v *View) remember(a *board.Access) {
	for _, known := range v.seen {
		if known.BoardID == a.BoardID {
			return
		}
	}
	v.seen = append(v.seen, a)
}
