package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// auditDetails is the JSON in the audit.details column. It does not repeat the changes
// in the board's activity, which are the last Events versions up to BoardVersion.
type auditDetails struct {
	BoardVersion int64         `json:"boardVersion,omitzero"`
	Events       int64         `json:"events,omitzero"`
	Changes      board.Changes `json:"changes,omitempty"`
}

// CallID returns the id of the audit entry that the operation will write. If it writes one for
// each workspace of an organization, it is the id of the first.
func (tx *Tx) CallID() string {
	if tx.callID == "" {
		tx.callID = tx.NewID("aud_")
	}
	return tx.callID
}

// Note sets the changes that the audit entry itself contains, in addition to the changes
// in the board's activity. If boardID is not empty, only people who can see the board
// can read these changes.
func (tx *Tx) Note(boardID string, changes board.Changes) {
	tx.noted, tx.notedBoard = changes, boardID
}

// Audit writes the audit entry of an operation. After OnOrganization, it writes an
// entry for each workspace of the organization.
func (tx *Tx) Audit(ctx context.Context, operation, subject string) error {
	workspaceID, boardID := tx.Scope()
	details := auditDetails{BoardVersion: tx.BoardVersion(), Changes: tx.noted}
	if details.BoardVersion != 0 {
		if n := len(tx.pending); n > 0 {
			boardID = tx.pending[n-1].access.BoardID // the board of BoardVersion
		}
		for _, p := range tx.pending[tx.audited:] {
			if p.access.BoardID == boardID {
				details.Events++
			}
		}
		details.Events += tx.drafted
		tx.audited, tx.drafted = len(tx.pending), 0
	}
	if tx.notedBoard != "" {
		boardID = tx.notedBoard
	}
	tx.Note("", nil) // a batch has further entries
	scopes := []string{workspaceID}
	var err error
	if tx.organization != "" {
		if scopes, err = tx.texts(ctx, "SELECT id FROM workspaces WHERE organization_id = $1 ORDER BY id", tx.organization); err != nil {
			return fmt.Errorf("find workspaces to audit: %w", err)
		}
		if len(scopes) == 0 {
			scopes = []string{""}
		}
	}
	return tx.auditIn(ctx, scopes, boardID, operation, subject, details)
}

// wrongPassword is the operation in the entries of wrong passwords.
const wrongPassword = "reject_password"

// AuditWrongPassword records an attempt to sign in to an account with a wrong password. It
// writes an entry for each of the person's workspaces, and one without a workspace, which
// WrongPasswords reads.
func (tx *Tx) AuditWrongPassword(ctx context.Context, userID, address string) error {
	workspaces, err := tx.texts(ctx, "SELECT workspace_id FROM workspace_members WHERE user_id = $1 ORDER BY workspace_id", userID)
	if err != nil {
		return err
	}
	return tx.auditIn(ctx, append([]string{""}, workspaces...), "", wrongPassword, userID,
		auditDetails{Changes: board.Changes{"address": {To: address}}})
}

// wrongPasswordAge is how far back WrongPasswords reads. It reads all entries of that time
// that belong to no workspace, because no index contains their subjects.
const wrongPasswordAge = 30 * 24 * time.Hour

// WrongPasswords returns a page of the attempts of the last 30 days to sign in to the
// caller's account with a wrong password, newest first. If before is not "", it returns only
// attempts older than the one with that id.
func (v *View) WrongPasswords(ctx context.Context, before string, limit int) ([]board.WrongPassword, error) {
	out := []board.WrongPassword{}
	since := v.now.Time().Add(-wrongPasswordAge)
	err := v.each(ctx, "SELECT id, at, details FROM audit WHERE workspace_id IS NULL AND subject = $1 AND operation = '"+wrongPassword+
		"' AND ($2 = '' OR id < $2) AND id >= $3 AND at >= $4 ORDER BY id DESC LIMIT $5",
		[]any{v.caller.UserID, before, minID("aud_", since), since.UnixMilli(), limit},
		func(rows *sql.Rows) error {
			var (
				w       board.WrongPassword
				text    []byte
				details auditDetails
			)
			if err := rows.Scan(&w.ID, &w.At, &text); err != nil {
				return err
			}
			if err := json.Unmarshal(text, &details); err != nil {
				return fmt.Errorf("decode details of %s: %w", w.ID, err)
			}
			w.Address, _ = details.Changes["address"].To.(string)
			out = append(out, w)
			return nil
		})
	return out, err
}

// auditIn writes an entry to the audit log of each workspace. An entry of the workspace ""
// belongs to none.
func (tx *Tx) auditIn(ctx context.Context, workspaces []string, boardID, operation, subject string, details auditDetails) error {
	text, err := json.Marshal(details, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode audit: %w", err)
	}
	c := tx.caller
	for _, workspaceID := range workspaces {
		if err := tx.exec(ctx, `INSERT INTO audit (id, at, workspace_id, board_id, operation, actor_type, actor_id, token_id, subject,
			request_id, details)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			tx.CallID(), int64(tx.now), null(workspaceID), null(boardID), operation, string(c.Actor.Type), c.Actor.ID,
			null(c.TokenID), null(subject), null(c.RequestID), string(text)); err != nil {
			return err
		}
		tx.callID = ""
	}
	return nil
}

// renamedOperations contains the current names of operations by those in entries that v0.2.0 wrote.
var renamedOperations = map[string]string{
	"switch_on_webhook": "enable_webhook", "switch_on_rule": "enable_rule", "switch_off_rule": "disable_rule",
	"send_delivery_again": "redeliver", "send_deliveries_again": "redeliver_many",
}

// AuditFilter selects entries of the audit log. An empty field matches all entries,
// except that Until is required.
type AuditFilter struct {
	Actor     string // a person's id or an actor type
	Operation string
	BoardID   string
	TokenID   string
	From      board.Instant // inclusive
	Until     board.Instant // exclusive
}

const auditSelect = `SELECT a.id, a.at, a.operation, a.actor_type, a.actor_id, u.name, a.token_id, t.name, a.board_id, b.name,
	b.visibility, bm.role,
	a.subject, COALESCE(su.name, sc.title, sl.name, CASE WHEN sh.name = '' THEN sh.host ELSE sh.name END), a.request_id, a.details
	FROM audit a LEFT JOIN users u ON u.id = a.actor_id LEFT JOIN tokens t ON t.id = a.token_id
	LEFT JOIN boards b ON b.id = a.board_id LEFT JOIN board_members bm ON bm.board_id = a.board_id AND bm.user_id = $2
	LEFT JOIN users su ON su.id = a.subject LEFT JOIN cards sc ON sc.id = a.subject AND sc.board_id = a.board_id
	LEFT JOIN lists sl ON sl.id = a.subject AND sl.board_id = a.board_id LEFT JOIN webhooks sh ON sh.id = a.subject
	WHERE a.workspace_id = $1 AND ($3 = '' OR a.id < $3) AND a.at >= $4 AND a.at < $5 AND a.id >= $11
	AND ($6 = '' OR a.actor_id = $6 OR a.actor_type = $6) AND ($7 = '' OR a.operation IN ($7, $12)) AND ($8 = '' OR a.board_id = $8)
	AND ($9 = '' OR a.token_id = $9)
	ORDER BY a.id DESC LIMIT $10`

// AuditEntries returns a page of the audit log of a loaded workspace, newest first. If
// before is not "", it returns only entries older than the entry with that id.
func (v *View) AuditEntries(ctx context.Context, w board.Workspace, f AuditFilter, before string, limit int) ([]board.AuditEntry, error) {
	out := []board.AuditEntry{}
	var spans []auditSpan
	args := []any{w.ID, v.caller.UserID, before, int64(f.From), int64(f.Until), f.Actor, f.Operation, f.BoardID, f.TokenID, limit,
		minID("aud_", f.From.Time()), f.Operation}
	for old, current := range renamedOperations {
		if f.Operation == current {
			args[11] = old
		}
	}
	err := v.each(ctx, auditSelect, args, func(rows *sql.Rows) error {
		e, details, visible, err := v.scanAudit(rows, w.Role)
		if err != nil {
			return err
		}
		if visible && details.Events > 0 {
			spans = append(spans, auditSpan{entry: len(out), boardID: *e.BoardID, after: details.BoardVersion - details.Events,
				to: details.BoardVersion})
		}
		out = append(out, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for batch := range slices.Chunk(spans, spanBatch) {
		if err := v.auditChanges(ctx, batch, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// scanAudit reads an entry and its details. If the caller cannot see the board of the
// entry, visible is false, and the entry contains neither changes nor the names of its
// board and its subject. Role is the caller's role in the workspace.
func (v *View) scanAudit(rows *sql.Rows, role board.WorkspaceRole) (e board.AuditEntry, d auditDetails, visible bool, err error) {
	var (
		visibility, onBoard sql.NullString
		text                []byte
	)
	if err = rows.Scan(&e.ID, &e.At, &e.Operation, &e.Actor.Type, &e.Actor.ID, &e.ActorName, &e.TokenID, &e.TokenName, &e.BoardID,
		&e.BoardName, &visibility, &onBoard,
		&e.Subject, &e.SubjectName, &e.RequestID, &text); err != nil {
		return e, d, false, err
	}
	e.Actor.Client = e.TokenName
	e.Operation = cmp.Or(renamedOperations[e.Operation], e.Operation)
	if err = json.Unmarshal(text, &d); err != nil {
		return e, d, false, fmt.Errorf("decode details of %s: %w", e.ID, err)
	}
	if d.Events > 0 {
		e.BoardVersion = &d.BoardVersion
	}
	visible = e.BoardID == nil || visibility.Valid && board.RoleOn(role, board.Role(onBoard.String),
		board.Visibility(visibility.String)).Can(board.View)
	e.Changes = board.Changes{}
	if visible {
		e.Changes.Join(d.Changes)
	} else {
		e.BoardName, e.SubjectName = nil, nil
	}
	return e, d, visible, nil
}

// auditSpan is the range of board versions that belong to an entry.
type auditSpan struct {
	entry     int // index of the entry
	boardID   string
	after, to int64 // the versions in (after, to]
}

// spanBatch is the maximum number of spans that one query reads.
const spanBatch = 100

// auditChanges adds the changes in the boards' activity to the entries. If an operation,
// such as a copy, changed several cards or lists, auditChanges adds only the changes to
// the first of them.
func (v *View) auditChanges(ctx context.Context, spans []auditSpan, entries []board.AuditEntry) error {
	var (
		where []string
		args  []any
	)
	for _, s := range spans {
		n := len(args)
		where = append(where, fmt.Sprintf("board_id = $%d AND version > $%d AND version <= $%d", n+1, n+2, n+3))
		args = append(args, s.boardID, s.after, s.to)
	}
	found, err := v.entries(ctx, "WHERE "+strings.Join(where, " OR ")+" ORDER BY board_id, version", args...)
	if err != nil {
		return err
	}
	for _, s := range spans {
		var first *board.Entry
		for i, change := range found {
			if change.BoardID != s.boardID || change.BoardVersion <= s.after || change.BoardVersion > s.to {
				continue
			}
			if first == nil {
				first = &found[i]
			}
			if equalStrings(change.CardID, first.CardID) && equalStrings(change.ListID, first.ListID) {
				entries[s.entry].Changes.Join(change.Changes)
			}
		}
	}
	return nil
}

// equalStrings reports whether two optional strings are equal.
func equalStrings(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
