package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

const day = 24 * time.Hour

// openAt opens a database with a clock.
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

// makeDelivery writes a delivery at the current time. It has ended unless it is open.
func makeDelivery(t *testing.T, db *store.DB, open bool) (id string) {
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

func makeAudit(t *testing.T, db *store.DB) {
	t.Helper()
	if err := db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		return tx.Change(t.Context(), "INSERT INTO audit (id, at, workspace_id, operation, actor_type, details) "+
			"VALUES ($1, $2, 'wsp_x', 'create_card', 'system', '{}')",
			tx.NewID("aud_"), int64(tx.Now()))
	}); err != nil {
		t.Fatal(err)
	}
}

// partsOf returns the partitions of a table with the numbers of their rows, by name.
func partsOf(t *testing.T, db *store.DB, table string) map[string]int {
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

// During 120 days, partitions are created ahead of time and dropped when all of their rows have
// expired. No delivery is lost that is younger than 30 days or still open, even if there is no
// housekeeping for three weeks.
func TestPartitionsAreCreatedAndDropped(t *testing.T) {
	t.Parallel()
	clock := &apptest.Clock{}
	clock.Stop()
	db := openAt(t, apptest.PostgresURL(t), clock)
	made := map[string]time.Time{} // deliveries that have ended
	open := map[string]bool{}
	var done store.Partitioned
	inRest, audits := 0, 0
	for n := range 120 {
		for range 4 {
			made[makeDelivery(t, db, false)] = clock.Now()
		}
		if n%10 == 3 {
			open[makeDelivery(t, db, true)] = true
		}
		makeAudit(t, db)
		audits++
		if n < 50 || n > 71 {
			kept, err := db.MaintainPartitions(t.Context())
			if err != nil {
				t.Fatalf("day %d: %v", n, err)
			}
			done.Made, done.Dropped = append(done.Made, kept.Made...), append(done.Dropped, kept.Dropped...)
		}
		there := map[string]bool{}
		for _, id := range apptest.Select(t, db, "SELECT id FROM deliveries") {
			there[id] = true
		}
		for id, at := range made {
			if !there[id] && clock.Now().Sub(at) <= board.DeliveryLifetime {
				t.Fatalf("day %d: a delivery of %s is lost", n, at.Format(time.DateOnly))
			}
		}
		for id := range open {
			if !there[id] {
				t.Fatalf("day %d: the open delivery %s is lost", n, id)
			}
		}
		if n == 71 {
			inRest = partsOf(t, db, "deliveries")["deliveries_rest"]
		}
		clock.Advance(day)
	}
	if inRest == 0 {
		t.Error("after three weeks without housekeeping, the default partition is empty")
	}
	parts := partsOf(t, db, "deliveries")
	if len(parts) > 9 || len(done.Made) < 17 || len(done.Dropped) < 12 {
		t.Errorf("after 120 days there are the partitions %v; created %v, dropped %v", parts, done.Made, done.Dropped)
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
		if made[id].Before(oldest) {
			t.Errorf("a delivery of %s still exists", made[id].Format(time.DateOnly))
		}
	}
	if n := len(apptest.Select(t, db, "SELECT id FROM audit")); n != audits {
		t.Errorf("the audit log has %d of %d entries", n, audits)
	}
	if parts := partsOf(t, db, "audit"); len(parts) < 3 {
		t.Errorf("the audit log has the partitions %v", parts)
	}
	few(t, db, clock)
}

// few checks from PostgreSQL's plans that the queries read few partitions.
func few(t *testing.T, db *store.DB, clock *apptest.Clock) {
	t.Helper()
	id := makeDelivery(t, db, false)
	touched := func(table string, plans []string) (names []string) {
		for _, line := range strings.Split(strings.Join(plans, "\n"), "\n") {
			if strings.Contains(line, "never executed") {
				continue
			}
			for name := range partsOf(t, db, table) {
				if (strings.Contains(line, " on "+name+" ") || strings.Contains(line, " on "+name+"\n")) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		return names
	}
	for what, q := range map[string]struct {
		table string
		most  int
		fn    func(*store.View) error
	}{
		"a delivery by its id": {"deliveries", 1, func(v *store.View) error {
			_, err := v.Delivery(t.Context(), id)
			if board.IsCode(err, board.CodeNotFound) {
				return nil // its webhook does not exist
			}
			return err
		}},
		// Thirty days and the two weeks ahead cover up to eight weeks, depending on the weekday.
		// The default partition is one more.
		"the log of a webhook": {"deliveries", 9, func(v *store.View) error {
			_, err := v.Deliveries(t.Context(), "whk_x", "", "", 50)
			return err
		}},
		"the audit of the last week": {"audit", 3, func(v *store.View) error {
			_, err := v.AuditEntries(t.Context(), board.Workspace{ID: "wsp_x"},
				store.AuditFilter{From: board.InstantOf(clock.Now().Add(-7 * day)), Until: board.InstantOf(clock.Now())}, "", 50)
			return err
		}},
	} {
		var plans []string
		if err := db.Read(t.Context(), board.System(), func(v *store.View) (err error) {
			plans, err = v.Explained(q.fn)
			return err
		}); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if names := touched(q.table, plans); len(names) == 0 || len(names) > q.most {
			t.Errorf("%s reads %v of %d partitions:\n%s", what, names, len(partsOf(t, db, q.table)), strings.Join(plans, "\n"))
		}
	}
}

// Partitions are created and dropped while clients write. No write is refused or lost, and rows in
// the default partition move into their own.
func TestPartitionsChangeDuringWrites(t *testing.T) {
	t.Parallel()
	clock := &apptest.Clock{}
	db := openAt(t, apptest.WithLockTimeout(t, apptest.PostgresURL(t), 20*time.Second), clock)
	clock.Advance(60 * day) // after all partitions that the migration created
	before := makeDelivery(t, db, false)
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
				id := makeDelivery(t, db, false)
				mu.Lock()
				ids = append(ids, id)
				mu.Unlock()
			}
		})
	}
	kept, err := db.MaintainPartitions(t.Context())
	dropped := kept.Dropped
	for begun := time.Now(); err != nil && time.Since(begun) < time.Minute; dropped = append(dropped, kept.Dropped...) {
		t.Logf("housekeeping gave up, which is allowed: %v", err)
		kept, err = db.MaintainPartitions(t.Context())
	}
	close(stop)
	wg.Wait()
	if err != nil || !slices.Contains(dropped, "deliveries_first") {
		t.Fatalf("dropped %v: %v", dropped, err)
	}
	there := apptest.Select(t, db, "SELECT id FROM deliveries")
	slices.Sort(there)
	slices.Sort(ids)
	if !slices.Equal(there, ids) {
		t.Errorf("%d deliveries were written, but %d exist", len(ids), len(there))
	}
	if n := partsOf(t, db, "deliveries")["deliveries_rest"]; n != 0 {
		t.Errorf("the default partition still has %d rows", n)
	}
}

// The rows of older programs become the first partition unchanged. Ids from a clock that was ahead
// are not lost either. If one table cannot be changed, none is.
func TestOldRowsBecomeTheFirstPartition(t *testing.T) {
	t.Parallel()
	address := apptest.EmptyPostgresURL(t)
	if err := sqldb.MigratePostgres(t.Context(), address, store.Migrations(), 18); err != nil {
		t.Fatal(err)
	}
	exec := func(text string) {
		t.Helper()
		if err := apptest.ExecPostgres(address, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	for i, id := range []string{"itg_0000000000", store.NewID("itg_"), store.NewID("itg_"), "itg_7zzzzzzzzzzzzzzzzzzzzzzzzz"} {
		exec(fmt.Sprintf(`INSERT INTO deliveries (id, webhook_id, version, kind, status, reason, created_at, log, body)
			VALUES ('%s', 'whk_x', %d, 'card.created', 'delivered', '', 1, '[]', 'body %d')`, id, i, i))
	}
	exec("INSERT INTO audit (id, at, operation, actor_type, details) VALUES ('" + store.NewID("aud_") + "', 1, 'create_card', 'system', '{}')")
	exec("CREATE TABLE audit_rest (taken INTEGER)")
	if db, err := store.Open(t.Context(), store.Options{Database: address, Migrate: true}); err == nil ||
		!strings.Contains(err.Error(), "audit_rest") {
		_ = db.Close()
		t.Fatalf("the migration succeeded, or failed for another reason: %v", err)
	}
	exec("DROP TABLE audit_rest")
	if err := apptest.ExecPostgres(address, "SELECT * FROM deliveries_first"); err == nil {
		t.Fatal("the migration was done in part")
	}
	db := apptest.OpenStore(t, address)
	if bodies := apptest.Select(t, db, "SELECT body FROM deliveries ORDER BY version"); !slices.Equal(bodies,
		[]string{"body 0", "body 1", "body 2", "body 3"}) {
		t.Errorf("the deliveries are %q", bodies)
	}
	if parts := partsOf(t, db, "deliveries"); parts["deliveries_first"] != 3 || parts["deliveries_rest"] != 1 {
		t.Errorf("the partitions are %v", parts)
	}
	if parts := partsOf(t, db, "audit"); parts["audit_first"] != 1 {
		t.Errorf("the partitions of the audit log are %v", parts)
	}
	if kept, err := db.MaintainPartitions(t.Context()); err != nil || len(kept.Made) < 2 || len(kept.Dropped) > 0 {
		t.Errorf("kept %+v: %v", kept, err)
	}
}
