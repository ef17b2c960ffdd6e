package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// This file contains the delivery log that people see, and the deliveries that they
// request. The queries of package hook, which sends deliveries, are in dispatch.go.

const deliverySelect = `SELECT d.id, d.webhook_id, d.kind, d.board_id, d.version, d.status, d.reason, d.http_status, d.attempts,
	d.due_at, d.created_at, d.ended_at,
	d.log, d.body, h.held_since, h.held_until FROM deliveries d JOIN webhooks h ON h.id = d.webhook_id `

func (v *View) scanDelivery(rows *sql.Rows) (d board.DeliveryDetail, err error) {
	var (
		log         []byte
		held, until sql.NullInt64
	)
	if err = rows.Scan(&d.ID, &d.WebhookID, &d.Type, &d.BoardID, &d.BoardVersion, &d.Status, &d.Reason, &d.HTTPStatus, &d.Attempts,
		&d.NextAttemptAt, &d.CreatedAt, &d.EndedAt,
		&log, &d.Body, &held, &until); err != nil {
		return d, err
	}
	if err = json.Unmarshal(log, &d.Log); err != nil {
		return d, fmt.Errorf("decode log of %s: %w", d.ID, err)
	}
	var body struct {
		Data struct {
			CardID *string `json:"cardId"`
		} `json:"data"`
	}
	if err = json.Unmarshal([]byte(d.Body), &body); err != nil {
		return d, fmt.Errorf("decode body of %s: %w", d.ID, err)
	}
	d.CardID = body.Data.CardID
	d.Describe(v.now, held.Valid, board.Instant(until.Int64))
	return d, nil
}

// DeliveryFilter selects deliveries. Zero fields select all.
type DeliveryFilter struct {
	Type   board.Kind
	Status board.DeliveryStatus
	Since  board.Instant // time of the earliest event
	Until  board.Instant // the event must be earlier; 0 for no limit
	Before string        // the id must be smaller, because an earlier page ended there
}

// Deliveries returns a page of the delivery log of a loaded webhook, newest first. The log
// has at most board.DeliveriesKept deliveries; the filter selects among them.
func (v *View) Deliveries(ctx context.Context, webhookID string, f DeliveryFilter, limit int) ([]board.Delivery, error) {
	out, until := []board.Delivery{}, int64(math.MaxInt64)
	if f.Until != 0 {
		until = int64(f.Until)
	}
	if err := v.each(ctx, deliverySelect+`WHERE d.id IN (SELECT k.id FROM deliveries k WHERE k.webhook_id = $1 AND k.created_at > $2
		AND k.id >= $7 ORDER BY k.id DESC LIMIT $3)
		AND ($4 = '' OR d.status = $4) AND ($5 = '' OR d.id < $5) AND d.id >= $7 AND ($8 = '' OR d.kind = $8)
		AND d.created_at >= $9 AND d.created_at < $10 ORDER BY d.id DESC LIMIT $6`,
		[]any{webhookID, v.logStart(), board.DeliveriesKept, string(f.Status), f.Before, limit,
			minID("itg_", board.Instant(v.logStart()).Time()), string(f.Type), int64(f.Since), until},
		func(rows *sql.Rows) error {
			d, err := v.scanDelivery(rows)
			out = append(out, d.Delivery)
			return err
		}); err != nil {
		return nil, err
	}
	deliveries := make([]*board.Delivery, len(out))
	for i := range out {
		deliveries[i] = &out[i]
	}
	return out, v.nameDeliveries(ctx, deliveries...)
}

// nameDeliveries sets the names of the boards and cards that the caller can see now.
func (v *View) nameDeliveries(ctx context.Context, deliveries ...*board.Delivery) error {
	boards, cards := map[string][]*board.Delivery{}, map[string][]*board.Delivery{}
	for _, d := range deliveries {
		if d.BoardID != nil {
			boards[*d.BoardID] = append(boards[*d.BoardID], d)
		}
		if d.CardID != nil {
			cards[*d.CardID] = append(cards[*d.CardID], d)
		}
	}
	const seen = ` JOIN workspace_members wm ON wm.workspace_id = b.workspace_id AND wm.user_id = $1
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = wm.user_id
		WHERE ($2 = '' OR b.workspace_id = $2) AND b.trashed_at IS NULL AND ` + visible
	read := func(text string, of map[string][]*board.Delivery, set func(d *board.Delivery, number int, name string)) error {
		if len(of) == 0 {
			return nil
		}
		a := sqldb.Args{v.caller.UserID, v.caller.WorkspaceID}
		ids := a.In(slices.Sorted(maps.Keys(of)))
		return v.each(ctx, text+" IN ("+ids+")", a, func(rows *sql.Rows) error {
			var (
				id, name string
				number   int
			)
			err := rows.Scan(&id, &number, &name)
			for _, d := range of[id] {
				set(d, number, name)
			}
			return err
		})
	}
	if err := read("SELECT b.id, 0, b.name FROM boards b"+seen+" AND b.id", boards,
		func(d *board.Delivery, _ int, name string) { d.BoardName = &name }); err != nil {
		return fmt.Errorf("name boards of deliveries: %w", err)
	}
	if err := read("SELECT c.id, c.number, c.title FROM cards c JOIN boards b ON b.id = c.board_id"+seen+" AND c.id", cards,
		func(d *board.Delivery, number int, title string) { d.CardNumber, d.CardTitle = &number, &title }); err != nil {
		return fmt.Errorf("name cards of deliveries: %w", err)
	}
	return nil
}

// logStart returns the time after which a delivery must have been created to appear in
// a log.
func (v *View) logStart() int64 { return int64(v.now) - board.DeliveryLifetime.Milliseconds() }

// Delivery loads the delivery with the given id. It returns an error unless the caller may
// manage its webhook.
func (v *View) Delivery(ctx context.Context, id string) (d board.DeliveryDetail, err error) {
	found := false
	if err = v.each(ctx, deliverySelect+"WHERE d.id = $1 AND d.created_at > $2", []any{id, v.logStart()}, func(rows *sql.Rows) (err error) {
		found = true
		d, err = v.scanDelivery(rows)
		return err
	}); err != nil {
		return d, err
	}
	if !found {
		return d, board.NotFound()
	}
	if _, err = v.Webhook(ctx, d.WebhookID); err != nil {
		return board.DeliveryDetail{}, err
	}
	return d, v.nameDeliveries(ctx, &d.Delivery)
}

// LastFailure returns the id of the last delivery of a loaded webhook that failed
// permanently, with or without retries. It returns "" if there is none.
func (v *View) LastFailure(ctx context.Context, webhookID string) (id string, err error) {
	_, err = v.one(ctx, "SELECT id FROM deliveries WHERE webhook_id = $1 AND status IN ($2, $3) AND created_at > $4 "+
		"ORDER BY ended_at DESC, id DESC LIMIT 1",
		[]any{webhookID, string(board.DeliveryFailed), string(board.DeliveryGaveUp), v.logStart()}, &id)
	return id, err
}

// Redeliver makes an unsuccessful delivery due again immediately. The delivery keeps the
// log of earlier attempts, and counts against the organization's daily limit again. If
// the limit is reached, Redeliver returns a plan_limit error.
func (tx *Tx) Redeliver(ctx context.Context, id string) error {
	found, err := tx.dispatches(ctx, "WHERE id = $1", id)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return board.NotFound()
	}
	d := found[0]
	var (
		organization string
		plan         board.Plan
	)
	if _, err := tx.one(ctx, "SELECT o.id, o.plan FROM webhooks h JOIN organizations o ON o.id = h.organization_id "+
		"WHERE h.id = $1", []any{d.WebhookID}, &organization, &plan); err != nil {
		return err
	}
	granted, err := tx.takeQuota(ctx, organization, plan, 1)
	if err != nil {
		return err
	}
	if granted == 0 {
		return board.Refuse(board.CodePlanLimit, "The organization's limit of %d deliveries a day is reached. Try again tomorrow "+
			"(UTC), or move to a larger plan.", plan.Limits().DeliveriesPerDay)
	}
	d.Attempts, d.DueAt, d.SwitchesOn = 0, tx.now, ""
	if err := tx.exec(ctx, "UPDATE deliveries SET status = $1, retry = 0, due_at = $2, attempts = 0, reason = $3, switches_on = "+
		"NULL, ended_at = NULL WHERE id = $4",
		string(board.DeliveryPending), int64(tx.now), "redelivery requested by a person", id); err != nil {
		return err
	}
	tx.effects.dispatched = append(tx.effects.dispatched, d)
	return nil
}

// InsertTest writes the delivery of a test event for a webhook and returns the delivery's
// id. If the webhook covers a workspace, the event is about the most recently changed
// board that is open to the whole workspace. If there is no such board, the event names
// no board and has version 1. If switchesOn is not empty, it is a person's id, and a
// successful test enables the webhook with that person as its owner.
func (tx *Tx) InsertTest(ctx context.Context, w board.Webhook, switchesOn string) (id string, err error) {
	var (
		boardID string
		version int64
	)
	if w.BoardID != nil {
		boardID = *w.BoardID
		if _, err := tx.one(ctx, "SELECT version FROM boards WHERE id = $1", []any{boardID}, &version); err != nil {
			return "", err
		}
	} else if found, err := tx.one(ctx, `SELECT id, version FROM boards WHERE workspace_id = $1 AND visibility = 'workspace'
		AND trashed_at IS NULL AND archived_at IS NULL
		ORDER BY updated_at DESC, id DESC LIMIT 1`, []any{w.WorkspaceID}, &boardID, &version); err != nil {
		return "", err
	} else if !found {
		version = 1 // the version of a new board
	}
	body, err := tx.body(board.KindWebhookTest, w.WorkspaceID, boardID, version, "", board.WebhookRef{WebhookID: w.ID})
	if err != nil {
		return "", err
	}
	d := Dispatch{
		ID: board.DeliveryID(tx.NewID("itg_"), version), WebhookID: w.ID, BoardID: boardID, Kind: board.KindWebhookTest,
		DueAt: tx.now, CreatedAt: tx.now, SwitchesOn: switchesOn,
	}
	d.Body = withDeliveryID(body, d.ID)
	tx.effects.dispatched = append(tx.effects.dispatched, d)
	return d.ID, tx.insert(ctx, deliveryColumns, [][]any{tx.deliveryRow(&d, version, "")})
}

// Quota returns the daily delivery limit of a loaded workspace's organization, and how
// many deliveries count against it today.
func (v *View) Quota(ctx context.Context, w board.Workspace) (board.DeliveryQuota, error) {
	q := board.DeliveryQuota{ID: w.OrganizationID, Plan: w.Plan, Day: v.Time().Format(board.DateLayout),
		Limit: w.Plan.Limits().DeliveriesPerDay}
	_, err := v.one(ctx, "SELECT used FROM delivery_days WHERE organization_id = $1 AND day = $2", []any{q.ID, q.Day}, &q.Used)
	return q, err
}

// PurgeDeliveries deletes at most limit ended deliveries that are too old for the log,
// and old daily counts. On PostgreSQL, MaintainPartitions deletes most deliveries.
func (tx *Tx) PurgeDeliveries(ctx context.Context, limit int) (int64, error) {
	if err := tx.exec(ctx, "DELETE FROM delivery_days WHERE day < $1",
		board.Instant(tx.logStart()).Time().Format(board.DateLayout)); err != nil {
		return 0, err
	}
	from := tx.db.defaultPartition("deliveries")
	return tx.affected(ctx, `DELETE FROM `+from+` WHERE id IN (SELECT k.id FROM (SELECT id, created_at, due_at FROM `+from+`
		ORDER BY id LIMIT 5000) AS k
		WHERE k.created_at < $1 AND k.due_at IS NULL LIMIT $2)`, tx.logStart(), limit)
}
