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

// What the sender of deliveries reads and writes. It acts for the service.

const dispatchSelect = "SELECT id, webhook_id, COALESCE(board_id, ''), kind, attempts, due_at, created_at, COALESCE(switches_on, ''), log, body FROM deliveries "

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
		if string(log) != "[]" { // as most are, whose first attempt this is
			if err := json.Unmarshal(log, &d.Log); err != nil {
				return fmt.Errorf("log of %s: %w", d.ID, err)
			}
		}
		out = append(out, d)
		return nil
	})
	return out, err
}

// Queue is the open deliveries of one webhook.
type Queue struct {
	WebhookID string
	FirstDue  board.Instant // of the next attempt of any of them
}

// Queues are the webhooks that have open deliveries. It costs two looks into an
// index for each of them, however many deliveries there are.
func (db *DB) Queues(ctx context.Context) (out []Queue, err error) {
	err = db.Read(ctx, board.System(), func(v *View) error {
		out = nil
		return v.each(ctx, `WITH RECURSIVE q (id) AS (SELECT min(webhook_id) FROM deliveries WHERE due_at IS NOT NULL
			UNION ALL SELECT (SELECT min(d.webhook_id) FROM deliveries d WHERE d.due_at IS NOT NULL AND d.webhook_id > q.id) FROM q WHERE q.id IS NOT NULL)
			SELECT q.id, (SELECT min(d.due_at) FROM deliveries d WHERE d.webhook_id = q.id AND d.retry = 0 AND d.due_at IS NOT NULL),
			(SELECT min(d.due_at) FROM deliveries d WHERE d.webhook_id = q.id AND d.retry = 1 AND d.due_at IS NOT NULL) FROM q WHERE q.id IS NOT NULL`,
			nil, func(rows *sql.Rows) error {
				var (
					q            Queue
					fresh, again sql.NullInt64
				)
				err := rows.Scan(&q.WebhookID, &fresh, &again)
				q.FirstDue = min(board.Instant(fresh.Int64), v.now) // see Due
				if !fresh.Valid || again.Valid && again.Int64 < fresh.Int64 {
					q.FirstDue = board.Instant(again.Int64)
				}
				out = append(out, q)
				return err
			})
	})
	return out, err
}

// Due is deliveries of a webhook whose time has come.
type Due struct {
	Deliveries []Dispatch     // first attempts before retries, each oldest first
	Last       DeliveryCursor // of the first attempts, when there were as many as asked for; zero when these are all
	Next       board.Instant  // when the next of the others is due; 0 for never
}

// DeliveryCursor is where a first attempt stands among those of its webhook. The zero
// value is before all.
type DeliveryCursor struct {
	DueAt board.Instant
	ID    string
}

// Due reads at most limit first attempts that stand behind a place, and at most
// as many retries. A first attempt is always due: one of a time to come was
// written before the clock was set back.
func (db *DB) Due(ctx context.Context, webhookID string, after DeliveryCursor, limit int) (out Due, err error) {
	const (
		of    = "WHERE webhook_id = $1 AND retry = 0 AND due_at IS NOT NULL AND (due_at, id) > ($2, $3) ORDER BY due_at, id LIMIT $4"
		yet   = "WHERE webhook_id = $1 AND retry = 1 AND due_at IS NOT NULL AND due_at <= $2 ORDER BY due_at, id LIMIT $3"
		later = "SELECT COALESCE(min(due_at), 0) FROM deliveries WHERE webhook_id = $1 AND retry = 1 AND due_at IS NOT NULL AND due_at > $2"
	)
	err = db.Read(ctx, board.System(), func(v *View) error {
		first, err := v.dispatches(ctx, of, webhookID, int64(after.DueAt), after.ID, limit)
		if err != nil {
			return err
		}
		out = Due{Deliveries: first}
		if len(first) == limit {
			last := &first[limit-1]
			out.Last = DeliveryCursor{last.DueAt, last.ID}
		}
		// Most webhooks have no retry at all.
		if _, err := v.one(ctx, later, []any{webhookID, int64(0)}, &out.Next); err != nil || out.Next == 0 || out.Next > v.now {
			return err
		}
		again, err := v.dispatches(ctx, yet, webhookID, int64(v.now), limit)
		if err != nil {
			return err
		}
		out.Deliveries = append(first, again...)
		_, err = v.one(ctx, later, []any{webhookID, int64(v.now)}, &out.Next)
		return err
	})
	return out, err
}

// Reschedule puts retries to where they belong whose last attempt was, by now, in
// time to come: it was before the clock was set back. Each keeps its pause. Without
// that they would wait until the clock is where it was.
func (db *DB) Reschedule(ctx context.Context) error {
	type moved struct {
		id         string
		was, pause int64
	}
	var all []moved
	if err := db.Stream(ctx, board.System(), func(v *View) error {
		return v.each(ctx, "SELECT id, due_at, log FROM deliveries WHERE retry = 1 AND due_at IS NOT NULL AND due_at > $1", []any{int64(v.now)}, func(rows *sql.Rows) error {
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
				return fmt.Errorf("log of %s: %w", id, err)
			}
			if n := len(attempts); n > 0 && attempts[n-1].At > v.now {
				all = append(all, moved{id, int64(due), int64(max(0, due-attempts[n-1].At))})
			}
			return nil
		})
	}); err != nil || len(all) == 0 {
		return err
	}
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, m := range all {
			if err := tx.exec(ctx, "UPDATE deliveries SET due_at = $1 WHERE id = $2 AND due_at = $3", int64(tx.now)+m.pause, m.id, m.was); err != nil {
				return err
			}
		}
		return nil
	})
}

// Target is what a delivery's webhook is at the time of an attempt.
type Target struct {
	Found    bool          // false: the webhook was deleted
	Refusal  string        // why this delivery must not be sent; "" when it may
	Lost     bool          // the refusal is that the owner can no longer manage what the webhook covers
	Address  string        // empty when refused
	Secrets  []string      // to sign with, the newest first
	Failures int           // failed deliveries in a row
	Held     bool          // the log says that deliveries are held
	Until    board.Instant // when the pause ends that the receiver asked for; 0 for none
	Sealed   error         // why its address or secrets cannot be opened; nil when they are
}

// Targets looks up where deliveries go, and whether each may go there now: the
// webhook is on, its board not confidential, its owner entitled.
func (db *DB) Targets(ctx context.Context, deliveries []Dispatch) ([]Target, error) {
	out := make([]Target, len(deliveries))
	err := db.Read(ctx, board.System(), func(v *View) error {
		type asked struct{ webhook, board, person string }
		var rows [][]any
		places, at := map[asked]int{}, make([]int, len(deliveries)) // in rows
		for i, d := range deliveries {
			q := asked{d.WebhookID, d.BoardID, d.SwitchesOn}
			place, known := places[q]
			if !known {
				place = len(rows)
				places[q] = place
				rows = append(rows, []any{place, d.WebhookID, d.BoardID, optional(d.SwitchesOn)})
			}
			at[i] = place
		}
		found := make([]webhookState, len(rows))
		err := sqldb.Batches(rows, func(n int, args []any) error { return v.webhookStates(ctx, n, args, found) })
		for i := range deliveries {
			if err == nil {
				out[i] = v.target(&deliveries[i], &found[at[i]])
			}
		}
		return err
	})
	return out, err
}

// webhookState is what a webhook, its board and the person who has to be entitled
// are: who switches it on, else its owner.
type webhookState struct {
	found                              bool
	hookBoard, visibility, member, own sql.NullString
	off                                string
	failures                           int
	address, secret, old               []byte
	held, heldUntil, until, trashed    sql.NullInt64
}

// webhookStates reads webhooks. The arguments are, for each, its place in found,
// its id, a board and the person who switches it on.
func (v *View) webhookStates(ctx context.Context, n int, args []any, found []webhookState) error {
	return v.each(ctx, `WITH q (place, webhook_id, board_id, person_id) AS (`+typedValues(n, "BIGINT", "TEXT", "TEXT", "TEXT")+`)
		SELECT q.place, h.board_id, h.off, h.failures, h.held_since, h.held_until, h.address, h.secret, h.old_secret, h.old_secret_until, COALESCE(w.trashed_at, t.trashed_at),
		b.visibility, wm.role, bm.role
		FROM q JOIN webhooks h ON h.id = q.webhook_id JOIN workspaces w ON w.id = h.workspace_id LEFT JOIN boards t ON t.id = h.board_id LEFT JOIN boards b ON b.id = q.board_id
		LEFT JOIN users u ON u.id = COALESCE(q.person_id, h.owner_id) AND u.deleted_at IS NULL
		LEFT JOIN workspace_members wm ON wm.workspace_id = h.workspace_id AND wm.user_id = u.id
		LEFT JOIN board_members bm ON bm.board_id = h.board_id AND bm.user_id = u.id`, args, func(rows *sql.Rows) error {
		var (
			place int
			w     = webhookState{found: true}
		)
		if err := rows.Scan(&place, &w.hookBoard, &w.off, &w.failures, &w.held, &w.heldUntil, &w.address, &w.secret, &w.old, &w.until, &w.trashed, &w.visibility, &w.member, &w.own); err != nil {
			return err
		}
		found[place] = w
		return nil
	})
}

// target is what a webhook is to one of its deliveries.
func (v *View) target(d *Dispatch, w *webhookState) Target {
	t := Target{Found: w.found, Failures: w.failures, Held: w.held.Valid}
	if !t.Found {
		return t
	}
	if t.Held && w.heldUntil.Valid && board.Instant(w.heldUntil.Int64) > v.now {
		t.Until = board.Instant(w.heldUntil.Int64)
	}
	seen := board.Visibility(w.visibility.String)
	test := d.Kind == board.KindWebhookTest
	switch {
	case w.off != "" && !test:
		t.Refusal = "the webhook is off"
	case w.trashed.Valid: // the webhook waits with it, and works again when it is restored
		t.Refusal = "what the webhook covers is in the trash"
	case d.BoardID != "" && !w.visibility.Valid:
		t.Refusal = "the board is gone"
	case seen == board.Confidential:
		t.Refusal = "the board is confidential"
	case test && d.SwitchesOn == "": // always delivered: who asked for it was entitled then
	case !board.Covers(!w.hookBoard.Valid, board.WorkspaceRole(w.member.String), board.Role(w.own.String), seen):
		t.Refusal, t.Lost = "the webhook's owner can no longer manage what it covers", d.SwitchesOn == ""
	case !w.hookBoard.Valid && d.BoardID != "" && seen != board.VisibleToWorkspace:
		t.Refusal = "the board is not open to the whole workspace any more"
	}
	if t.Refusal == "" {
		t.Sealed = v.openTarget(&t, d.WebhookID, w.address, w.secret, w.old, w.until)
	}
	return t
}

// openTarget opens what is sealed of a webhook.
func (v *View) openTarget(t *Target, id string, address, secret, old []byte, oldUntil sql.NullInt64) (err error) {
	if t.Address, err = v.unseal(id, "address", address); err != nil {
		return err
	}
	plain, err := v.unseal(id, "secret", secret)
	if err != nil {
		return err
	}
	t.Secrets = []string{plain}
	if oldUntil.Valid && board.Instant(oldUntil.Int64) > v.now {
		if plain, err = v.unseal(id, "old-secret", old); err != nil {
			return err
		}
		t.Secrets = append(t.Secrets, plain)
	}
	return nil
}

// Outcome is what came of an attempt, or of the decision not to make one.
type Outcome struct {
	Dispatch       // with the attempts and the log as they are now
	Was        int // the attempts before
	Status     board.DeliveryStatus
	Reason     string
	HTTPStatus int           // of the last answer; 0 for none
	Next       board.Instant // of the next attempt; 0 when there is none
	Counts     bool          // a failed delivery, of which ten in a row switch the webhook off
	Resets     bool          // a success that may end a row of failures
	Gone       bool          // the receiver answered 410
	Lost       bool          // the owner can no longer manage what the webhook covers
}

// Hold says since when a webhook's receiver fails, or asks for fewer requests; 0
// that it takes deliveries again.
type Hold struct {
	WebhookID string
	Since     board.Instant
	Until     board.Instant // when the pause ends that it asked for; 0 for none
}

// Record writes what came of attempts, in their order: the deliveries, the
// failures in a row of their webhooks, and what follows from those. A delivery
// that somebody else recorded since, or that is gone, stays as it is.
func (db *DB) Record(ctx context.Context, outcomes []Outcome, holds []Hold) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		// A webhook is locked before its deliveries, as by who changes or deletes it.
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
			if err := tx.exec(ctx, "UPDATE webhooks SET held_since = $1, held_until = $2 WHERE id = $3", nullable(h.Since), nullable(h.Until), h.WebhookID); err != nil {
				return err
			}
		}
		return nil
	})
}

// affectedWebhooks are the webhooks whose own rows change, by id.
func affectedWebhooks(outcomes []Outcome, holds []Hold) []string {
	var ids []string
	for _, o := range outcomes {
		if o.bears() {
			ids = append(ids, o.WebhookID)
		}
	}
	for _, h := range holds {
		ids = append(ids, h.WebhookID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// bears tells whether an outcome bears on its webhook.
func (o *Outcome) bears() bool {
	return o.Counts || o.Gone || o.Lost || o.Resets || o.SwitchesOn != ""
}

func nullable(at board.Instant) any {
	if at == 0 {
		return nil
	}
	return int64(at)
}

// recordOutcomes writes deliveries, and answers the ids of those that it wrote
// when one of them bears on its webhook.
func (tx *Tx) recordOutcomes(ctx context.Context, outcomes []Outcome) (map[string]bool, error) {
	recorded := map[string]bool{}
	bears := slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.bears() })
	rows := make([][]any, len(outcomes))
	for i, o := range outcomes {
		log, err := json.Marshal(o.Log)
		if err != nil {
			return nil, fmt.Errorf("encode log: %w", err)
		}
		var status, ended any
		if o.HTTPStatus != 0 {
			status = o.HTTPStatus
		}
		if o.Next == 0 {
			ended = int64(tx.now)
		}
		rows[i] = []any{o.ID, o.Was, string(o.Status), flag(o.Next != 0), nullable(o.Next), o.Attempts, o.Reason, status, ended, string(log)}
	}
	// The bounds say which parts of the table are looked into.
	var lowest, highest string
	for i, o := range outcomes {
		if i == 0 || o.ID < lowest {
			lowest = o.ID
		}
		highest = max(highest, o.ID)
	}
	return recorded, sqldb.Batches(rows, func(n int, args []any) error {
		first, last := fmt.Sprintf("$%d", len(args)+1), fmt.Sprintf("$%d", len(args)+2)
		text := `WITH v (id, was, status, retry, due_at, attempts, reason, http_status, ended_at, log) AS (` + typedValues(n, "TEXT", "BIGINT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "TEXT", "BIGINT", "BIGINT", "TEXT") + `)
			UPDATE deliveries SET status = v.status, retry = v.retry, due_at = v.due_at, attempts = v.attempts, reason = v.reason,
			http_status = v.http_status, ended_at = v.ended_at, log = v.log
			FROM v WHERE deliveries.id = v.id AND deliveries.attempts = v.was AND deliveries.due_at IS NOT NULL
			AND deliveries.id >= ` + first + ` AND deliveries.id <= ` + last
		args = append(args, lowest, highest)
		if !bears {
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

// typedValues is VALUES of so many rows, of which the first says the types of
// the columns: PostgreSQL takes bare parameters for texts.
func typedValues(rows int, types ...string) string {
	var first strings.Builder
	for i, t := range types {
		fmt.Fprintf(&first, ", CAST($%d AS %s)", i+1, t)
	}
	bare := len(sqldb.Values(1, len(types)))
	return "VALUES (" + first.String()[2:] + ")" + sqldb.Values(rows, len(types))[bare:]
}

// recordFailures updates the consecutive failures of webhooks and turns webhooks
// off or on as board.DeliveryEffect decides. A test that proves a receiver turns
// its webhook on.
func (tx *Tx) recordFailures(ctx context.Context, outcomes []Outcome, recorded map[string]bool) error {
	failuresOf := map[string]int{} // of the webhooks whose count was read
	for _, o := range outcomes {
		if !recorded[o.ID] || !o.bears() {
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
		if err := tx.switchOff(ctx, o.WebhookID, off); err != nil {
			return err
		}
	}
	return nil
}

// MarkDelivering marks deliveries whose attempts are in progress.
func (db *DB) MarkDelivering(ctx context.Context, ids []string) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, id := range ids {
			if err := tx.exec(ctx, "UPDATE deliveries SET status = $1 WHERE id = $2 AND due_at IS NOT NULL", string(board.DeliveryDelivering), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeletePendingDeliveries deletes the open deliveries of a deleted webhook.
func (db *DB) DeletePendingDeliveries(ctx context.Context, webhookID string) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		return tx.exec(ctx, "DELETE FROM deliveries WHERE webhook_id = $1 AND NOT EXISTS (SELECT 1 FROM webhooks h WHERE h.id = $1)", webhookID)
	})
}
