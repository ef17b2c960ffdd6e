package store

import (
	"context"
	"database/sql"
	"strings"

	"cardwall/internal/board"
)

const (
	webhookSelect = `SELECT h.id, h.name, h.workspace_id, h.board_id, h.events, h.lists, h.labels, h.header_names, h.off, h.off_at, h.failures,
		h.held_since, h.held_until, h.host, h.last_four, h.platform,
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
		lists, labels, headers  string
		visibility, member, own sql.NullString
		trashed, until, held    sql.NullInt64
		readOnly                int64
	)
	err = rows.Scan(&w.ID, &w.Name, &w.WorkspaceID, &w.BoardID, &events, &lists, &labels, &headers, &off, &w.OffAt,
		&w.Failures, &w.HeldSince, &held, &w.Host, &w.LastFour, &platform,
		&w.OwnerID, &until, &w.CreatedAt, &w.UpdatedAt, &w.organization, &visibility, &trashed, &readOnly, &member, &own)
	w.Events = kindsOf(events)
	w.Lists, w.Labels, w.HeaderNames = strings.Fields(lists), strings.Fields(labels), strings.Fields(headers)
	if off == "" && trashed.Valid { // restoring the board enables the webhook again
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

// kindsOf splits a column value into event kinds.
func kindsOf(column string) []board.Kind {
	out := []board.Kind{}
	for _, kind := range strings.Fields(column) {
		out = append(out, board.Kind(kind))
	}
	return out
}

// joined joins a list into one column value, separated by spaces.
func joined[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return strings.Join(out, " ")
}

// allowManage returns an error unless the caller may manage a webhook. Owners and
// admins of a workspace manage the webhooks that cover it. Admins of a board manage the
// board's webhooks.
func (v *View) allowManage(w *webhookRow) error {
	c := v.caller
	switch {
	case c.System:
		return nil
	case w.inWorkspace == "" || c.WorkspaceID != "" && c.WorkspaceID != w.WorkspaceID,
		w.BoardID != nil && !board.RoleOn(w.inWorkspace, w.onBoard, w.visibility).Can(board.View):
		return board.NotFound()
	case board.CanOwnWebhook(w.BoardID == nil, w.inWorkspace, w.onBoard, w.visibility):
		return nil
	case w.BoardID == nil:
		return board.Forbidden("Your role in this workspace is %s. Managing its webhooks requires the owner or admin role.",
			w.inWorkspace)
	}
	return board.Forbidden("Your role on this board is %s. Managing its webhooks requires the admin role.",
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

// Webhook loads the webhook with the given id. It returns an error unless the caller may
// manage it.
func (v *View) Webhook(ctx context.Context, id string) (board.Webhook, error) {
	w, err := v.webhook(ctx, id)
	return w.Webhook, err
}

// Webhook locks and loads a webhook for a change. Removes must be true only if the change
// just removes or pauses something. Other changes are refused if the organization is
// read-only or the webhook's board is in the trash.
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

// Webhooks returns a page of the workspace's webhooks that the caller may manage, ordered
// by id, starting after the given id. The workspace must already be loaded.
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

// CountBoardWebhooks returns the number of webhooks of a board. The board must already be
// loaded.
func (v *View) CountBoardWebhooks(ctx context.Context, boardID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM webhooks WHERE board_id = $1", boardID)
}

// CountWebhooks returns the number of webhooks of an organization. It locks the
// organization, so the number stays correct until the transaction ends. Webhooks of
// boards and workspaces in the trash do not count.
func (tx *Tx) CountWebhooks(ctx context.Context, organizationID string) (int, error) {
	if tx.db.dialect().RowLocks {
		if _, err := tx.texts(ctx, organizationLock, organizationID); err != nil {
			return 0, err
		}
	}
	return tx.count(ctx, `SELECT count(*) FROM webhooks h JOIN workspaces w ON w.id = h.workspace_id LEFT JOIN boards b ON b.id = h.board_id
		WHERE h.organization_id = $1 AND w.trashed_at IS NULL AND b.trashed_at IS NULL`, organizationID)
}

// LimitRestoredWebhooks enforces the plan's limit after a board or a workspace was
// restored from the trash. It disables as many of the restored webhooks as exceed the
// limit, newest first.
func (tx *Tx) LimitRestoredWebhooks(ctx context.Context, id string) error {
	var (
		organizationID string
		plan           board.Plan
	)
	enabled, err := tx.texts(ctx, `SELECT h.id FROM webhooks h LEFT JOIN boards b ON b.id = h.board_id
		WHERE (h.board_id = $1 OR h.workspace_id = $1) AND h.off = '' AND b.trashed_at IS NULL ORDER BY h.id DESC`, id)
	if err != nil || len(enabled) == 0 {
		return err
	}
	if _, err := tx.one(ctx, "SELECT o.id, o.plan FROM webhooks h JOIN organizations o ON o.id = h.organization_id "+
		"WHERE h.id = $1", []any{enabled[0]}, &organizationID, &plan); err != nil {
		return err
	}
	count, err := tx.CountWebhooks(ctx, organizationID)
	if err != nil {
		return err
	}
	for _, id := range enabled[:min(len(enabled), max(0, count-plan.Limits().Webhooks))] {
		if err := tx.disableWebhook(ctx, id, board.OffPlan); err != nil {
			return err
		}
	}
	return nil
}

// CheckWebhookLimit returns a plan_limit error if the organization of a webhook has more
// webhooks than its plan allows. The webhook must already be loaded.
func (tx *Tx) CheckWebhookLimit(ctx context.Context, id string) error {
	var (
		organizationID string
		plan           board.Plan
	)
	if _, err := tx.one(ctx, "SELECT o.id, o.plan FROM webhooks h JOIN organizations o ON o.id = h.organization_id "+
		"WHERE h.id = $1", []any{id}, &organizationID, &plan); err != nil {
		return err
	}
	count, err := tx.CountWebhooks(ctx, organizationID)
	if limit := plan.Limits().Webhooks; err == nil && count > limit {
		err = board.Refuse(board.CodePlanLimit, "The organization's plan (%s) allows %d webhooks, but there are %d. Delete "+
			"one first.", plan, limit, count)
	}
	return err
}

// seal seals a column of a webhook.
func (tx *Tx) seal(ctx context.Context, webhookID, column, plain string) ([]byte, error) {
	return tx.sealed(ctx, WebhookSealContext(webhookID, column), []byte(plain))
}

// unseal opens a sealed column of a webhook.
func (v *View) unseal(webhookID, column string, sealed []byte) (string, error) {
	plain, err := v.opened(WebhookSealContext(webhookID, column), sealed)
	return string(plain), err
}

// InsertWebhook stores a new webhook. It seals the address and the secret.
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
		last_four, address, secret, off, created_at, updated_at, lists, labels)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, '', $13, $14, $15, $16)`,
		w.ID, organizationID, w.WorkspaceID, w.BoardID, w.OwnerID, w.Name, joined(w.Events), orEmpty(w.Platform), w.Host, w.LastFour,
		sealedAddress, sealedSecret, int64(tx.now), int64(tx.now), joined(w.Lists), joined(w.Labels))
}

// UpdateWebhook stores the name, events, filter, platform, host and state of a webhook. If address
// is not empty, it also stores the new address.
func (tx *Tx) UpdateWebhook(ctx context.Context, w *board.Webhook, address string) error {
	w.UpdatedAt = tx.now
	off := board.OffNone
	if !w.On && w.OffReason != nil && *w.OffReason != board.OffTrash {
		off = *w.OffReason
	}
	if err := tx.exec(ctx, "UPDATE webhooks SET name = $1, events = $2, platform = $3, host = $4, last_four = $5, off = $6, off_at "+
		"= $7, updated_at = $8, lists = $9, labels = $10 WHERE id = $11",
		w.Name, joined(w.Events), orEmpty(w.Platform), w.Host, w.LastFour, string(off), null(w.OffAt), int64(tx.now),
		joined(w.Lists), joined(w.Labels), w.ID); err != nil || address == "" {
		return err
	}
	sealed, err := tx.seal(ctx, w.ID, "address", address)
	if err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE webhooks SET address = $1 WHERE id = $2", sealed, w.ID)
}

// RotateSecret gives a webhook a new signing secret. For board.SecretOverlap, deliveries
// are also signed with the previous secret. RotateSecret discards older secrets.
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

// DeleteWebhook deletes a webhook and its delivery log. The results of attempts in
// progress will be discarded.
func (tx *Tx) DeleteWebhook(ctx context.Context, id string) error {
	if err := tx.exec(ctx, "DELETE FROM deliveries WHERE webhook_id = $1", id); err != nil {
		return err
	}
	return tx.exec(ctx, "DELETE FROM webhooks WHERE id = $1", id)
}

// disableUncovered disables webhooks whose owners may no longer manage them. It checks the
// webhooks of a workspace, of a board's workspace or of a person, depending on the id. It
// skips workspaces in the trash: they have no members, but their webhooks must work again
// after a restore.
func (tx *Tx) disableUncovered(ctx context.Context, id string) error {
	var uncovered []string
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
			if err == nil && !board.CanOwnWebhook(!boardID.Valid, board.WorkspaceRole(member.String), board.Role(own.String),
				board.Visibility(visibility.String)) {
				uncovered = append(uncovered, id)
			}
			return err
		}); err != nil {
		return err
	}
	for _, id := range uncovered {
		if err := tx.disableWebhook(ctx, id, board.OffOwner); err != nil {
			return err
		}
	}
	return nil
}

// disableWebhook disables a webhook until a person enables it again, and queues an email
// to its owner. It does nothing if the webhook is already disabled.
func (tx *Tx) disableWebhook(ctx context.Context, id string, reason board.Off) error {
	n, err := tx.affected(ctx, "UPDATE webhooks SET off = $1, off_at = $2, held_since = NULL, held_until = NULL WHERE id = $3 "+
		"AND off = ''", string(reason), int64(tx.now), id)
	if err == nil && n > 0 {
		tx.effects.switchedOff = append(tx.effects.switchedOff, reason)
		err = tx.InsertEmail(ctx, board.EmailWebhookDisabled, id, tx.now)
	}
	return err
}
