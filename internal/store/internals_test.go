package store

import (
	"context"
)

// VisibleCondition is what the lists of boards and cards select by.
const VisibleCondition = visible

// Change runs any SQL.
func (tx *Tx) Change(ctx context.Context, text string, args ...any) error {
	_, err := tx.affected(ctx, text, args...)
	return err
}

// Explained are the plans of the queries that fn makes.
func (v *View) Explained(fn func(*View) error) ([]string, error) {
	spy := &explainer{Runner: v.run, postgres: v.db.dialect().RowLocks}
	other := *v
	other.run = spy
	err := fn(&other)
	return spy.plans, err
}
