package store

import (
	"context"
	"database/sql"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/seal"
)

// RawView runs arbitrary queries in a view, without checking permissions. Apart from
// tests, only packages dbtool and apptest may use it, as the architecture test checks.
type RawView struct{ v *View }

// Raw returns a RawView of the view.
func (v *View) Raw() *RawView { return &RawView{v} }

// Query implements sqldb.Querier.
func (r *RawView) Query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return r.v.run.Query(ctx, text, args...)
}

// Each calls sqldb.Each.
func (r *RawView) Each(ctx context.Context, text string, args []any, scan func(*sql.Rows) error) error {
	return r.v.each(ctx, text, args, scan)
}

// One calls sqldb.One.
func (r *RawView) One(ctx context.Context, text string, args []any, dest ...any) (found bool, err error) {
	return r.v.one(ctx, text, args, dest...)
}

// Count returns the number that a query selects.
func (r *RawView) Count(ctx context.Context, text string, args ...any) (int, error) {
	return r.v.count(ctx, text, args...)
}

// Strings calls sqldb.Strings.
func (r *RawView) Strings(ctx context.Context, text string, args ...any) ([]string, error) {
	return r.v.texts(ctx, text, args...)
}

// Now returns the time of the view.
func (r *RawView) Now() board.Instant { return r.v.now }

// Keys returns the sealing keys of the server, or nil if it has none.
func (r *RawView) Keys() *seal.Keyring { return r.v.db.opts.Keys }

// RawTx is a RawView that can also write.
type RawTx struct {
	RawView
	tx *Tx
}

// Raw returns a RawTx of the transaction.
func (tx *Tx) Raw() *RawTx { return &RawTx{RawView{tx.View}, tx} }

// Exec runs a statement. Its error may be returned by a later call.
func (r *RawTx) Exec(ctx context.Context, text string, args ...any) error {
	return r.tx.exec(ctx, text, args...)
}

// Affected runs a statement and returns the number of rows that it changed.
func (r *RawTx) Affected(ctx context.Context, text string, args ...any) (int64, error) {
	return r.tx.affected(ctx, text, args...)
}

// LockBoard locks a board.
func (r *RawTx) LockBoard(ctx context.Context, id string) error { return r.tx.lock(ctx, boardLock, id) }

// LockBoardOfCard locks the board of a card.
func (r *RawTx) LockBoardOfCard(ctx context.Context, id string) error {
	return r.tx.lock(ctx, cardLock, id)
}

// ReindexCard locks a card's board and rebuilds the card's entries in the search index.
func (r *RawTx) ReindexCard(ctx context.Context, id string) error {
	if err := r.tx.lock(ctx, cardLock, id); err != nil {
		return err
	}
	if err := r.tx.exec(ctx, "DELETE FROM texts WHERE card_id = $1", id); err != nil {
		return err
	}
	return r.tx.indexCard(ctx, id)
}

// RepairRanks locks the board of a parent and gives the parent's children new ranks. It
// keeps their order.
func (r *RawTx) RepairRanks(ctx context.Context, s Siblings, parent string) error {
	if err := r.tx.lock(ctx, s.lock, parent); err != nil {
		return err
	}
	for _, text := range []string{
		// Temporary ranks of an interrupted rerank must not collide with new ranks.
		`UPDATE ` + s.Table + ` SET rank = '"' || rank WHERE ` + s.Parent + ` = $1 AND substr(rank, 1, 1) = '!'`,
		// Of two rows with the same rank, the newer one comes second.
		"UPDATE " + s.Table + " SET rank = rank || ' ' || id WHERE " + s.Parent + " = $1 AND EXISTS (SELECT 1 FROM " +
			s.Table + " AS o WHERE o." +
			s.Parent + " = $1 AND o.rank = " + s.Table + ".rank AND o.id < " + s.Table + ".id)",
	} {
		if err := r.tx.exec(ctx, text, parent); err != nil {
			return fmt.Errorf("separate equal ranks: %w", err)
		}
	}
	return r.tx.rerank(ctx, s, parent)
}

// SealKeys returns the ids of the keys under which secrets are sealed, with the current
// key first. On PostgreSQL, it locks the setting until the transaction ends.
func (r *RawTx) SealKeys(ctx context.Context) ([]string, error) {
	text := keySettingQuery
	if r.tx.db.dialect().RowLocks {
		text += " FOR UPDATE"
	}
	return r.tx.keySetting(ctx, text)
}
