package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
)

const organizationColumns = "o.id, o.name, o.plan, o.read_only, o.created_at"

func scanOrganization(rows *sql.Rows, more ...any) (board.Organization, error) {
	var (
		o        board.Organization
		readOnly int64
	)
	err := rows.Scan(append([]any{&o.ID, &o.Name, &o.Plan, &readOnly, &o.CreatedAt}, more...)...)
	o.ReadOnly = readOnly != 0
	return o, err
}

// Organization loads an organization and reports whether the caller owns one of its
// workspaces. It returns a not_found error if the caller is in none of them, and a
// forbidden error if the caller does not have the capability in any.
func (v *View) Organization(ctx context.Context, id string, need board.WorkspaceCapability) (o board.Organization, owned bool, err error) {
	var found, allowed bool
	err = v.each(ctx, "SELECT "+organizationColumns+`, m.role FROM organizations o JOIN workspaces w ON w.organization_id = o.id
		JOIN workspace_members m ON m.workspace_id = w.id AND m.user_id = $2 WHERE o.id = $1 AND ($3 = '' OR w.id = $3) ORDER BY w.id`,
		[]any{id, v.caller.UserID, v.caller.WorkspaceID}, func(rows *sql.Rows) (err error) {
			var role board.WorkspaceRole
			o, err = scanOrganization(rows, &role)
			found, allowed, owned = true, allowed || role.Can(need), owned || role.Can(board.OwnWorkspace)
			return err
		})
	switch {
	case err != nil:
		return o, false, err
	case !found:
		return board.Organization{}, false, board.NotFound()
	case !allowed:
		return board.Organization{}, false, board.Forbidden("Your role in the workspaces of this organization does not allow this.")
	}
	return o, owned, nil
}

// OrganizationWorkspaces returns the workspaces of an organization that are not in the
// trash, ordered by id: all of them, or only the workspaces of which the caller is a
// member. The organization must already be loaded.
func (v *View) OrganizationWorkspaces(ctx context.Context, id string, all bool) ([]board.OrganizationWorkspace, error) {
	out := []board.OrganizationWorkspace{}
	err := v.each(ctx, `SELECT w.id, w.name, m.role, (SELECT count(*) FROM workspace_members n WHERE n.workspace_id = w.id)
		FROM workspaces w LEFT JOIN workspace_members m ON m.workspace_id = w.id AND m.user_id = $2
		WHERE w.organization_id = $1 AND w.trashed_at IS NULL AND ($3 = 1 OR m.role IS NOT NULL) ORDER BY w.id`,
		[]any{id, v.caller.UserID, flag(all)}, func(rows *sql.Rows) error {
			var w board.OrganizationWorkspace
			err := rows.Scan(&w.ID, &w.Name, &w.Role, &w.Members)
			out = append(out, w)
			return err
		})
	return out, err
}

// OrganizationMembers returns a page of the people in the workspaces of an organization,
// ordered by id, starting after the given id. It sets email addresses only for people in a
// workspace that the caller manages. The organization must already be loaded.
func (v *View) OrganizationMembers(ctx context.Context, id, after string, limit int) ([]board.OrganizationMember, error) {
	out := []board.OrganizationMember{}
	if err := v.each(ctx, `SELECT DISTINCT u.id, u.name, u.email FROM workspaces w
		JOIN workspace_members m ON m.workspace_id = w.id JOIN users u ON u.id = m.user_id
		WHERE w.organization_id = $1 AND u.id > $2 AND u.deleted_at IS NULL ORDER BY u.id LIMIT $3`, []any{id, after, limit},
		func(rows *sql.Rows) error {
			m := board.OrganizationMember{Workspaces: []board.Membership{}}
			err := rows.Scan(&m.ID, &m.Name, &m.Email)
			out = append(out, m)
			return err
		}); err != nil || len(out) == 0 {
		return out, err
	}
	managed := map[string]bool{}
	err := v.each(ctx, `SELECT m.user_id, w.id, w.name, m.role, mine.role FROM workspaces w JOIN workspace_members m ON m.workspace_id = w.id
		LEFT JOIN workspace_members mine ON mine.workspace_id = w.id AND mine.user_id = $2
		WHERE w.organization_id = $1 AND m.user_id >= $3 AND m.user_id <= $4 ORDER BY w.id, m.user_id`,
		[]any{id, v.caller.UserID, out[0].ID, out[len(out)-1].ID}, func(rows *sql.Rows) error {
			var (
				userID string
				w      board.Membership
				mine   sql.NullString
			)
			if err := rows.Scan(&userID, &w.ID, &w.Name, &w.Role, &mine); err != nil {
				return err
			}
			managed[userID] = managed[userID] || board.WorkspaceRole(mine.String).Can(board.ManageMembers)
			if i := slices.IndexFunc(out, func(m board.OrganizationMember) bool { return m.ID == userID }); i >= 0 {
				out[i].Workspaces = append(out[i].Workspaces, w)
			}
			return nil
		})
	for i := range out {
		if !managed[out[i].ID] {
			out[i].Email = nil
		}
	}
	return out, err
}

// OrganizationUsage returns the number of an organization's webhooks, and the number of
// its deliveries today (UTC). The organization must already be loaded.
func (v *View) OrganizationUsage(ctx context.Context, id string) (webhooks, deliveries int, err error) {
	if webhooks, err = v.count(ctx, "SELECT count(*) FROM webhooks WHERE organization_id = $1", id); err != nil {
		return 0, 0, err
	}
	deliveries, err = v.count(ctx, "SELECT used FROM delivery_days WHERE organization_id = $1 AND day = $2", id,
		v.Time().Format(board.DateLayout))
	return webhooks, deliveries, err
}

// isOperator reports whether the verified email address of an account is listed in
// Options.Operators.
func (v *View) isOperator(p board.Profile) bool {
	return p.Verified && slices.Contains(v.db.opts.Operators, p.Email)
}

// Operator returns a not_found error unless the caller is an operator of this server or
// board.System.
func (v *View) Operator(ctx context.Context) error {
	if v.caller.System {
		return nil
	}
	p, err := v.Profile(ctx)
	if err == nil && !p.Operator {
		err = board.NotFound()
	}
	return err
}

// OrganizationFilter selects organizations. An empty field matches all organizations.
type OrganizationFilter struct {
	Text     string // part of the name, the id, or an owner's name or email address; ignores case
	Plan     board.Plan
	ReadOnly *bool

	id string
}

// organizationBatch is the number of organizations that each query of a text search
// reads.
const organizationBatch = 500

// Organizations returns a page of the server's organizations, newest first. If before is
// not "", it returns only organizations older than the organization with that id. It
// returns a not_found error unless the caller is an operator. Go code compares the names,
// because neither database can fold case as query.Fold does.
func (v *View) Organizations(ctx context.Context, f OrganizationFilter, before string, limit int) ([]board.OperatedOrganization, error) {
	out := []board.OperatedOrganization{}
	if err := v.Operator(ctx); err != nil {
		return out, err
	}
	text, size := query.Fold(strings.TrimSpace(f.Text)), limit
	if text != "" {
		size = organizationBatch
	}
	for {
		batch, err := v.organizations(ctx, f, before, size)
		if err != nil {
			return nil, err
		}
		for _, o := range batch {
			if len(out) < limit && o.matches(text) {
				out = append(out, o.OperatedOrganization)
			}
		}
		if len(out) == limit || len(batch) < size {
			return out, v.countOrganizations(ctx, out)
		}
		before = batch[size-1].ID
	}
}

// foundOrganization is an organization with the strings that a search matches.
type foundOrganization struct {
	board.OperatedOrganization
	searched []string // the id and the name, and the names and email addresses of all owners
}

// matches reports whether text is part of one of the searched strings. Text must be folded
// by query.Fold.
func (o foundOrganization) matches(text string) bool {
	return text == "" || slices.ContainsFunc(o.searched, func(s string) bool { return strings.Contains(query.Fold(s), text) })
}

// organizations returns at most limit organizations with their owners. It does not
// apply the filter's text.
func (v *View) organizations(ctx context.Context, f OrganizationFilter, before string, limit int) ([]foundOrganization, error) {
	readOnly := int64(-1)
	if f.ReadOnly != nil {
		readOnly = flag(*f.ReadOnly)
	}
	var out []foundOrganization
	at := map[string]int{}
	if err := v.each(ctx, "SELECT "+organizationColumns+` FROM organizations o
		WHERE ($1 = '' OR o.id < $1) AND ($2 = '' OR o.plan = $2) AND ($3 = -1 OR o.read_only = $3) AND ($4 = '' OR o.id = $4)
		ORDER BY o.id DESC LIMIT $5`,
		[]any{before, string(f.Plan), readOnly, f.id, limit}, func(rows *sql.Rows) error {
			o, err := scanOrganization(rows)
			at[o.ID] = len(out)
			out = append(out, foundOrganization{board.OperatedOrganization{Organization: o, Owners: []board.OrganizationOwner{}},
				[]string{o.ID, o.Name}})
			return err
		}); err != nil || len(out) == 0 {
		return out, err
	}
	err := v.each(ctx, `SELECT DISTINCT w.organization_id, u.id, u.name, COALESCE(u.email, '') FROM workspaces w
		JOIN workspace_members m ON m.workspace_id = w.id AND m.role = 'owner' JOIN users u ON u.id = m.user_id
		WHERE w.organization_id >= $1 AND w.organization_id <= $2 ORDER BY w.organization_id, u.id`,
		[]any{out[len(out)-1].ID, out[0].ID}, func(rows *sql.Rows) error {
			var (
				id    string
				owner board.OrganizationOwner
			)
			if err := rows.Scan(&id, &owner.ID, &owner.Name, &owner.Email); err != nil {
				return err
			}
			i, ok := at[id]
			if !ok {
				return nil // the filter does not select this organization
			}
			if o := &out[i]; len(o.Owners) < board.OwnersShown {
				o.Owners = append(o.Owners, owner)
			}
			out[i].searched = append(out[i].searched, owner.Name, owner.Email)
			return nil
		})
	return out, err
}

// countOrganizations sets each organization's numbers of workspaces, members, webhooks
// and deliveries today (UTC).
func (v *View) countOrganizations(ctx context.Context, all []board.OperatedOrganization) error {
	if len(all) == 0 {
		return nil
	}
	var a sqldb.Args
	day := a.Add(v.Time().Format(board.DateLayout))
	ids, at := make([]string, len(all)), map[string]int{}
	for i, o := range all {
		ids[i], at[o.ID] = o.ID, i
	}
	return v.each(ctx, `SELECT o.id, (SELECT count(*) FROM workspaces w WHERE w.organization_id = o.id AND w.trashed_at IS NULL),
		(SELECT count(DISTINCT m.user_id) FROM workspaces w JOIN workspace_members m ON m.workspace_id = w.id WHERE w.organization_id = o.id),
		(SELECT count(*) FROM webhooks h WHERE h.organization_id = o.id),
		COALESCE((SELECT d.used FROM delivery_days d WHERE d.organization_id = o.id AND d.day = `+day+`), 0)
		FROM organizations o WHERE o.id IN (`+a.In(ids)+")", a, func(rows *sql.Rows) error {
		var (
			id string
			o  board.OperatedOrganization
		)
		err := rows.Scan(&id, &o.Workspaces, &o.Members, &o.Webhooks, &o.Deliveries)
		to := &all[at[id]]
		to.Workspaces, to.Members, to.Webhooks, to.Deliveries = o.Workspaces, o.Members, o.Webhooks, o.Deliveries
		return err
	})
}

// OnOrganization locks an organization and loads it for a change by an operator. The
// change is recorded in the audit log of each of its workspaces.
func (tx *Tx) OnOrganization(ctx context.Context, id string) (board.OperatedOrganization, error) {
	var o board.OperatedOrganization
	if err := tx.Operator(ctx); err != nil {
		return o, err
	}
	if tx.db.dialect().RowLocks {
		if _, err := tx.texts(ctx, organizationLock, id); err != nil {
			return o, err
		}
	}
	o, err := tx.operated(ctx, id)
	if err == nil {
		tx.organization = id
	}
	return o, err
}

// operated returns one organization as operators see it.
func (v *View) operated(ctx context.Context, id string) (board.OperatedOrganization, error) {
	found, err := v.organizations(ctx, OrganizationFilter{id: id}, "", 1)
	if err != nil {
		return board.OperatedOrganization{}, err
	}
	if len(found) == 0 {
		return board.OperatedOrganization{}, board.NotFound()
	}
	out := []board.OperatedOrganization{found[0].OperatedOrganization}
	err = v.countOrganizations(ctx, out)
	return out[0], err
}

// InsertOrganization writes a new organization.
func (tx *Tx) InsertOrganization(ctx context.Context, o board.Organization) error {
	return tx.exec(ctx, "INSERT INTO organizations (id, name, plan, read_only, created_at) VALUES ($1, $2, $3, $4, $5)",
		o.ID, o.Name, string(o.Plan), flag(o.ReadOnly), int64(tx.now))
}

// UpdateOrganization changes the plan of an organization and whether it is read-only. A
// nil argument keeps the stored value. UpdateOrganization returns a not_found error if
// there is no such organization.
func (tx *Tx) UpdateOrganization(ctx context.Context, id string, plan *board.Plan, readOnly *bool) error {
	n, err := tx.affected(ctx, "UPDATE organizations SET plan = COALESCE($1, plan), read_only = COALESCE($2, read_only) "+
		"WHERE id = $3", null(plan), null(readOnly), id)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	return err
}
