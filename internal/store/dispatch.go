package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// This file contains the queries of the webhook sender, which acts as board.System.

const dispatchSelect = "SELECT id, webhook_id, COALESCE(board_id, ''), kind, attempts, due_at, created_at, COALESCE(switches_on, " +
	"''), log, body FROM deliveries "

func (v *View) dispatches(ctx context.Context, where string, args ...any) ([]Dispatch, error) {
	var out []Dispatch
	err := v.each(ctx, dispatchSelect+where, args, func(rows *sql.Rows) error {
		var (
			d   Dispatch
			due sql.NullInt64
			log []byte
		)
		if err := rows.Scan(&d.ID, &d.WebhookID, &d.BoardID, &d.Kind, &d.Attempts, &due, &d.CreatedAt, &d.SwitchesOn, &log, &d.Body); err != nil {
			return err
		}
		d.DueAt = board.Instant(due.Int64)
		if string(log) != "[]" { // most deliveries have no attempt yet
			if err := json.Unmarshal(log, &d.Log); err != nil {
				return fmt.Errorf("decode log of %s: %w", d.ID, err)
			}
		}
		out = append(out, d)
		return nil
	})
	return out, err
}

// Queue describes the pending deliveries of one webhook.
type Queue struct {
	WebhookID string
	FirstDue  board.Instant // when the first pending delivery is due
}

// Queues returns the webhooks that have pending deliveries. It costs a few index
// lookups per webhook, regardless of the number of deliveries.
func (db *DB) Queues(ctx context.Context) (out []Queue, err error) {
	err = db.Read(ctx, board.System(), func(v *View) error {
		out = nil
		return v.each(ctx, `WITH RECURSIVE q (id) AS (SELECT min(webhook_id) FROM deliveries WHERE due_at IS NOT NULL
			UNION ALL SELECT (SELECT min(d.webhook_id) FROM deliveries d WHERE d.due_at IS NOT NULL AND d.webhook_id > q.id) FROM q
			WHERE q.id IS NOT NULL)
			SELECT q.id, (SELECT min(d.due_at) FROM deliveries d WHERE d.webhook_id = q.id AND d.retry = 0 AND d.due_at IS NOT NULL),
			(SELECT min(d.due_at) FROM deliveries d WHERE d.webhook_id = q.id AND d.retry = 1 AND d.due_at IS NOT NULL) FROM q
			WHERE q.id IS NOT NULL`,
			nil, func(rows *sql.Rows) error {
				var (
					q            Queue
					first, retry sql.NullInt64
				)
				err := rows.Scan(&q.WebhookID, &first, &retry)
				q.FirstDue = min(board.Instant(first.Int64), v.now) // a first attempt is always due, see Due
				if !first.Valid || retry.Valid && retry.Int64 < first.Int64 {
					q.FirstDue = board.Instant(retry.Int64)
				}
				out = append(out, q)
				return err
			})
	})
	return out, err
}

// Due contains the deliveries of a webhook that are due.
type Due struct {
	Deliveries []Dispatch     // first attempts before retries, each oldest first
	Last       DeliveryCursor // cursor of the next page of first attempts; zero if there is none
	Next       board.Instant  // when the next retry is due; 0 for none
}

// DeliveryCursor is a position among the first attempts of a webhook. The zero value is
// the start.
type DeliveryCursor struct {
	DueAt board.Instant
	ID    string
}

// Due returns at most limit first attempts after the cursor, and at most limit retries
// that are due. A first attempt is always due: if its time is in the future, the clock was
// set back after it was written.
func (db *DB) Due(ctx context.Context, webhookID string, after DeliveryCursor, limit int) (out Due, err error) {
	const (
		firsts    = "WHERE webhook_id = $1 AND retry = 0 AND due_at IS NOT NULL AND (due_at, id) > ($2, $3) ORDER BY due_at, id LIMIT $4"
		retries   = "WHERE webhook_id = $1 AND retry = 1 AND due_at IS NOT NULL AND due_at <= $2 ORDER BY due_at, id LIMIT $3"
		nextRetry = "SELECT COALESCE(min(due_at), 0) FROM deliveries WHERE webhook_id = $1 AND retry = 1 AND due_at IS NOT NULL AND due_at > $2"
	)
	err = db.Read(ctx, board.System(), func(v *View) error {
		first, err := v.dispatches(ctx, firsts, webhookID, int64(after.DueAt), after.ID, limit)
		if err != nil {
			return err
		}
		out = Due{Deliveries: first}
		if len(first) == limit {
			last := &first[limit-1]
			out.Last = DeliveryCursor{last.DueAt, last.ID}
		}
		// Most webhooks have no retries.
		if _, err := v.one(ctx, nextRetry, []any{webhookID, int64(0)}, &out.Next); err != nil || out.Next == 0 || out.Next > v.now {
			return err
		}
		due, err := v.dispatches(ctx, retries, webhookID, int64(v.now), limit)
		if err != nil {
			return err
		}
		out.Deliveries = append(first, due...)
		_, err = v.one(ctx, nextRetry, []any{webhookID, int64(v.now)}, &out.Next)
		return err
	})
	return out, err
}

// Reschedule corrects the due times of retries after the clock was set back. A retry needs
// a correction if its last attempt is in the future. The retry keeps its delay, which now
// starts at the current time. Without the correction, the retry would wait until the clock
// reaches the old due time.
func (db *DB) Reschedule(ctx context.Context) error {
	type retry struct {
		id         string
		due, pause int64
	}
	var all []retry
	if err := db.Stream(ctx, board.System(), func(v *View) error {
		return v.each(ctx, "SELECT id, due_at, log FROM deliveries WHERE retry = 1 AND due_at IS NOT NULL AND due_at > $1",
			[]any{int64(v.now)}, func(rows *sql.Rows) error {
				var (
					id       string
					due      board.Instant
					text     []byte
					attempts []board.DeliveryAttempt
				)
				if err := rows.Scan(&id, &due, &text); err != nil {
					return err
				}
				if err := json.Unmarshal(text, &attempts); err != nil {
					return fmt.Errorf("decode log of %s: %w", id, err)
				}
				if n := len(attempts); n > 0 && attempts[n-1].At > v.now {
					all = append(all, retry{id, int64(due), int64(max(0, due-attempts[n-1].At))})
				}
				return nil
			})
	}); err != nil || len(all) == 0 {
		return err
	}
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, r := range all {
			if err := tx.exec(ctx, "UPDATE deliveries SET due_at = $1 WHERE id = $2 AND due_at = $3", int64(tx.now)+r.pause, r.id,
				r.due); err != nil {
				return err
			}
		}
		return nil
	})
}

// Target is the state of a delivery's webhook at the time of an attempt.
type Target struct {
	Found    bool                  // false: the webhook was deleted
	Refusal  string                // why this delivery must not be sent; "" if it may be
	Lost     bool                  // refused because the owner can no longer manage what the webhook covers
	Address  string                // empty if refused
	Secrets  []string              // signing secrets, the newest first
	Headers  []board.WebhookHeader // sent with the delivery
	Failures int                   // consecutive failed deliveries
	Held     bool                  // the delivery log shows deliveries as held
	Until    board.Instant         // end of the pause that the receiver asked for; 0 for none
	OpenErr  error                 // error from decrypting the address, the headers or a secret
}

// Targets returns the target of each delivery. It refuses a delivery if, for example,
// the webhook is off, the board is confidential, or the owner has lost access.
func (db *DB) Targets(ctx context.Context, deliveries []Dispatch) ([]Target, error) {
	out := make([]Target, len(deliveries))
	err := db.Read(ctx, board.System(), func(v *View) error {
		type target struct{ webhook, board, person string }
		var rows [][]any
		indexes, rowOf := map[target]int{}, make([]int, len(deliveries))
		for i, d := range deliveries {
			key := target{d.WebhookID, d.BoardID, d.SwitchesOn}
			index, known := indexes[key]
			if !known {
				index = len(rows)
				indexes[key] = index
				rows = append(rows, []any{index, d.WebhookID, d.BoardID, null(d.SwitchesOn)})
			}
			rowOf[i] = index
		}
		found := make([]webhookState, len(rows))
		err := sqldb.Batches(rows, func(n int, args []any) error { return v.webhookStates(ctx, n, args, found) })
		for i := range deliveries {
			if err == nil {
				out[i] = v.target(&deliveries[i], &found[rowOf[i]])
			}
		}
		return err
	})
	return out, err
}

// webhookState is the state of a webhook and its board, with the roles of the person whose
// access is checked: the person who enables the webhook with a test delivery, or otherwise
// the webhook's owner.
type webhookState struct {
	found                                    bool
	hookBoard, visibility                    sql.NullString
	workspaceRole, boardRole                 sql.NullString
	off                                      string
	failures                                 int
	address, secret, oldSecret, headers      []byte
	held, heldUntil, oldSecretUntil, trashed sql.NullInt64
}

// webhookStates reads n webhooks into found. Args contains four values per webhook: its
// index in found, its id, a board id, and the id of the person who enables it, or NULL.
func (v *View) webhookStates(ctx context.Context, n int, args []any, found []webhookState) error {
	return v.each(ctx, `WITH q (row_index, webhook_id, board_id, person_id) AS (`+typedValues(n, "BIGINT", "TEXT", "TEXT", "TEXT")+`)
		SELECT q.row_index, h.board_id, h.off, h.failures, h.held_since, h.held_until, h.address, h.secret, h.old_secret,
		h.headers, h.old_secret_until, COALESCE(w.trashed_at, t.trashed_at),
		b.visibility, wm.role, bm.role
		FROM q JOIN webhooks h ON h.id = q.webhook_id JOIN workspaces w ON w.id = h.workspace_id LEFT
		JOIN boards t ON t.id = h.board_id LEFT JOIN boards b ON b.id = q.board_id
		LEFT JOIN users u ON u.id = COALESCE(q.person_id, h.owner_id) AND u.deleted_at IS NULL
		LEFT JOIN workspace_members wm ON wm.workspace_id = h.workspace_id AND wm.user_id = u.id
		LEFT JOIN board_members bm ON bm.board_id = h.board_id AND bm.user_id = u.id`, args, func(rows *sql.Rows) error {
		var (
			index int
			w     = webhookState{found: true}
		)
		if err := rows.Scan(&index, &w.hookBoard, &w.off, &w.failures, &w.held, &w.heldUntil, &w.address, &w.secret, &w.oldSecret,
			&w.headers, &w.oldSecretUntil, &w.trashed, &w.visibility, &w.workspaceRole, &w.boardRole); err != nil {
			return err
		}
		found[index] = w
		return nil
	})
}

// target returns the target of a delivery whose webhook has the given state.
func (v *View) target(d *Dispatch, w *webhookState) Target {
	t := Target{Found: w.found, Failures: w.failures, Held: w.held.Valid}
	if !t.Found {
		return t
	}
	if t.Held && w.heldUntil.Valid && board.Instant(w.heldUntil.Int64) > v.now {
		t.Until = board.Instant(w.heldUntil.Int64)
	}
	visibility := board.Visibility(w.visibility.String)
	test := d.Kind == board.KindWebhookTest
	switch {
	case w.off != "" && !test:
		t.Refusal = "the webhook is off"
	case w.trashed.Valid: // the webhook works again after a restore
		t.Refusal = "the webhook's board or workspace is in the trash"
	case d.BoardID != "" && !w.visibility.Valid:
		t.Refusal = "the board was deleted"
	case visibility == board.Confidential:
		t.Refusal = "the board is confidential"
	case test && d.SwitchesOn == "": // no check of the owner: the person who requested the test had access
	case !board.CanOwnWebhook(!w.hookBoard.Valid, board.WorkspaceRole(w.workspaceRole.String), board.Role(w.boardRole.String), visibility):
		t.Refusal, t.Lost = "the webhook's owner can no longer manage its board or workspace", d.SwitchesOn == ""
	case !w.hookBoard.Valid && d.BoardID != "" && visibility != board.VisibleToWorkspace:
		t.Refusal = "the board is no longer open to the whole workspace"
	}
	if t.Refusal == "" {
		t.OpenErr = v.openTarget(&t, d.WebhookID, w)
	}
	return t
}

// openTarget decrypts the address, the headers and the secrets of a webhook.
func (v *View) openTarget(t *Target, id string, w *webhookState) (err error) {
	if t.Address, err = v.unseal(id, "address", w.address); err != nil {
		return err
	}
	if t.Headers, err = v.openHeaders(id, t.Address, w.headers); err != nil {
		return err
	}
	plain, err := v.unseal(id, "secret", w.secret)
	if err != nil {
		return err
	}
	t.Secrets = []string{plain}
	if w.oldSecretUntil.Valid && board.Instant(w.oldSecretUntil.Int64) > v.now {
		if plain, err = v.unseal(id, "old-secret", w.oldSecret); err != nil {
			return err
		}
		t.Secrets = append(t.Secrets, plain)
	}
	return nil
}

// Outcome is the result of an attempt, or of the decision not to make one.
type Outcome struct {
	Dispatch             // the delivery, with its attempts and log after this attempt
	PreviousAttempts int // attempts before this one
	Status           board.DeliveryStatus
	Reason           string
	HTTPStatus       int           // status of the last response; 0 for none
	Next             board.Instant // time of the next attempt; 0 for none
	Counts           bool          // the delivery failed; ten failed deliveries in a row disable the webhook
	Resets           bool          // the delivery succeeded and resets the failure count
	Gone             bool          // the receiver responded with 410
	Lost             bool          // the owner can no longer manage what the webhook covers
}

// Hold records that the deliveries of a webhook are held because its receiver fails
// or asked for a pause.
type Hold struct {
	WebhookID string
	Since     board.Instant // 0 ends the hold
	Until     board.Instant // end of the pause that the receiver asked for; 0 for none
}

// Record writes the results of attempts in order. It updates the deliveries and the
// failure counts of their webhooks, and enables or disables webhooks accordingly. It skips
// deliveries that were deleted or that another server has recorded in the meantime.
func (db *DB) Record(ctx context.Context, outcomes []Outcome, holds []Hold) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		// Webhooks are locked before their deliveries, as in changes and deletions of webhooks.
		for _, id := range affectedWebhooks(outcomes, holds) {
			if err := tx.lock(ctx, webhookLock, id); err != nil {
				return err
			}
		}
		recorded, err := tx.recordOutcomes(ctx, outcomes)
		if err != nil {
			return fmt.Errorf("record deliveries: %w", err)
		}
		if err := tx.recordFailures(ctx, outcomes, recorded); err != nil {
			return fmt.Errorf("record failures: %w", err)
		}
		for _, h := range holds {
			if err := tx.exec(ctx, "UPDATE webhooks SET held_since = $1, held_until = $2 WHERE id = $3", null(h.Since),
				null(h.Until), h.WebhookID); err != nil {
				return err
			}
		}
		return nil
	})
}

// affectedWebhooks returns the ids of the webhooks whose rows may change, sorted.
func affectedWebhooks(outcomes []Outcome, holds []Hold) []string {
	var ids []string
	for _, o := range outcomes {
		if o.affectsWebhook() {
			ids = append(ids, o.WebhookID)
		}
	}
	for _, h := range holds {
		ids = append(ids, h.WebhookID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// affectsWebhook reports whether an outcome may change the row of its webhook.
func (o *Outcome) affectsWebhook() bool {
	return o.Counts || o.Gone || o.Lost || o.Resets || o.SwitchesOn != ""
}

// recordOutcomes updates the deliveries. If any outcome may affect its webhook,
// recordOutcomes returns the set of the ids of the updated deliveries. Otherwise the set
// is empty.
func (tx *Tx) recordOutcomes(ctx context.Context, outcomes []Outcome) (map[string]bool, error) {
	recorded := map[string]bool{}
	returning := slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.affectsWebhook() })
	rows := make([][]any, len(outcomes))
	for i, o := range outcomes {
		log, err := json.Marshal(o.Log)
		if err != nil {
			return nil, fmt.Errorf("encode log: %w", err)
		}
		var ended board.Instant
		if o.Next == 0 {
			ended = tx.now
		}
		rows[i] = []any{o.ID, o.PreviousAttempts, string(o.Status), flag(o.Next != 0), null(o.Next), o.Attempts, o.Reason, null(o.HTTPStatus),
			null(ended), string(log)}
	}
	// The bounds limit the update to the partitions with these ids.
	var lowest, highest string
	for i, o := range outcomes {
		if i == 0 || o.ID < lowest {
			lowest = o.ID
		}
		highest = max(highest, o.ID)
	}
	return recorded, sqldb.Batches(rows, func(n int, args []any) error {
		first, last := fmt.Sprintf("$%d", len(args)+1), fmt.Sprintf("$%d", len(args)+2)
		text := `WITH v (id, was, status, retry, due_at, attempts, reason, http_status, ended_at, log) AS (` + typedValues(n, "TEXT",
			"BIGINT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "TEXT", "BIGINT", "BIGINT", "TEXT") + `)
			UPDATE deliveries SET status = v.status, retry = v.retry, due_at = v.due_at, attempts = v.attempts, reason = v.reason,
			http_status = v.http_status, ended_at = v.ended_at, log = v.log
			FROM v WHERE deliveries.id = v.id AND deliveries.attempts = v.was AND deliveries.due_at IS NOT NULL
			AND deliveries.id >= ` + first + ` AND deliveries.id <= ` + last
		args = append(args, lowest, highest)
		if !returning {
			return tx.exec(ctx, text, args...)
		}
		return tx.each(ctx, text+" RETURNING deliveries.id", args, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			recorded[id] = true
			return err
		})
	})
}

// typedValues returns a VALUES list with the given number of rows and column types. The
// first row casts its parameters, because PostgreSQL assumes that untyped parameters are
// text.
func typedValues(rows int, types ...string) string {
	var first strings.Builder
	for i, t := range types {
		fmt.Fprintf(&first, ", CAST($%d AS %s)", i+1, t)
	}
	untyped := len(sqldb.Values(1, len(types)))
	return "VALUES (" + first.String()[2:] + ")" + sqldb.Values(rows, len(types))[untyped:]
}

// recordFailures updates the failure counts of webhooks, and disables webhooks as
// board.DeliveryEffect decides. A successful test enables its webhook.
func (tx *Tx) recordFailures(ctx context.Context, outcomes []Outcome, recorded map[string]bool) error {
	failuresOf := map[string]int{} // current failure counts, by webhook id
	for _, o := range outcomes {
		if !recorded[o.ID] || !o.affectsWebhook() {
			continue
		}
		failures, known := failuresOf[o.WebhookID]
		if !known {
			if _, err := tx.one(ctx, "SELECT failures FROM webhooks WHERE id = $1", []any{o.WebhookID}, &failures); err != nil {
				return err
			}
		}
		effect := board.DeliveryEffect{
			Delivered: o.Status == board.DeliveryDelivered, Counts: o.Counts, Gone: o.Gone, OwnerLost: o.Lost,
		}
		after, off := effect.After(failures)
		failuresOf[o.WebhookID] = after
		if effect.Delivered && o.SwitchesOn != "" {
			if err := tx.exec(ctx, `UPDATE webhooks SET off = '', off_at = NULL, failures = 0, held_since = NULL,
				held_until = NULL, owner_id = $1 WHERE id = $2`, o.SwitchesOn, o.WebhookID); err != nil {
				return err
			}
		} else if after != failures {
			if err := tx.exec(ctx, "UPDATE webhooks SET failures = $1 WHERE id = $2", after, o.WebhookID); err != nil {
				return err
			}
		}
		if off == "" {
			continue
		}
		if err := tx.disableWebhook(ctx, o.WebhookID, off); err != nil {
			return err
		}
	}
	return nil
}

// MarkDelivering records that attempts to send the deliveries are in progress.
func (db *DB) MarkDelivering(ctx context.Context, ids []string) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, id := range ids {
			if err := tx.exec(ctx, "UPDATE deliveries SET status = $1 WHERE id = $2 AND due_at IS NOT NULL",
				string(board.DeliveryDelivering), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeletePendingDeliveries deletes the deliveries that remain of a deleted webhook. It
// does nothing if the webhook still exists.
func (db *DB) DeletePendingDeliveries(ctx context.Context, webhookID string) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		return tx.exec(ctx, "DELETE FROM deliveries WHERE webhook_id = $1 AND NOT EXISTS (SELECT 1 FROM webhooks h WHERE h.id = $1)", webhookID)
	})
}
