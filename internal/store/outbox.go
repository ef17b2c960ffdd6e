package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/trace"
)

// Dispatch is a delivery with what its sender needs.
type Dispatch struct {
	ID         string
	WebhookID  string
	BoardID    string // "" for a test of a webhook that covers a workspace
	Kind       board.Kind
	Attempts   int                     // since it was created or redelivered
	DueAt      board.Instant           // of the next attempt
	CreatedAt  board.Instant           // the time of its event
	SwitchesOn string                  // for the test that enables a webhook, the person who enables it; otherwise ""
	Log        []board.DeliveryAttempt // the attempts so far
	Body       []byte
	Because    trace.Link // the transaction of its event, for deliveries that were not read from the database
}

// subscriber is an enabled webhook that covers a board.
type subscriber struct {
	id      string
	boardID string
	events  string // event kinds, with spaces around and between them
	plan    board.Plan
}

// wants reports whether the webhook subscribes to an event.
func (s *subscriber) wants(e *pendingEvent) bool {
	if s.boardID == "" && e.access.Visibility != board.VisibleToWorkspace || s.boardID != "" && s.boardID != e.access.BoardID {
		return false
	}
	return strings.Contains(s.events, " "+string(e.event.Kind)+" ")
}

// subscribers returns the enabled webhooks that cover a board.
func (tx *Tx) subscribers(ctx context.Context, a *board.Access) ([]subscriber, error) {
	var out []subscriber
	err := tx.each(ctx, `SELECT h.id, COALESCE(h.board_id, ''), h.events, o.plan FROM (
			SELECT id, board_id, events, organization_id FROM webhooks WHERE workspace_id = $1 AND board_id IS NULL AND off = ''
			UNION ALL SELECT id, board_id, events, organization_id FROM webhooks WHERE workspace_id = $1 AND board_id = $2 AND off = '') AS h
		JOIN organizations o ON o.id = h.organization_id ORDER BY h.id`,
		[]any{a.WorkspaceID, a.BoardID}, func(rows *sql.Rows) error {
			var s subscriber
			err := rows.Scan(&s.id, &s.boardID, &s.events, &s.plan)
			s.events = " " + s.events + " "
			out = append(out, s)
			return err
		})
	return out, err
}

// fanOut writes the deliveries of the transaction's events. Deliveries over the
// daily limit of the organization get the status skipped.
func (tx *Tx) fanOut(ctx context.Context) error {
	if tx.quiet {
		return nil
	}
	known := map[string][]subscriber{} // by board
	skipped := map[string]struct{}{}   // webhooks with deliveries over the limit
	for i := range tx.pending {
		e := &tx.pending[i]
		if e.event.Data == nil || e.access.Visibility == board.Confidential {
			continue
		}
		on, found := known[e.access.BoardID]
		if !found {
			var err error
			if on, err = tx.subscribers(ctx, e.access); err != nil {
				return fmt.Errorf("find webhooks: %w", err)
			}
			known[e.access.BoardID] = on
		}
		to := slices.DeleteFunc(slices.Clone(on), func(s subscriber) bool { return !s.wants(e) })
		if len(to) == 0 {
			continue
		}
		granted, err := tx.takeQuota(ctx, e.access.OrganizationID, to[0].plan, len(to))
		if err != nil {
			return fmt.Errorf("count deliveries: %w", err)
		}
		if err := tx.deliver(ctx, e, to, granted); err != nil {
			return fmt.Errorf("write outbox: %w", err)
		}
		for _, s := range to[granted:] {
			skipped[s.id] = struct{}{}
		}
	}
	// The sender prunes the logs of the deliveries that it sends, which these are not.
	for _, id := range slices.Sorted(maps.Keys(skipped)) {
		if err := tx.exec(ctx, pruneDeliveries, id, board.DeliveriesKept-1, prunedAtOnce); err != nil {
			return fmt.Errorf("prune delivery log: %w", err)
		}
	}
	return nil
}

// takeQuota counts deliveries against the daily limit of an organization and
// returns how many of them its plan allows.
func (tx *Tx) takeQuota(ctx context.Context, organizationID string, plan board.Plan, n int) (granted int, err error) {
	used, day := 0, tx.Time().Format(board.DateLayout)
	// This locks the row, so that concurrent transactions count each other's deliveries.
	if _, err := tx.one(ctx, `INSERT INTO delivery_days (organization_id, day, used) VALUES ($1, $2, 0)
		ON CONFLICT (organization_id, day) DO UPDATE SET used = delivery_days.used RETURNING used`, []any{organizationID, day},
		&used); err != nil {
		return 0, err
	}
	granted = max(0, min(n, plan.Limits().DeliveriesPerDay-used))
	if granted == 0 {
		return 0, nil
	}
	return granted, tx.exec(ctx, "UPDATE delivery_days SET used = $1 WHERE organization_id = $2 AND day = $3", used+granted,
		organizationID, day)
}

// deliver writes an event's deliveries. Those after the first granted ones get the
// status skipped.
func (tx *Tx) deliver(ctx context.Context, e *pendingEvent, to []subscriber, granted int) error {
	a := e.access
	body, err := tx.body(e.event.Kind, a.WorkspaceID, a.BoardID, a.Version, e.event.CardID, e.event.Data)
	if err != nil {
		return err
	}
	rows := make([][]any, len(to))
	for i, s := range to {
		d := Dispatch{
			ID: board.DeliveryID(tx.NewID("itg_"), a.Version), WebhookID: s.id, BoardID: a.BoardID, Kind: e.event.Kind, DueAt: tx.now,
			CreatedAt: tx.now, Because: tx.span.Link(),
		}
		d.Body = withDeliveryID(body, d.ID)
		reason := ""
		if i >= granted {
			reason = fmt.Sprintf("the organization's limit of %d deliveries a day is reached", s.plan.Limits().DeliveriesPerDay)
		} else {
			tx.dispatched = append(tx.dispatched, d)
		}
		rows[i] = tx.deliveryRow(&d, a.Version, reason)
	}
	return tx.insert(ctx, deliveryColumns, rows)
}

const deliveryColumns = "deliveries (id, webhook_id, board_id, version, kind, status, due_at, switches_on, reason, created_at, " +
	"ended_at, log, body)"

// deliveryRow returns the row of a new delivery. If skipped is not empty, it is the
// reason why the delivery is not sent.
func (tx *Tx) deliveryRow(d *Dispatch, version int64, skipped string) []any {
	status, due, ended := board.DeliveryPending, d.DueAt, board.Instant(0)
	if skipped != "" {
		status, due, ended = board.DeliverySkipped, 0, tx.now
	}
	return []any{d.ID, d.WebhookID, null(d.BoardID), version, string(d.Kind), string(status), null(due), null(d.SwitchesOn),
		skipped, int64(tx.now), null(ended), "[]", string(d.Body)}
}

// body returns the request body for an event, with an empty delivery id.
func (tx *Tx) body(kind board.Kind, workspaceID, boardID string, version int64, cardID string, data any) ([]byte, error) {
	out := board.Outgoing{
		Type: kind, Format: board.WebhookFormat, OccurredAt: tx.now, WorkspaceID: workspaceID, BoardVersion: version,
		Actor: tx.caller.Actor, Data: data, Links: board.LinksOf(tx.db.opts.BaseURL, boardID, cardID),
	}
	if boardID != "" {
		out.BoardID = &boardID
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return text, nil
}

// withDeliveryID returns a copy of a body with the id of a delivery.
func withDeliveryID(body []byte, id string) []byte {
	const empty = `{"id":""`
	rest, ok := bytes.CutPrefix(body, []byte(empty))
	if !ok {
		panic("store: the body of a delivery does not begin with its id")
	}
	out := make([]byte, 0, len(body)+len(id))
	out = append(out, `{"id":"`...)
	out = append(out, id...)
	out = append(out, '"')
	return append(out, rest...)
}

// pruneDeliveries deletes ended deliveries of webhook $1 that are older than the
// newest $2 + 1, at most $3.
const pruneDeliveries = `DELETE FROM deliveries WHERE id IN (SELECT d.id FROM deliveries d WHERE d.webhook_id = $1 AND d.due_at IS NULL
	AND d.id < (SELECT k.id FROM deliveries k WHERE k.webhook_id = $1 ORDER BY k.id DESC LIMIT 1 OFFSET $2) ORDER BY d.id LIMIT $3)`

// prunedAtOnce is the most deliveries that a change deletes from a log that it
// appends to.
const prunedAtOnce = 500

// PruneDeliveries deletes deliveries that exceed the length of a webhook's log, at
// most as many as given, and returns how many it deleted.
func (db *DB) PruneDeliveries(ctx context.Context, webhookID string, most int) (n int64, err error) {
	err = db.Write(ctx, board.System(), func(tx *Tx) error {
		n, err = tx.affected(ctx, pruneDeliveries, webhookID, board.DeliveriesKept-1, most)
		return err
	})
	return n, err
}
