package store

import (
	"context"
	"database/sql"
	"strings"

	"cardwall/internal/board"
)

const (
	webhookSelect = `SELECT h.id, h.name, h.workspace_id, h.board_id, h.events, h.off, h.off_at, h.failures, h.held_since,
		h.held_until, h.host, h.last_four, h.platform,
		h.owner_id, h.old_secret_until, h.created_at, h.updated_at, h.organization_id, b.visibility, b.trashed_at, o.read_only, wm.role, bm.role
		FROM webhooks h JOIN organizations o ON o.id = h.organization_id LEFT JOIN boards b ON b.id = h.board_id
		LEFT JOIN workspace_members wm ON wm.workspace_id = h.workspace_id AND wm.user_id = $2
		LEFT JOIN board_members bm ON bm.board_id = h.board_id AND bm.user_id = $2 `
	webhookLock      = "SELECT h.id FROM webhooks h WHERE h.id = $1 FOR NO KEY UPDATE OF h"
	organizationLock = "SELECT o.id FROM organizations o WHERE o.id = $1 FOR NO KEY UPDATE OF o"
)

// webhookRow is a webhook with the caller's roles.
type webhookRow struct {
	board.Webhook
	organization string
	visibility   board.Visibility
	trashed      bool
	readOnly     bool
	inWorkspace  board.WorkspaceRole
	onBoard      board.Role
}

func (v *View) scanWebhook(rows *sql.Rows) (w webhookRow, err error) {
	var (
		events, off, platform   string
		visibility, member, own sql.NullString
		trashed, until, held    sql.NullInt64
		readOnly                int64
	)
	err = rows.Scan(&w.ID, &w.Name, &w.WorkspaceID, &w.BoardID, &events, &off, &w.OffAt, &w.Failures, &w.HeldSince, &held, &w.Host,
		&w.LastFour, &platform,
		&w.OwnerID, &until, &w.CreatedAt, &w.UpdatedAt, &w.organization, &visibility, &trashed, &readOnly, &member, &own)
	w.Events = kindsOf(events)
	if off == "" && trashed.Valid { // the webhook works again after a restore
		off, w.OffAt = string(board.OffTrash), new(board.Instant(trashed.Int64))
	}
	if w.On = off == ""; !w.On {
		w.OffReason = new(board.Off(off))
	}
	if w.HeldSince != nil && held.Valid && board.Instant(held.Int64) > v.now {
		w.HeldUntil = new(board.Instant(held.Int64))
	}
	if platform != "" {
		w.Platform = new(board.Platform(platform))
	}
	if until.Valid && board.Instant(until.Int64) > v.now {
		w.OldSecretUntil = new(board.Instant(until.Int64))
	}
	w.visibility, w.trashed, w.readOnly = board.Visibility(visibility.String), trashed.Valid, readOnly != 0
	w.inWorkspace, w.onBoard = board.WorkspaceRole(member.String), board.Role(own.String)
	return w, err
}

// kindsOf splits a column with event kinds.
func kindsOf(column string) []board.Kind {
	out := []board.Kind{}
	for _, kind := range strings.Fields(column) {
		out = append(out, board.Kind(kind))
	}
	return out
}

// joined returns a list as one column value, separated by spaces.
func joined[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return strings.Join(out, " ")
}

// allowManage returns an error unless the caller may manage a webhook. Owners and
// admins of a workspace manage those that cover it, admins of a board its own.
func (v *View) allowManage(w *webhookRow) error {
	c := v.caller
	switch {
	case c.System:
		return nil
	case w.inWorkspace == "" || c.WorkspaceID != "" && c.WorkspaceID != w.WorkspaceID,
		w.BoardID != nil && !board.RoleOn(w.inWorkspace, w.onBoard, w.visibility).Can(board.View):
		return board.NotFound()
	case board.Covers(w.BoardID == nil, w.inWorkspace, w.onBoard, w.visibility):
		return nil
	case w.BoardID == nil:
		return board.Forbidden("Your role in this workspace is %s. Managing its webhooks requires the role owner or admin.", w.inWorkspace)
	}
	return board.Forbidden("Your role on this board is %s. Managing its webhooks requires the role admin.",
		board.RoleOn(w.inWorkspace, w.onBoard, w.visibility))
}

func (v *View) webhook(ctx context.Context, id string) (w webhookRow, err error) {
	found := false
	err = v.each(ctx, webhookSelect+"WHERE h.id = $1", []any{id, v.caller.UserID}, func(rows *sql.Rows) (err error) {
		found = true
		w, err = v.scanWebhook(rows)
		return err
	})
	if err == nil && !found {
		err = board.NotFound()
	}
	if err == nil {
		err = v.allowManage(&w)
	}
	return w, err
}

// Webhook loads a webhook that the caller manages.
func (v *View) Webhook(ctx context.Context, id string) (board.Webhook, error) {
	w, err := v.webhook(ctx, id)
	return w.Webhook, err
}

// Webhook loads a webhook for a change. On a read-only plan, and for a board in the
// trash, it allows only changes that remove something.
func (tx *Tx) Webhook(ctx context.Context, id string, removes bool) (board.Webhook, error) {
	if err := tx.lock(ctx, webhookLock, id); err != nil {
		return board.Webhook{}, err
	}
	w, err := tx.webhook(ctx, id)
	if err != nil {
		return board.Webhook{}, err
	}
	if w.readOnly && !removes && !tx.caller.System {
		return board.Webhook{}, board.Refuse(board.CodePlanReadOnly, "The organization's plan is read-only: webhooks can only be "+
			"paused and deleted until an operator changes the plan.")
	}
	if w.trashed && !removes && !tx.caller.System {
		return board.Webhook{}, board.Invalid("webhookId: the webhook's board is in the trash. Restore the board first, "+
			"or delete the webhook.").
			In("webhookId", board.RuleValue)
	}
	tx.workspace = w.WorkspaceID
	return w.Webhook, nil
}

// Webhooks returns a page of the webhooks of a workspace that the caller manages, in
// the order of their ids after the given one. The workspace must be loaded.
func (v *View) Webhooks(ctx context.Context, workspaceID, after string, limit int) ([]board.Webhook, error) {
	out := []board.Webhook{}
	err := v.each(ctx, webhookSelect+"WHERE h.workspace_id = $1 AND h.id > $3 ORDER BY h.id", []any{workspaceID, v.caller.UserID,
		after}, func(rows *sql.Rows) error {
		w, err := v.scanWebhook(rows)
		if err == nil && len(out) < limit && v.allowManage(&w) == nil {
			out = append(out, w.Webhook)
		}
		return err
	})
	return out, err
}

// CountBoardWebhooks returns the number of webhooks of a board that a loader has
// loaded.
func (v *View) CountBoardWebhooks(ctx context.Context, boardID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM webhooks WHERE board_id = $1", boardID)
}

// CountWebhooks locks an organization and returns the number of its webhooks, which
// stays exact until the transaction ends. Webhooks of boards and workspaces in
// the trash do not count.
func (tx *Tx) CountWebhooks(ctx context.Context, organizationID string) (int, error) {
	if tx.db.dialect().RowLocks {
		if _, err := tx.texts(ctx, organizationLock, organizationID); err != nil {
			return 0, err
		}
	}
	return tx.count(ctx, `SELECT count(*) FROM webhooks h JOIN workspaces w ON w.id = h.workspace_id LEFT JOIN boards b ON b.id = h.board_id
		WHERE h.organization_id = $1 AND w.trashed_at IS NULL AND b.trashed_at IS NULL`, organizationID)
}

// WebhooksRestored switches off webhooks of a board or a workspace that was restored
// from the trash, the newest first, until the plan's limit is met.
func (tx *Tx) WebhooksRestored(ctx context.Context, id string) error {
	var (
		organizationID string
		plan           board.Plan
	)
	on, err := tx.texts(ctx, `SELECT h.id FROM webhooks h LEFT JOIN boards b ON b.id = h.board_id
		WHERE (h.board_id = $1 OR h.workspace_id = $1) AND h.off = '' AND b.trashed_at IS NULL ORDER BY h.id DESC`, id)
	if err != nil || len(on) == 0 {
		return err
	}
	if _, err := tx.one(ctx, "SELECT o.id, o.plan FROM webhooks h JOIN organizations o ON o.id = h.organization_id "+
		"WHERE h.id = $1", []any{on[0]}, &organizationID, &plan); err != nil {
		return err
	}
	count, err := tx.CountWebhooks(ctx, organizationID)
	if err != nil {
		return err
	}
	for _, id := range on[:min(len(on), max(0, count-plan.Limits().Webhooks))] {
		if err := tx.switchOff(ctx, id, board.OffPlan); err != nil {
			return err
		}
	}
	return nil
}

// WebhookRoom returns an error if the organization of a webhook that a loader has
// loaded has more webhooks than its plan allows.
func (tx *Tx) WebhookRoom(ctx context.Context, id string) error {
	var (
		organizationID string
		plan           board.Plan
	)
	if _, err := tx.one(ctx, "SELECT o.id, o.plan FROM webhooks h JOIN organizations o ON o.id = h.organization_id "+
		"WHERE h.id = $1", []any{id}, &organizationID, &plan); err != nil {
		return err
	}
	count, err := tx.CountWebhooks(ctx, organizationID)
	if most := plan.Limits().Webhooks; err == nil && count > most {
		err = board.Refuse(board.CodePlanLimit, "The organization's plan (%s) allows %d webhooks, but there are %d. Delete "+
			"one first.", plan, most, count)
	}
	return err
}

// seal encrypts a column of a webhook.
func (tx *Tx) seal(ctx context.Context, webhookID, column, plain string) ([]byte, error) {
	return tx.sealed(ctx, WebhookSealContext(webhookID, column), []byte(plain))
}

func (v *View) unseal(webhookID, column string, sealed []byte) (string, error) {
	plain, err := v.opened(WebhookSealContext(webhookID, column), sealed)
	return string(plain), err
}

// InsertWebhook writes a new webhook, with its address and its secret sealed.
func (tx *Tx) InsertWebhook(ctx context.Context, w *board.Webhook, organizationID, address, secret string) error {
	sealedAddress, err := tx.seal(ctx, w.ID, "address", address)
	if err != nil {
		return err
	}
	sealedSecret, err := tx.seal(ctx, w.ID, "secret", secret)
	if err != nil {
		return err
	}
	w.CreatedAt, w.UpdatedAt = tx.now, tx.now
	tx.workspace = w.WorkspaceID
	return tx.exec(ctx, `INSERT INTO webhooks (id, organization_id, workspace_id, board_id, owner_id, name, events, platform, host,
		last_four, address, secret, off, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, '', $13, $14)`,
		w.ID, organizationID, w.WorkspaceID, w.BoardID, w.OwnerID, w.Name, joined(w.Events), orEmpty(w.Platform), w.Host, w.LastFour,
		sealedAddress, sealedSecret, int64(tx.now), int64(tx.now))
}

// UpdateWebhook writes name, events, platform, host and whether it is on, and a
// new address unless that is empty.
func (tx *Tx) UpdateWebhook(ctx context.Context, w *board.Webhook, address string) error {
	w.UpdatedAt = tx.now
	off := board.OffNot
	if !w.On && w.OffReason != nil && *w.OffReason != board.OffTrash {
		off = *w.OffReason
	}
	if err := tx.exec(ctx, "UPDATE webhooks SET name = $1, events = $2, platform = $3, host = $4, last_four = $5, off = $6, off_at "+
		"= $7, updated_at = $8 WHERE id = $9",
		w.Name, joined(w.Events), orEmpty(w.Platform), w.Host, w.LastFour, string(off), null(w.OffAt), int64(tx.now),
		w.ID); err != nil || address == "" {
		return err
	}
	sealed, err := tx.seal(ctx, w.ID, "address", address)
	if err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE webhooks SET address = $1 WHERE id = $2", sealed, w.ID)
}

// RotateSecret gives a webhook a new signing secret. Deliveries are also signed with
// the former one for board.SecretOverlap. An even older one is discarded.
func (tx *Tx) RotateSecret(ctx context.Context, w *board.Webhook, secret string) error {
	var old []byte
	if _, err := tx.one(ctx, "SELECT secret FROM webhooks WHERE id = $1", []any{w.ID}, &old); err != nil {
		return err
	}
	plain, err := tx.unseal(w.ID, "secret", old)
	if err != nil {
		return err
	}
	sealedOld, err := tx.seal(ctx, w.ID, "old-secret", plain)
	if err != nil {
		return err
	}
	sealed, err := tx.seal(ctx, w.ID, "secret", secret)
	if err != nil {
		return err
	}
	w.UpdatedAt, w.OldSecretUntil = tx.now, new(tx.now+board.Instant(board.SecretOverlap.Milliseconds()))
	return tx.exec(ctx, "UPDATE webhooks SET secret = $1, old_secret = $2, old_secret_until = $3, updated_at = $4 WHERE id = $5",
		sealed, sealedOld, int64(*w.OldSecretUntil), int64(tx.now), w.ID)
}

// DeleteWebhook deletes a webhook with its log. Results of attempts that are in
// progress are discarded.
func (tx *Tx) DeleteWebhook(ctx context.Context, id string) error {
	if err := tx.exec(ctx, "DELETE FROM deliveries WHERE webhook_id = $1", id); err != nil {
		return err
	}
	return tx.exec(ctx, "DELETE FROM webhooks WHERE id = $1", id)
}

// disableUncovered switches off the webhooks of a workspace, a board's
// workspace or a person whose owner can no longer manage what they cover. A
// workspace in the trash has no members; its webhooks stay on for a restore.
func (tx *Tx) disableUncovered(ctx context.Context, id string) error {
	var off []string
	if err := tx.each(ctx, `SELECT h.id, h.board_id, b.visibility, wm.role, bm.role FROM webhooks h LEFT JOIN boards b ON b.id = h.board_id
		LEFT JOIN users u ON u.id = h.owner_id AND u.deleted_at IS NULL
		LEFT JOIN workspace_members wm ON wm.workspace_id = h.workspace_id AND wm.user_id = u.id
		LEFT JOIN board_members bm ON bm.board_id = h.board_id AND bm.user_id = u.id
		WHERE h.off = '' AND NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.id = h.workspace_id AND w.trashed_at IS NOT NULL)
		AND (h.workspace_id = $1 OR h.owner_id = $1 OR h.workspace_id = (SELECT x.workspace_id FROM boards x WHERE x.id = $1))`,
		[]any{id}, func(rows *sql.Rows) error {
			var (
				id                               string
				boardID, visibility, member, own sql.NullString
			)
			err := rows.Scan(&id, &boardID, &visibility, &member, &own)
			if err == nil && !board.Covers(!boardID.Valid, board.WorkspaceRole(member.String), board.Role(own.String),
				board.Visibility(visibility.String)) {
				off = append(off, id)
			}
			return err
		}); err != nil {
		return err
	}
	for _, id := range off {
		if err := tx.switchOff(ctx, id, board.OffOwner); err != nil {
			return err
		}
	}
	return nil
}

// switchOff switches a webhook off until a person enables it again, and queues an
// email to its owner.
func (tx *Tx) switchOff(ctx context.Context, id string, why board.Off) error {
	n, err := tx.affected(ctx, "UPDATE webhooks SET off = $1, off_at = $2, held_since = NULL, held_until = NULL WHERE id = $3 "+
		"AND off = ''", string(why), int64(tx.now), id)
	if err == nil && n > 0 {
		tx.switchedOff = append(tx.switchedOff, why)
		err = tx.InsertEmail(ctx, board.EmailWebhookDisabled, id, tx.now)
	}
	return err
}
