package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// Tx reads and writes in one transaction. Its loaders lock the board of the
// record, so that it cannot change before the transaction ends.
type Tx struct {
	*View
	quiet     bool
	workspace string // not empty: the change is about this workspace, not about a board

	organization string // not empty: the change is about this organization
	pending      []pendingEvent
	touched      []string // boards whose row must be written, in the order of their first change
	held         []string // boards that are locked

	regranted  []string   // workspaces, boards and people whose rights changed
	dispatched []Dispatch // deliveries that the commit passes to the sender
	notified   []string   // people whose notifications changed
	spent      *board.Rate

	switchedOff []board.Off // reasons for which webhooks were switched off

	drafted    int64         // events that a draft has written
	queued     bool          // a job was queued or cancelled
	shown      []string      // boards that became visible
	audited    int           // events that an audit entry already covers
	noted      board.Changes // for the audit, in addition to the activity
	notedBoard string        // the board that noted is about; empty for none

	sizes     map[string]recordSize // of the records that were loaded or written, by id
	grown     map[string]growth     // by board
	templates map[string]int64      // bytes of new templates, by organization
	stored    map[string]int64      // bytes that the transaction adds, by organization

	comment string // the comment whose text is in the stored response; empty for none
}

// Spent says from which budget the transaction has spent, for the caller.
func (tx *Tx) Spent(rate board.Rate) { tx.spent = &rate }

// Rate returns the budget that the transaction has spent from, or nil.
func (tx *Tx) Rate() *board.Rate { return tx.spent }

type pendingEvent struct {
	access *board.Access
	event  board.Event
	id     string
}

// Quiet keeps the transaction from sending events. It is for imports and for
// copies between boards. Versions and activity are written as usual.
func (tx *Tx) Quiet() { tx.quiet = true }

// exec runs a statement whose row count is not needed. PostgreSQL sends it with
// the statements that follow, so a later call may return its error. The
// transaction fails in any case.
func (tx *Tx) exec(ctx context.Context, text string, args ...any) error {
	defer tx.statement(text).End()
	if err := tx.run.Defer(ctx, text, args...); err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	return nil
}

// affected is exec that returns how many rows it changed.
func (tx *Tx) affected(ctx context.Context, text string, args ...any) (int64, error) {
	defer tx.statement(text).End()
	res, err := tx.run.Exec(ctx, text, args...)
	if err != nil {
		return 0, fmt.Errorf("exec: %w", err)
	}
	return res.RowsAffected()
}

// lock locks a board before anything on it is read. The query selects the board
// of $1. SQLite has one writer and needs no lock.
func (tx *Tx) lock(ctx context.Context, text string, id any) error {
	if !tx.db.dialect().RowLocks {
		return nil
	}
	if record, ok := id.(string); ok && len(tx.held) == 0 { // a transaction that holds a lock must not wait in the queue
		tx.run.AwaitTurn(ctx, record)
		defer func() {
			if len(tx.held) > 0 {
				tx.run.Learn(record, tx.held[0])
			}
		}()
	}
	return tx.each(ctx, text, []any{id}, tx.hold)
}

// lockToLoad is lock for a record that authorized loads next, in the same round trip.
func (tx *Tx) lockToLoad(ctx context.Context, text, load, id string) error {
	tx.run.Expect(text, id)
	tx.run.Expect(load, id, tx.caller.UserID)
	return tx.lock(ctx, text, id)
}

// LockBoardsOf locks the boards of two records (cards, lists or boards) before
// either is loaded. It locks them in the order of their ids, so that two
// transactions that need the same boards cannot deadlock.
func (tx *Tx) LockBoardsOf(ctx context.Context, one, other string) error {
	if !tx.db.dialect().RowLocks {
		return nil
	}
	const boards = `SELECT b.id FROM boards b WHERE b.id IN ($1, $2)
		OR b.id IN (SELECT board_id FROM cards WHERE id IN ($1, $2)) OR b.id IN (SELECT board_id FROM lists WHERE id IN ($1, $2)) ORDER BY b.id`
	if err := tx.each(ctx, boards+" FOR UPDATE OF b", []any{one, other}, tx.hold); err != nil {
		return err
	}
	// If a record was moved during the wait, the transaction starts again:
	// locking its new board now would break the order.
	now, err := tx.texts(ctx, boards, one, other)
	for _, id := range now {
		err = errors.Join(err, tx.locked(id))
	}
	return err
}

// hold records that a board is locked. It also reads the clock again, because
// the transaction may have waited, and a higher version of a board must not have
// an earlier time.
func (tx *Tx) hold(rows *sql.Rows) error {
	var id string
	err := rows.Scan(&id)
	tx.held = append(tx.held, id)
	tx.now = max(tx.now, board.InstantOf(tx.db.opts.Clock()))
	return err
}

// locked returns sqldb.ErrRetry if the board is not locked, because the record
// was moved there while this transaction waited for the lock of its former
// board. The engine then runs the transaction again.
func (tx *Tx) locked(boardID string) error {
	if tx.db.dialect().RowLocks && !slices.Contains(tx.held, boardID) {
		return sqldb.ErrRetry
	}
	return nil
}

// authorized is View.authorized for a record whose board was locked.
func (tx *Tx) authorized(ctx context.Context, need board.Capability, text, id string, dest ...any) error {
	boardID, err := tx.authorize(ctx, need, text, id, dest...)
	if err == nil {
		err = tx.locked(boardID)
	}
	return err
}

// Emit records a change of a board. The change gets the board's next version and
// an activity entry. It also gets a row in the outbox, unless the board is
// confidential or the transaction is quiet.
func (tx *Tx) Emit(boardID string, e board.Event) {
	a := tx.On(boardID)
	if g := tx.caller.Guest; g != nil { // a guest is an actor without an id
		e.Changes["guestName"] = board.FromTo{To: g.Name}
	}
	a.Version++
	tx.touch(a)
	copied := *a
	tx.pending = append(tx.pending, pendingEvent{access: &copied, event: e, id: tx.NewID("act_")})
}

// touch marks a board's own row as changed (its version or its counts).
func (tx *Tx) touch(a *board.Access) {
	if !slices.Contains(tx.touched, a.BoardID) {
		tx.touched = append(tx.touched, a.BoardID)
	}
}

// regrant records that rights changed: in a workspace, on a board or of a
// person. The commit then disables webhooks and rules whose owners lost theirs.
func (tx *Tx) regrant(id string) {
	if !slices.Contains(tx.regranted, id) {
		tx.regranted = append(tx.regranted, id)
	}
}

// BoardVersion returns the version of the board that this transaction changed
// last or, if it changed none, of the board that it loaded last. It returns 0 if
// there is no such board or the change is about a workspace.
func (tx *Tx) BoardVersion() int64 {
	if tx.workspace != "" {
		return 0
	}
	if n := len(tx.pending); n > 0 {
		return tx.On(tx.pending[n-1].access.BoardID).Version
	}
	if n := len(tx.seen); n > 0 {
		return tx.seen[n-1].Version
	}
	return 0
}

// Scope returns the workspace and the board that the transaction loaded last,
// for the audit and for stored responses. Either may be empty.
func (tx *Tx) Scope() (workspaceID, boardID string) {
	if tx.workspace != "" {
		return tx.workspace, ""
	}
	if n := len(tx.seen); n > 0 {
		return tx.seen[n-1].WorkspaceID, tx.seen[n-1].BoardID
	}
	return "", ""
}

// flush writes the changes that Emit collected and the row of each changed board.
func (tx *Tx) flush(ctx context.Context) error {
	if err := tx.writeActivity(ctx); err != nil {
		return err
	}
	if err := tx.checkStorage(ctx); err != nil {
		return err
	}
	for _, id := range tx.regranted {
		if err := tx.disableUncovered(ctx, id); err != nil {
			return fmt.Errorf("switch webhooks off: %w", err)
		}
		if err := tx.disableRules(ctx, id); err != nil {
			return fmt.Errorf("switch rules off: %w", err)
		}
	}
	due := tx.triggers()
	due.expectWatchers(tx)
	if err := tx.fanOut(ctx); err != nil {
		return err
	}
	if err := tx.notify(ctx, due); err != nil {
		return fmt.Errorf("write notifications: %w", err)
	}
	for _, id := range tx.touched {
		a, g := tx.On(id), tx.grown[id]
		if err := tx.exec(ctx, `UPDATE boards SET version = $1, open_cards = $2, all_cards = $3, open_lists = $4,
			next_number = $5, updated_at = $6, text_bytes = text_bytes + $7, activity_bytes = activity_bytes + $8 WHERE id = $9`,
			a.Version, a.OpenCards, a.AllCards, a.OpenLists, a.NextNumber, int64(tx.now), g.text, g.activity, id); err != nil {
			return err
		}
	}
	return tx.writeGrowth(ctx)
}

// writeActivity writes the changes that Emit collected to the boards' activity.
func (tx *Tx) writeActivity(ctx context.Context) error {
	rows := make([][]any, len(tx.pending))
	actor, cause := tx.caller.Actor, tx.caller.Cause
	if tx.quiet {
		cause = quietCause
	}
	for i, p := range tx.pending {
		changes, err := json.Marshal(p.event.Changes, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("encode changes: %w", err)
		}
		tx.grow(p.access.BoardID, 0, sizeOf(string(changes)))
		rows[i] = []any{p.access.BoardID, p.access.Version, p.id, string(p.event.Kind), int64(tx.now), string(actor.Type), actor.ID,
			null(p.event.ListID), null(p.event.CardID), string(changes), null(tx.caller.Client), null(cause)}
	}
	if err := tx.insert(ctx, "activity (board_id, version, id, type, at, actor_type, actor_id, list_id, card_id, changes, "+
		"client, cause)", rows); err != nil {
		return fmt.Errorf("write activity: %w", err)
	}
	return nil
}
