package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// A Draft collects the records of new boards for an import or a copy. The records keep
// their own times, numbers, states and versions. They trigger no webhooks, notifications
// or rules. One transaction writes a small draft. A job writes a larger draft in parts,
// each small enough for a short transaction.
type Draft struct {
	v         *View
	tx        *Tx // writes the rows; nil for the draft of a job
	limit     int // maximum size in bytes; 0 for none
	workspace board.Workspace
	writePart func(Part) error
	rows      rows
	size      int // approximate size of the rows in bytes
	records   int
	events    int64
	sizes     map[string]growth // storage by board id
	boards    map[string]*board.Access
	members   map[[2]string]bool // board members, as pairs of board id and user id
	people    map[string]string  // placeholders by source id and name
	err       error              // the first error; every later call returns it
}

// Part is a batch of a draft's rows.
type Part struct {
	Body    []byte // JSON
	Records int    // number of records
}

// The approximate maximum size of a part, in bytes and in records. A transaction that
// writes a part takes a few milliseconds.
const (
	partSize    = 96 << 10
	partRecords = 100
)

// NewDraft returns a draft of boards in a loaded workspace. The draft calls writePart with
// each part, in the order in which WriteJobPart must write the parts. The boards are
// hidden until FinishJob.
func (v *View) NewDraft(in board.Workspace, writePart func(Part) error) *Draft {
	return &Draft{v: v, workspace: in, writePart: writePart, sizes: map[string]growth{}, boards: map[string]*board.Access{},
		members: map[[2]string]bool{}, people: map[string]string{}}
}

// NewDraft returns a draft that the transaction writes itself. The boards become visible
// when the transaction commits. After Flush, they count as loaded.
func (tx *Tx) NewDraft(in board.Workspace) *Draft {
	d := tx.View.NewDraft(in, nil)
	d.tx = tx
	return d
}

// smallDraft is the maximum size in bytes of a draft that is written by one transaction.
// Other writes must wait for that transaction.
const smallDraft = 256 << 10

// ErrLargeDraft means that a draft is too large for one transaction. None of it was
// written. A job must write it instead.
var ErrLargeDraft = errors.New("the draft is too large for one transaction")

// NewSmallDraft is NewDraft with a maximum size of smallDraft. The methods of a larger
// draft return ErrLargeDraft.
func (tx *Tx) NewSmallDraft(in board.Workspace) *Draft {
	d := tx.NewDraft(in)
	d.limit = smallDraft
	return d
}

// View returns the view that the draft reads from.
func (d *Draft) View() *View { return d.v }

// Workspace returns the workspace of the boards.
func (d *Draft) Workspace() board.Workspace { return d.workspace }

// On returns the caller's access to a board of the draft, which includes the board's
// counts.
func (d *Draft) On(boardID string) *board.Access { return d.boards[boardID] }

// NewID returns a new identifier with the prefix of its kind.
func (d *Draft) NewID(prefix string) string { return d.v.NewID(prefix) }

// add counts a record of the given size in bytes, and flushes the collected rows once
// they fill a part. It does not flush a draft with a limit, but returns ErrLargeDraft
// once the rows exceed the limit.
func (d *Draft) add(ctx context.Context, size int) error {
	d.records++
	d.size += size + 200
	switch {
	case d.limit > 0:
		if d.size > d.limit && d.err == nil {
			d.err = ErrLargeDraft
		}
		return d.err
	case d.size < partSize && d.records < partRecords:
		return d.err
	}
	return d.Flush(ctx)
}

// Flush writes the rows collected so far. The caller must call it after the last record.
func (d *Draft) Flush(ctx context.Context) error {
	if d.err != nil || d.size == 0 {
		return d.err
	}
	if d.tx != nil {
		d.err = d.tx.writeRows(ctx, &d.rows)
		for _, a := range d.boards {
			d.tx.remember(a)
		}
		d.tx.drafted += d.events
		d.events = 0
	} else {
		var body []byte
		if body, d.err = json.Marshal(&d.rows); d.err == nil {
			d.err = d.writePart(Part{Body: body, Records: d.records})
		}
	}
	d.rows, d.size, d.records = rows{}, 0, 0
	return d.err
}

// Board adds a board. The caller becomes its admin. If the caller is not a person and the
// board is not visible to the workspace, the owners of the workspace become the board's
// admins.
func (d *Draft) Board(ctx context.Context, b *board.Board) error {
	return d.ReducedBoard(ctx, b, 0)
}

// ReducedBoard is Board for a board whose activity may have gaps up to the version
// reducedTo.
func (d *Draft) ReducedBoard(ctx context.Context, b *board.Board, reducedTo int64) error {
	a := &board.Access{
		BoardID: b.ID, WorkspaceID: d.workspace.ID, OrganizationID: d.workspace.OrganizationID, Visibility: b.Visibility,
		Features: b.Features, WorkspaceRole: d.workspace.Role, BoardRole: board.RoleAdmin, ReadOnly: d.workspace.ReadOnly,
		Archived: b.ArchivedAt != nil, Version: b.Version, NextNumber: 1,
	}
	d.boards[b.ID] = a
	b.WorkspaceID, b.Role, b.URL = d.workspace.ID, board.RoleAdmin, d.v.Link("/boards/"+b.ID)
	var trashed any
	if d.tx == nil {
		trashed = int64(hiddenAt)
	}
	d.rows.Boards = append(d.rows.Boards, []any{b.ID, d.workspace.ID, b.Name, b.Description, null(b.Color), string(b.Visibility),
		b.Features.Bits(), b.Version, null(b.ArchivedAt), trashed, b.CreatedBy, int64(b.CreatedAt), int64(b.UpdatedAt),
		int64(d.v.now), reducedTo})
	d.grow(b.ID, sizeOf(b.Name, b.Description), 0)
	if err := d.add(ctx, len(b.Description)); err != nil {
		return err
	}
	if id := d.v.caller.UserID; id != "" {
		return d.Member(ctx, b.ID, id, board.RoleAdmin)
	}
	if b.Visibility == board.VisibleToWorkspace {
		return nil
	}
	owners, err := d.v.texts(ctx, "SELECT user_id FROM workspace_members WHERE workspace_id = $1 AND role = 'owner' ORDER BY user_id",
		d.workspace.ID)
	for _, id := range owners {
		if err := d.Member(ctx, b.ID, id, board.RoleAdmin); err != nil {
			return err
		}
	}
	return err
}

// Background adds the picture behind the lists of a board of the draft.
func (d *Draft) Background(ctx context.Context, boardID string, p board.Picture) error {
	d.rows.Backgrounds = append(d.rows.Backgrounds, backgroundRow{boardID, p.MediaType, p.Content})
	return d.add(ctx, len(p.Content))
}

// EndBoard writes the counts of a board after its last record. The numbers of later
// cards start at nextNumber or after the highest number on the board, whichever is
// higher.
func (d *Draft) EndBoard(ctx context.Context, boardID string, nextNumber int) error {
	a := d.boards[boardID]
	a.NextNumber = max(a.NextNumber, nextNumber)
	size := d.sizes[boardID]
	if d.tx != nil { // Tx.flush writes the storage
		d.tx.grow(boardID, size.text, size.activity)
		size = growth{}
	}
	d.rows.Ends = append(d.rows.Ends, []any{a.Version, a.OpenCards, a.AllCards, a.OpenLists, a.NextNumber, size.text, size.activity, boardID})
	return d.add(ctx, 0)
}

// grow adds to the storage of a board, in bytes.
func (d *Draft) grow(boardID string, text, activity int64) {
	g := d.sizes[boardID]
	d.sizes[boardID] = growth{g.text + text, g.activity + activity}
}

// Bytes returns the storage that the boards of the draft use.
func (d *Draft) Bytes() board.Bytes {
	var n int64
	for _, g := range d.sizes {
		n += g.text + g.activity
	}
	return board.Bytes(n)
}

// Member adds a person's role on a board of the draft, unless the person already has one.
func (d *Draft) Member(ctx context.Context, boardID, userID string, role board.Role) error {
	if d.members[[2]string{boardID, userID}] {
		return d.err
	}
	d.members[[2]string{boardID, userID}] = true
	d.rows.BoardMembers = append(d.rows.BoardMembers, []any{boardID, userID, string(role), int64(d.v.now)})
	return d.add(ctx, 0)
}

// Label adds a label.
func (d *Draft) Label(ctx context.Context, l *board.Label) error {
	d.rows.Labels = append(d.rows.Labels, []any{l.ID, l.BoardID, l.Name, string(l.Color), int64(l.CreatedAt), int64(l.UpdatedAt)})
	d.grow(l.BoardID, sizeOf(l.Name), 0)
	return d.add(ctx, len(l.Name))
}

// List adds a list at its rank.
func (d *Draft) List(ctx context.Context, l *board.List) error {
	if l.ArchivedAt == nil {
		d.boards[l.BoardID].OpenLists++
	}
	d.rows.Lists = append(d.rows.Lists, []any{l.ID, l.BoardID, l.Name, l.Rank, l.WIPLimit, string(l.WIPMode), null(l.ArchivedAt),
		int64(l.CreatedAt), int64(l.UpdatedAt)})
	d.grow(l.BoardID, sizeOf(l.Name), 0)
	return d.add(ctx, len(l.Name))
}

// Card adds a card with its checklists and comments, at its rank and with its
// number. ArchivedAt is when the card itself was archived, ListArchivedAt when
// its list was.
func (d *Draft) Card(ctx context.Context, c *WholeCard) error {
	a := d.boards[c.BoardID]
	a.NextNumber = max(a.NextNumber, c.Number+1)
	a.AllCards++
	if c.ArchivedAt == nil && c.ListArchivedAt == nil {
		a.CountOpen(c.Card, 1)
	}
	before := len(d.rows.Texts)
	if err := d.rows.card(c); err != nil {
		return err
	}
	d.grow(c.BoardID, c.bytes(), 0)
	size := len(*c.Description) + 100*(len(c.Labels)+len(c.Assignees))
	for _, m := range c.CommentList {
		size += len(m.Text)
	}
	for _, t := range d.rows.Texts[before:] {
		size += len(t[3].(string)) + 200
	}
	return d.add(ctx, size)
}

// StatusUpdate adds a status update.
func (d *Draft) StatusUpdate(ctx context.Context, s *board.StatusUpdate) error {
	if err := d.rows.statusUpdate(s); err != nil {
		return err
	}
	d.grow(s.BoardID, sizeOf(s.Title, s.Text), 0)
	return d.add(ctx, len(s.Text))
}

// SavedFilter adds a saved filter.
func (d *Draft) SavedFilter(ctx context.Context, f *board.SavedFilter) error {
	d.rows.SavedFilters = append(d.rows.SavedFilters, []any{f.ID, f.WorkspaceID, f.Owner.ID, f.Name, f.Query, flag(f.Shared),
		int64(f.CreatedAt), int64(f.UpdatedAt)})
	return d.add(ctx, len(f.Query))
}

// Entry adds an entry to a board's activity. The card that the entry refers to must be
// added first.
func (d *Draft) Entry(ctx context.Context, e *board.Entry) error {
	changes, err := json.Marshal(e.Changes, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode changes: %w", err)
	}
	d.rows.Activity = append(d.rows.Activity, []any{e.BoardID, e.BoardVersion, e.ID, string(e.Type), int64(e.At), string(e.Actor.Type),
		e.Actor.ID, e.ListID, e.CardID, string(changes), nil, nil, e.Actor.Client})
	if e.Type == board.KindCardMoved && e.CardID != nil {
		d.rows.Moves = append(d.rows.Moves, []any{int64(e.At), *e.CardID})
	}
	d.grow(e.BoardID, 0, sizeOf(string(changes)))
	return d.add(ctx, len(changes))
}

// Emit adds the activity entry of a change that the draft itself makes to a
// board. The change gets the board's next version.
func (d *Draft) Emit(ctx context.Context, boardID string, e board.Event) error {
	changes, err := json.Marshal(e.Changes, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode changes: %w", err)
	}
	a, actor := d.boards[boardID], d.v.caller.Actor
	a.Version++
	d.events++
	d.rows.Activity = append(d.rows.Activity, []any{boardID, a.Version, d.NewID("act_"), string(e.Kind), int64(d.v.now), string(actor.Type),
		actor.ID, null(e.ListID), null(e.CardID), string(changes), null(d.v.caller.Client), quietCause, null(d.v.caller.TokenName)})
	d.grow(boardID, 0, sizeOf(string(changes)))
	return d.add(ctx, len(changes))
}

// PeopleWithAccess reports which of the given people can see a board of the draft if the
// caller is its only member.
func (d *Draft) PeopleWithAccess(ctx context.Context, boardID string, ids []string) (map[string]bool, error) {
	access := map[string]bool{}
	err := sqldb.InChunks(ids, func(in string, args []any) error {
		text := fmt.Sprintf(`SELECT u.id, wm.role FROM users u JOIN workspace_members wm ON wm.user_id = u.id AND wm.workspace_id = $%d
			WHERE u.id IN (%s) AND u.deleted_at IS NULL`, len(args)+1, in)
		return d.v.each(ctx, text, append(args, d.workspace.ID), func(rows *sql.Rows) error {
			var (
				id          string
				inWorkspace board.WorkspaceRole
			)
			if err := rows.Scan(&id, &inWorkspace); err != nil {
				return err
			}
			given := board.RoleNone
			if id == d.v.caller.UserID {
				given = board.RoleAdmin
			}
			access[id] = board.RoleOn(inWorkspace, given, d.boards[boardID].Visibility) != board.RoleNone
			return nil
		})
	})
	return access, err
}

// Placeholder returns the id of the account that represents a person of another
// installation by name. It adds the account if there is none. A placeholder has no email
// address, no password and no memberships, so nobody can sign in with it. The same source
// id and name give the same placeholder in a workspace, unless it has become a person's
// account. If the source id is the id of a placeholder of this installation with the same
// name, Placeholder returns that id.
func (d *Draft) Placeholder(ctx context.Context, sourceID, name string) (string, error) {
	key := sourceID + "\x00" + name
	if id, ok := d.people[key]; ok {
		return id, d.err
	}
	sum := sha256.Sum256([]byte(d.workspace.ID + "\x00" + key))
	derived := "usr_" + base32.NewEncoding(crockford).WithPadding(base32.NoPadding).EncodeToString(sum[:16])
	for _, id := range []string{sourceID, derived} {
		n, err := d.v.count(ctx, `SELECT count(*) FROM users u WHERE u.id = $1 AND u.name = $2 AND u.email IS NULL AND u.password_hash IS NULL
			AND u.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM workspace_members m WHERE m.user_id = u.id)
			AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.user_id = u.id)`, id, name)
		if err != nil {
			return "", err
		}
		if n > 0 {
			d.people[key] = id
			return id, nil
		}
	}
	id := derived
	if n, err := d.v.count(ctx, "SELECT count(*) FROM users WHERE id = $1", derived); err != nil {
		return "", err
	} else if n > 0 { // the placeholder has become a person's account
		id = d.NewID("usr_")
	}
	d.people[key] = id
	d.rows.Users = append(d.rows.Users, []any{id, name, int64(d.v.now)})
	return id, d.add(ctx, len(name))
}
