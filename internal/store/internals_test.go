package store

import (
	"context"
)

// VisibleCondition is the condition by which the lists of boards and cards select.
const VisibleCondition = visible

// Change runs any SQL.
func (tx *Tx) Change(ctx context.Context, text string, args ...any) error {
	_, err := tx.affected(ctx, text, args...)
	return err
}

// Explained returns the plans of the queries that fn runs.
func (v *View) Explained(fn func(*View) error) ([]string, error) {
	spy := &explainer{Runner: v.run, postgres: v.db.dialect().RowLocks}
	other := *v
	other.run = spy
	err := fn(&other)
	return spy.plans, err
}
