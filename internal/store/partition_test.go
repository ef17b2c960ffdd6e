package store_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const day = 24 * time.Hour

// openAt opens a database with the given clock.
func openAt(t *testing.T, database string, clock *apptest.Clock) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Database: database, Migrate: true, Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// insertDelivery inserts a delivery that was created now and is either open or has
// ended.
func insertDelivery(t *testing.T, db *store.DB, open bool) (id string) {
	t.Helper()
	if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		id = board.DeliveryID(tx.NewID("itg_"), 1)
		var due any
		if open {
			due = int64(tx.Now())
		}
		return tx.Change(t.Context(), `INSERT INTO deliveries (id, webhook_id, version, kind, status, due_at, reason, created_at, log, body)
			VALUES ($1, 'whk_x', 1, 'card.created', 'pending', $2, '', $3, '[]', '{}')`, id, due, int64(tx.Now()))
	}); err != nil {
		t.Fatal(err)
	}
	return id
}

func insertAudit(t *testing.T, db *store.DB) {
	t.Helper()
	if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		return tx.Change(t.Context(), "INSERT INTO audit (id, at, workspace_id, operation, actor_type, details) "+
			"VALUES ($1, $2, 'wsp_x', 'create_card', 'system', '{}')",
			tx.NewID("aud_"), int64(tx.Now()))
	}); err != nil {
		t.Fatal(err)
	}
}

// partitionRows returns the number of rows of each partition of a table, by name.
func partitionRows(t *testing.T, db *store.DB, table string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, name := range apptest.Select(t, db, "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "+
		"WHERE i.inhparent = to_regclass($1)", table) {
		out[name] = 0
		for range apptest.Select(t, db, "SELECT id FROM "+name) {
			out[name]++
		}
	}
	return out
}

// Over 120 days, partitions are created in advance and dropped when all of their rows have
// expired. No delivery that is younger than 30 days or still open is lost, even if
// housekeeping stops for three weeks.
func TestPartitionsAreCreatedAndDropped(t *testing.T) {
	t.Parallel()
	clock := &apptest.Clock{}
	clock.Stop()
	db := openAt(t, apptest.PostgresURL(t), clock)
	ended := map[string]time.Time{} // creation times by id
	open := map[string]bool{}
	var done store.PartitionChanges
	inDefault, audits := 0, 0
	for n := range 120 {
		for range 4 {
			ended[insertDelivery(t, db, false)] = clock.Now()
		}
		if n%10 == 3 {
			open[insertDelivery(t, db, true)] = true
		}
		insertAudit(t, db)
		audits++
		if n < 50 || n > 71 {
			changes, err := db.MaintainPartitions(t.Context())
			if err != nil {
				t.Fatalf("day %d: %v", n, err)
			}
			done.Created = append(done.Created, changes.Created...)
			done.Dropped = append(done.Dropped, changes.Dropped...)
		}
		stored := map[string]bool{}
		for _, id := range apptest.Select(t, db, "SELECT id FROM deliveries") {
			stored[id] = true
		}
		for id, at := range ended {
			if !stored[id] && clock.Now().Sub(at) <= board.DeliveryLifetime {
				t.Fatalf("day %d: a delivery from %s was lost", n, at.Format(time.DateOnly))
			}
		}
		for id := range open {
			if !stored[id] {
				t.Fatalf("day %d: the open delivery %s was lost", n, id)
			}
		}
		if n == 71 {
			inDefault = partitionRows(t, db, "deliveries")["deliveries_rest"]
		}
		clock.Advance(day)
	}
	if inDefault == 0 {
		t.Error("the default partition is empty after three weeks without housekeeping")
	}
	partitions := partitionRows(t, db, "deliveries")
	if len(partitions) > 9 || len(done.Created) < 17 || len(done.Dropped) < 12 {
		t.Errorf("after 120 days: got partitions %v, %v created and %v dropped, want at most 9, at least 17 and at least 12",
			partitions, done.Created, done.Dropped)
	}
	// Older deliveries that have ended are dropped with their partition. In the default partition,
	// they are deleted by age.
	if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		_, err := tx.PurgeDeliveries(t.Context(), 5000)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	oldest := clock.Now().Add(-board.DeliveryLifetime - 8*day)
	for _, id := range apptest.Select(t, db, "SELECT id FROM deliveries WHERE due_at IS NULL") {
		if ended[id].Before(oldest) {
			t.Errorf("a delivery from %s still exists, want none from before %s", ended[id].Format(time.DateOnly), oldest.Format(time.DateOnly))
		}
	}
	if n := len(apptest.Select(t, db, "SELECT id FROM audit")); n != audits {
		t.Errorf("got %d audit entries, want %d", n, audits)
	}
	if partitions := partitionRows(t, db, "audit"); len(partitions) < 3 {
		t.Errorf("got audit partitions %v, want at least 3", partitions)
	}
	checkPruning(t, db, clock)
}

// checkPruning checks, in PostgreSQL's query plans, that queries read only a few
// partitions.
func checkPruning(t *testing.T, db *store.DB, clock *apptest.Clock) {
	t.Helper()
	id := insertDelivery(t, db, false)
	touched := func(table string, plans []string) (names []string) {
		for _, line := range strings.Split(strings.Join(plans, "\n"), "\n") {
			if strings.Contains(line, "never executed") {
				continue
			}
			for name := range partitionRows(t, db, table) {
				if (strings.Contains(line, " on "+name+" ") || strings.Contains(line, " on "+name+"\n")) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		return names
	}
	for name, q := range map[string]struct {
		table string
		limit int // maximum number of partitions
		fn    func(*store.View) error
	}{
		"a delivery by its id": {"deliveries", 1, func(v *store.View) error {
			_, err := v.Delivery(t.Context(), id)
			if board.IsCode(err, board.CodeNotFound) {
				return nil // the webhook does not exist
			}
			return err
		}},
		// Thirty days back and two weeks ahead span up to eight weekly partitions. The default
		// partition is one more.
		"the log of a webhook": {"deliveries", 9, func(v *store.View) error {
			_, err := v.Deliveries(t.Context(), "whk_x", store.DeliveryFilter{}, 50)
			return err
		}},
		"the audit log of the last week": {"audit", 3, func(v *store.View) error {
			_, err := v.AuditEntries(t.Context(), board.Workspace{ID: "wsp_x"},
				store.AuditFilter{From: board.InstantOf(clock.Now().Add(-7 * day)), Until: board.InstantOf(clock.Now())}, "", 50)
			return err
		}},
	} {
		var plans []string
		if err := db.Read(t.Context(), board.System(), func(v *store.View) (err error) {
			plans, err = v.ExplainAll(q.fn)
			return err
		}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if names := touched(q.table, plans); len(names) == 0 || len(names) > q.limit {
			t.Errorf("%s: got partitions %v, want 1 to %d of them:\n%s", name, names, q.limit, strings.Join(plans, "\n"))
		}
	}
}

// Partitions are created and dropped while clients write. No write fails or is lost, and rows move
// from the default partition to their own.
func TestPartitionsChangeDuringWrites(t *testing.T) {
	t.Parallel()
	clock := &apptest.Clock{}
	db := openAt(t, apptest.WithLockTimeout(t, apptest.PostgresURL(t), 20*time.Second), clock)
	clock.Advance(60 * day) // after all partitions that the migration created
	before := insertDelivery(t, db, false)
	var (
		wg  sync.WaitGroup
		mu  sync.Mutex
		ids = []string{before}
	)
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				id := insertDelivery(t, db, false)
				mu.Lock()
				ids = append(ids, id)
				mu.Unlock()
			}
		})
	}
	var dropped []string
	apptest.Await(t, "the partitions are maintained", func() (err error, done bool) { //nolint:staticcheck // seen, done
		changes, err := db.MaintainPartitions(t.Context()) // it may give up on locked tables
		dropped = append(dropped, changes.Dropped...)
		return err, err == nil
	})
	close(stop)
	wg.Wait()
	if !slices.Contains(dropped, "deliveries_first") {
		t.Fatalf("got dropped partitions %v, want deliveries_first among them", dropped)
	}
	stored := apptest.Select(t, db, "SELECT id FROM deliveries")
	slices.Sort(stored)
	slices.Sort(ids)
	if !slices.Equal(stored, ids) {
		t.Errorf("got %d stored deliveries, want the %d that were written", len(stored), len(ids))
	}
	if n := partitionRows(t, db, "deliveries")["deliveries_rest"]; n != 0 {
		t.Errorf("got %d rows in the default partition, want 0", n)
	}
}

// A partition is created only while no transaction uses the table. A connection that uses it
// can keep the former list of partitions.
func TestPartitionsWaitForTransactions(t *testing.T) {
	t.Parallel()
	clock := &apptest.Clock{}
	db := openAt(t, apptest.PostgresURL(t), clock)
	id := insertDelivery(t, db, false)
	clock.Advance(60 * day)
	created := func() (names []string) {
		changes, err := db.MaintainPartitions(t.Context())
		for _, name := range changes.Created {
			if strings.HasPrefix(name, "deliveries_") {
				names = append(names, name)
			}
		}
		if (err == nil) != (len(names) > 0) {
			t.Errorf("got partitions %v and error %v, want only one of them", names, err)
		}
		return names
	}
	// A stream, unlike a read, has no limit for the time in which it runs no statement.
	if err := db.Stream(t.Context(), board.System(), func(v *store.View) error {
		if _, err := v.Raw().Strings(t.Context(), "SELECT id FROM deliveries WHERE id = $1", id); err != nil {
			return err
		}
		if names := created(); len(names) > 0 {
			t.Errorf("got partitions %v during a transaction, want none", names)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	names := created()
	if len(names) != 3 {
		t.Fatalf("got partitions %v after the transaction, want 3", names)
	}
	// A partition that was not created, although the next ones were, is created later.
	apptest.Change(t, db, "DROP TABLE "+names[1])
	if missing := created(); !slices.Equal(missing, names[1:2]) {
		t.Errorf("got partitions %v, want %v", missing, names[1:2])
	}
}
