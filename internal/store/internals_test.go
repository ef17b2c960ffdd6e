package store

import "context"

// VisibleCondition is the SQL condition that is true if a person can see a board.
const VisibleCondition = visible

// Change runs an arbitrary statement.
func (tx *Tx) Change(ctx context.Context, text string, args ...any) error {
	_, err := tx.affected(ctx, text, args...)
	return err
}

// ExplainAll returns the plans of the queries that fn runs.
func (v *View) ExplainAll(fn func(*View) error) ([]string, error) {
	spy := &explainer{Runner: v.run, postgres: v.db.dialect().RowLocks}
	other := *v
	other.run = spy
	err := fn(&other)
	return spy.plans, err
}
