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

// A stream ends when its caller leaves, even in the middle of a statement.
func TestAStreamEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		db := apptest.OpenStore(t, database)
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- db.Stream(ctx, board.System(), func(v *store.View) error {
				if _, err := v.Raw().Strings(ctx, "SELECT 'begun'"); err != nil {
					return err
				}
				time.AfterFunc(50*time.Millisecond, leave)
				_, err := v.Raw().Strings(ctx, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) "+
					"SELECT CAST(count(*) AS TEXT) FROM n")
				return err
			})
		}()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the stream ended with %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Error("the stream continues")
		}
		if got := apptest.Select(t, db, "SELECT 'there'"); len(got) != 1 {
			t.Errorf("the next stream has %v", got)
		}
	})
}
