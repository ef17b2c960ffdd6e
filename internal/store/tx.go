package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// Tx reads and writes in one transaction. Its loaders lock the board of each record, so that
// the record cannot change before the transaction ends.
type Tx struct {
	*View
	quiet        bool
	undoes       int64  // version of the change that the next events take back; 0 for none
	workspace    string // not empty: the change is about this workspace, not about a board
	organization string // not empty: the change is about this organization
	spent        *board.Rate
	claim        claim        // the idempotency key of the transaction
	onLoad       func() error // called once after the first record on a board was loaded; nil for none
	unitOfWork
}

// unitOfWork is what a transaction has loaded and changed. A failed Subtransaction discards it.
type unitOfWork struct {
	pending   []pendingEvent
	touched   []string // boards whose rows must be written, in the order of their first change
	held      []string // boards that are locked
	expected  []string // boards for which expectAudience announced queries
	regranted []string // workspaces, boards and people whose permissions changed
	drafted   int64    // number of events that a draft has written, or whose versions a job has reserved

	audited    int           // number of pending events that an audit entry already covers
	callID     string        // the id of the next audit entry; "" if it is not chosen yet
	noted      board.Changes // for the audit, in addition to the activity
	notedBoard string        // the board that noted is about; empty for none
	comment    string        // the comment whose text is in the stored response; empty for none

	sizes        map[string]recordSize // of the records that were loaded or written, by id
	grown        map[string]growth     // changes to the storage counters, by board
	newTemplates map[string]int64      // their bytes, by organization

	effects Commit
}

// Spent records the budget that the transaction has spent from, for the caller.
func (tx *Tx) Spent(rate board.Rate) { tx.spent = &rate }

// Rate returns the budget that the transaction has spent from, or nil.
func (tx *Tx) Rate() *board.Rate { return tx.spent }

type pendingEvent struct {
	access *board.Access
	event  board.Event
	id     string
}

// Quiet keeps the events of the transaction from webhooks, notifications and rules. It is
// for imports and for copies between boards. Versions and activity are written as usual.
func (tx *Tx) Quiet() { tx.quiet = true }

// Undoes makes the following events name the version of the change that they take back. 0
// ends this.
func (tx *Tx) Undoes(version int64) { tx.undoes = version }

// exec runs a statement whose row count is not needed. On PostgreSQL, it is sent with the
// statements that follow, so a later call may return its error. The transaction fails in
// any case.
func (tx *Tx) exec(ctx context.Context, text string, args ...any) error {
	defer tx.statement(text).End()
	if err := tx.run.Defer(ctx, text, args...); err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	return nil
}

// affected is like exec, but returns the number of rows that changed.
func (tx *Tx) affected(ctx context.Context, text string, args ...any) (int64, error) {
	defer tx.statement(text).End()
	res, err := tx.run.Exec(ctx, text, args...)
	if err != nil {
		return 0, fmt.Errorf("exec: %w", err)
	}
	return res.RowsAffected()
}

// lock locks a row, usually that of a board. It must be called before the row, or
// anything on the board, is read. The query selects the row to lock for the record $1.
// SQLite has one writer and needs no lock.
func (tx *Tx) lock(ctx context.Context, text string, id any) error {
	if !tx.db.dialect().RowLocks {
		return nil
	}
	record, named := id.(string)
	if named {
		if locked, err := tx.lockedBoard(record); err != nil || locked {
			return err
		}
	}
	if named && len(tx.held) == 0 { // a transaction that holds a lock must not wait in the queue
		tx.run.AwaitTurn(ctx, record)
		defer func() {
			if len(tx.held) > 0 {
				tx.run.Learn(record, tx.held[0])
			}
		}()
	}
	return tx.each(ctx, text, []any{id}, tx.hold)
}

// lockedBoard reports whether the transaction is shared with other writes, and has locked
// the board that the records are known to be on. The loaders check that the records are
// still on this board.
func (tx *Tx) lockedBoard(records ...string) (bool, error) {
	boardID, err := tx.run.Locked(records...)
	if err != nil || boardID == "" {
		return false, err
	}
	tx.holdBoard(boardID)
	return true, nil
}

// announced is a query that the caller of lockToLoad runs after loading the record.
type announced struct {
	text string
	args []any
}

// lockToLoad is lock for a record that authorized loads next. It announces the query load
// and any further queries, so that all of them share a round trip.
func (tx *Tx) lockToLoad(ctx context.Context, text, load, id string, then ...announced) error {
	locked, err := tx.lockedBoard(id)
	if err != nil {
		return err
	}
	if !locked {
		tx.run.Expect(text, id)
	}
	tx.run.Expect(load, id, tx.caller.UserID)
	for _, q := range then {
		tx.run.Expect(q.text, q.args...)
	}
	if locked {
		tx.expectAudience(tx.held[len(tx.held)-1], id)
		return nil
	}
	return tx.lock(ctx, text, id)
}

// expectAudience announces the queries that flush runs for an event on a board: for the
// webhooks that cover it, and for the people who watch the board or, if the record is a
// card, the card.
func (tx *Tx) expectAudience(boardID, record string) {
	if tx.quiet || slices.Contains(tx.expected, boardID) {
		return
	}
	tx.expected = append(tx.expected, boardID)
	tx.run.ExpectLater(subscribersOf, boardID)
	var cards []string
	if strings.HasPrefix(record, "crd_") {
		cards = []string{record}
	}
	text, args := watchersOf(cards, []string{boardID})
	tx.run.ExpectLater(text, args...)
}

// LockBoardsOf locks the boards of two records (cards, lists or boards) before
// either is loaded. It locks them in the order of their ids, so that two
// transactions that need the same boards cannot deadlock.
func (tx *Tx) LockBoardsOf(ctx context.Context, one, other string) error {
	if !tx.db.dialect().RowLocks {
		return nil
	}
	if locked, err := tx.lockedBoard(one, other); err != nil || locked {
		return err
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
	tx.holdBoard(id)
	return err
}

func (tx *Tx) holdBoard(id string) {
	tx.held = append(tx.held, id)
	tx.now = max(tx.now, board.InstantOf(tx.db.opts.Clock()))
}

// locked returns sqldb.ErrRetry if the board is not locked. In that case, a record was
// moved there while this transaction waited for the lock of the record's former board.
// The engine runs the transaction again.
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
		err = tx.loaded(boardID, id)
	}
	return err
}

// loaded runs the checks that are possible only after a record on a board was loaded. They
// verify that the board is locked, and that the request was not made before.
func (tx *Tx) loaded(boardID, record string) error {
	if err := tx.locked(boardID); err != nil {
		return err
	}
	tx.expectAudience(boardID, record)
	if tx.onLoad == nil {
		return nil
	}
	check := tx.onLoad
	tx.onLoad = nil
	return check()
}

// Emit records a change to a loaded board. The change gets the board's next version and
// an activity entry. It also gets a delivery in the outbox for each subscribed webhook,
// unless the board is confidential or the transaction is quiet.
func (tx *Tx) Emit(boardID string, e board.Event) {
	a := tx.On(boardID)
	if g := tx.caller.Guest; g != nil { // a guest is an actor without an id
		e.Changes["guestName"] = board.FromTo{To: g.Name}
	}
	if tx.undoes != 0 {
		e.Changes["undoes"] = board.FromTo{To: tx.undoes}
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

// regrant records that permissions changed in a workspace, on a board or for a person.
// flush then disables the webhooks and rules whose owners lost their permissions.
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

// Scope returns the board that the transaction loaded last, and its workspace. If the
// change is about a workspace, it returns only that workspace. Either id may be empty.
// The audit and stored responses contain the scope.
func (tx *Tx) Scope() (workspaceID, boardID string) {
	if tx.workspace != "" {
		return tx.workspace, ""
	}
	if n := len(tx.seen); n > 0 {
		return tx.seen[n-1].WorkspaceID, tx.seen[n-1].BoardID
	}
	return "", ""
}

// OnOneBoard reports whether the transaction has changed nothing beside one board.
func (tx *Tx) OnOneBoard() bool {
	return len(tx.touched) <= 1 && tx.workspace == "" && tx.organization == ""
}

// flush completes the transaction. It writes the activity, the deliveries and the
// notifications of the events that Emit collected, and the row of each changed board.
// It also checks the storage quota, and disables the webhooks and rules whose owners
// lost their permissions.
func (tx *Tx) flush(ctx context.Context) error {
	if err := tx.writeActivity(ctx); err != nil {
		return err
	}
	if err := tx.checkStorage(ctx); err != nil {
		return err
	}
	if len(tx.regranted) > 0 { // the announced queries may find webhooks that are disabled now
		tx.run.Forget()
	}
	for _, id := range tx.regranted {
		if err := tx.disableUncovered(ctx, id); err != nil {
			return fmt.Errorf("disable webhooks: %w", err)
		}
		if err := tx.disableRules(ctx, id); err != nil {
			return fmt.Errorf("disable rules: %w", err)
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
		if err := tx.exec(ctx, `UPDATE boards SET version = $1, open_cards = $2, done_cards = $3,
			all_cards = $4, open_lists = $5, next_number = $6, updated_at = $7, text_bytes = text_bytes + $8,
			activity_bytes = activity_bytes + $9 WHERE id = $10`, a.Version, a.OpenCards, a.DoneCards, a.AllCards, a.OpenLists,
			a.NextNumber, int64(tx.now), g.text, g.activity, id); err != nil {
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
			null(p.event.ListID), null(p.event.CardID), string(changes), null(tx.caller.Client), null(cause),
			null(tx.caller.TokenName)}
	}
	if err := tx.insert(ctx, "activity (board_id, version, id, type, at, actor_type, actor_id, list_id, card_id, changes, "+
		"client, cause, program)", rows); err != nil {
		return fmt.Errorf("write activity: %w", err)
	}
	return nil
}
