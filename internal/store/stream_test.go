package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// A stream ends when its context is canceled, even in the middle of a statement.
func TestCanceledStreamEnds(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		db := apptest.OpenStore(t, database)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- db.Stream(ctx, board.System(), func(v *store.View) error {
				if _, err := v.Raw().Strings(ctx, "SELECT 'started'"); err != nil {
					return err
				}
				time.AfterFunc(50*time.Millisecond, cancel)
				_, err := v.Raw().Strings(ctx, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) "+
					"SELECT CAST(count(*) AS TEXT) FROM n")
				return err
			})
		}()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want %v", err, context.Canceled)
		}
		if got := apptest.Select(t, db, "SELECT 'next'"); len(got) != 1 {
			t.Errorf("got rows %v from the next query, want one", got)
		}
	})
}
