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

// Dispatch is a delivery with the data that its sender needs.
type Dispatch struct {
	ID         string
	WebhookID  string
	BoardID    string // "" for a test of a webhook that covers a workspace
	Kind       board.Kind
	Attempts   int                     // since it was created or redelivered
	DueAt      board.Instant           // of the next attempt
	CreatedAt  board.Instant           // the time of its event
	SwitchesOn string                  // the person who enables the webhook, in a test that enables it on success
	Log        []board.DeliveryAttempt // the attempts so far
	Body       []byte
	TraceLink  trace.Link // to the transaction of the event; not set if the delivery was read from the database
}

// subscriber is an enabled webhook that covers a board.
type subscriber struct {
	id      string
	boardID string
	events  string // event kinds, with spaces around and between them
	filter  board.WebhookFilter
	plan    board.Plan
}

// wants reports whether the webhook covers the board of an event and subscribes to its
// kind.
func (s *subscriber) wants(e *pendingEvent) bool {
	if s.boardID == "" && e.access.Visibility != board.VisibleToWorkspace || s.boardID != "" && s.boardID != e.access.BoardID {
		return false
	}
	return strings.Contains(s.events, " "+string(e.event.Kind)+" ")
}

// subscribers returns the enabled webhooks that cover a board.
func (tx *Tx) subscribers(ctx context.Context, a *board.Access) ([]subscriber, error) {
	var out []subscriber
	err := tx.each(ctx, subscribersOf, []any{a.BoardID}, func(rows *sql.Rows) error {
		var (
			s             subscriber
			lists, labels string
		)
		err := rows.Scan(&s.id, &s.boardID, &s.events, &lists, &labels, &s.plan)
		s.filter = board.WebhookFilter{Lists: strings.Fields(lists), Labels: strings.Fields(labels)}
		s.events = " " + s.events + " "
		out = append(out, s)
		return err
	})
	return out, err
}

// subscribersOf selects the enabled webhooks that cover the board $1.
const subscribersOf = `SELECT h.id, COALESCE(h.board_id, ''), h.events, h.lists, h.labels, o.plan FROM (
		SELECT k.id, k.board_id, k.events, k.lists, k.labels, k.organization_id FROM boards b
		JOIN webhooks k ON k.workspace_id = b.workspace_id
		WHERE b.id = $1 AND k.board_id IS NULL AND k.off = ''
		UNION ALL SELECT k.id, k.board_id, k.events, k.lists, k.labels, k.organization_id FROM boards b
		JOIN webhooks k ON k.workspace_id = b.workspace_id
		WHERE b.id = $1 AND k.board_id = $1 AND k.off = '') AS h
	JOIN organizations o ON o.id = h.organization_id ORDER BY h.id`

// fanOut writes the deliveries of the transaction's events. Deliveries over the
// daily limit of the organization get the status skipped.
func (tx *Tx) fanOut(ctx context.Context) error {
	if tx.quiet {
		return nil
	}
	known := map[string][]subscriber{} // by board id
	skipped := map[string]struct{}{}   // ids of webhooks with deliveries over the limit
	for i := range tx.pending {
		e := &tx.pending[i]
		if e.event.Data == nil || e.access.Visibility == board.Confidential {
			continue
		}
		enabled, found := known[e.access.BoardID]
		if !found {
			var err error
			if enabled, err = tx.subscribers(ctx, e.access); err != nil {
				return fmt.Errorf("find webhooks: %w", err)
			}
			known[e.access.BoardID] = enabled
		}
		to := slices.DeleteFunc(slices.Clone(enabled), func(s subscriber) bool { return !s.wants(e) })
		to, err := tx.matching(ctx, e, to)
		if err != nil {
			return fmt.Errorf("filter webhooks: %w", err)
		}
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
	// The sender prunes a webhook's log after each send. Skipped deliveries never reach
	// the sender, so the logs of their webhooks are pruned here.
	for _, id := range slices.Sorted(maps.Keys(skipped)) {
		if err := tx.exec(ctx, pruneDeliveries, id, board.DeliveriesKept-1, prunedAtOnce); err != nil {
			return fmt.Errorf("prune delivery log: %w", err)
		}
	}
	return nil
}

// matching returns the webhooks whose filters match an event. It reads the labels of the
// event's card only if a filter needs them.
func (tx *Tx) matching(ctx context.Context, e *pendingEvent, to []subscriber) ([]subscriber, error) {
	var labels []string
	if slices.ContainsFunc(to, func(s subscriber) bool { return s.filter.NeedsLabels(e.event) }) {
		var err error
		if labels, err = tx.texts(ctx, "SELECT label_id FROM card_labels WHERE card_id = $1", e.event.CardID); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(to, func(s subscriber) bool { return !s.filter.Matches(e.event, labels) }), nil
}

// takeQuota counts deliveries against the daily limit of an organization and
// returns how many of them its plan allows.
func (tx *Tx) takeQuota(ctx context.Context, organizationID string, plan board.Plan, n int) (granted int, err error) {
	used, day := 0, tx.Time().Format(board.DateLayout)
	// The upsert locks the row, so that concurrent transactions count each other's
	// deliveries.
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

// deliver writes the deliveries of an event. Only the first granted deliveries are sent.
// The others get the status skipped.
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
			CreatedAt: tx.now, TraceLink: tx.span.Link(),
		}
		d.Body = withDeliveryID(body, d.ID)
		reason := ""
		if i >= granted {
			reason = fmt.Sprintf("the organization's limit of %d deliveries a day is reached", s.plan.Limits().DeliveriesPerDay)
		} else {
			tx.effects.dispatched = append(tx.effects.dispatched, d)
		}
		rows[i] = tx.deliveryRow(&d, a.Version, reason)
	}
	return tx.insert(ctx, deliveryColumns, rows)
}

const deliveryColumns = "deliveries (id, webhook_id, board_id, version, kind, status, due_at, switches_on, reason, created_at, " +
	"ended_at, log, body)"

// deliveryRow returns the row of a new delivery. If skipped is not empty, the delivery
// is not sent, and skipped is the reason.
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

// pruneDeliveries keeps the newest $2 + 1 deliveries of webhook $1. It deletes at most
// $3 older deliveries that have ended.
const pruneDeliveries = `DELETE FROM deliveries WHERE id IN (SELECT d.id FROM deliveries d WHERE d.webhook_id = $1 AND d.due_at IS NULL
	AND d.id < (SELECT k.id FROM deliveries k WHERE k.webhook_id = $1 ORDER BY k.id DESC LIMIT 1 OFFSET $2) ORDER BY d.id LIMIT $3)`

// prunedAtOnce is the maximum number of deliveries that a change deletes from the log of
// a webhook.
const prunedAtOnce = 500

// PruneDeliveries deletes the oldest deliveries of a webhook whose log is too long. It
// deletes at most limit deliveries and returns how many it deleted.
func (db *DB) PruneDeliveries(ctx context.Context, webhookID string, limit int) (n int64, err error) {
	err = db.Write(ctx, board.System(), func(tx *Tx) error {
		n, err = tx.affected(ctx, pruneDeliveries, webhookID, board.DeliveriesKept-1, limit)
		return err
	})
	return n, err
}
