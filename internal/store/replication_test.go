package store_test

import (
	"context"
	"errors"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// PostgreSQL reports a commit that no standby has only as a warning. Here, a
// trigger at the commit raises the same warning.
func TestCommitWithoutStandbyIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, apptest.PostgresURL(t))
	ctx := t.Context()
	change := func(texts ...string) error {
		return db.Write(ctx, board.System(), func(tx *store.Tx) error {
			for _, text := range texts {
				if err := tx.Change(ctx, text); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := change(`CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
			RAISE WARNING USING ERRCODE = '01000', MESSAGE = 'canceling wait for synchronous replication due to user request'; RETURN NULL; END $f$`,
		"CREATE CONSTRAINT TRIGGER warns AFTER INSERT ON settings DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.key = 'alone') "+
			"EXECUTE FUNCTION warn()"); err != nil {
		t.Fatal(err)
	}
	var f *board.Fault
	if err := change("INSERT INTO settings (key, value) VALUES ('alone', 'x')"); !errors.As(err, &f) || f.Code != board.CodeUnavailable {
		t.Errorf("a commit that no standby has ended with %v, want unavailable", err)
	}
	if got := apptest.Select(t, db, "SELECT value FROM settings WHERE key = 'alone'"); len(got) != 1 {
		t.Errorf("the commit is missing (%q), so the trigger does not imitate PostgreSQL", got)
	}
	if err := change("INSERT INTO settings (key, value) VALUES ('together', 'x')"); err != nil {
		t.Errorf("the next commit ended with %v", err)
	}
}

// The stored response to a key is replayed only once a synchronous standby has the
// first call's changes. PostgreSQL waits for the standby at the end of a
// transaction that wrote.
func TestReplayWaitsForTheStandby(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, apptest.PostgresURL(t))
	claim := func() (stored *store.Stored, wrote []string) {
		t.Helper()
		if err := db.Write(t.Context(), board.Person("usr_x"), func(tx *store.Tx) (err error) {
			if stored, err = tx.Claim(t.Context(), "key", "create_card", []byte("sum")); err != nil {
				return err
			}
			if stored == nil {
				return tx.Keep(t.Context(), "key", store.Stored{Answer: []byte("{}")})
			}
			wrote, err = tx.Raw().Strings(context.WithoutCancel(t.Context()), "SELECT pg_current_xact_id_if_assigned()::text "+
				"WHERE pg_current_xact_id_if_assigned() IS NOT NULL")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return stored, wrote
	}
	if stored, _ := claim(); stored != nil {
		t.Fatalf("the first call found a stored response: %+v", stored)
	}
	if stored, wrote := claim(); stored == nil || len(wrote) != 1 {
		t.Errorf("the second call found %+v in %d writing transactions, want a response and one transaction", stored, len(wrote))
	}
}
