package store_test

import (
	"context"
	"errors"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// If a commit has reached no standby, PostgreSQL only warns. In this test, a trigger
// raises the same warning when the transaction commits.
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
		t.Errorf("got error %v for a commit that reached no standby, want unavailable", err)
	}
	if got := apptest.Select(t, db, "SELECT value FROM settings WHERE key = 'alone'"); len(got) != 1 {
		t.Errorf("got rows %q, want one; PostgreSQL commits despite the warning", got)
	}
	if err := change("INSERT INTO settings (key, value) VALUES ('together', 'x')"); err != nil {
		t.Errorf("got error %v for the next commit, want none", err)
	}
}

// The stored response for an idempotency key is replayed only after a synchronous standby
// has the changes of the first call. PostgreSQL waits for the standby when it commits a
// transaction that wrote, so the replay must write.
func TestReplayWaitsForTheStandby(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, apptest.PostgresURL(t))
	claim := func() (stored *store.StoredResponse, writeIDs []string) {
		t.Helper()
		if err := db.Write(t.Context(), board.Person("usr_x"), func(tx *store.Tx) (err error) {
			if stored, err = tx.ClaimKey(t.Context(), "key", "create_card", []byte("sum")); err != nil {
				return err
			}
			if stored == nil {
				return tx.SaveResponse(t.Context(), "key", store.StoredResponse{Body: []byte("{}")})
			}
			writeIDs, err = tx.Raw().Strings(context.WithoutCancel(t.Context()), "SELECT pg_current_xact_id_if_assigned()::text "+
				"WHERE pg_current_xact_id_if_assigned() IS NOT NULL")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return stored, writeIDs
	}
	if stored, _ := claim(); stored != nil {
		t.Fatalf("got stored response %+v in the first call, want none", stored)
	}
	if stored, writeIDs := claim(); stored == nil || len(writeIDs) != 1 {
		t.Errorf("got stored response %+v and %d transaction ids in the second call, want a response and one id", stored, len(writeIDs))
	}
}
