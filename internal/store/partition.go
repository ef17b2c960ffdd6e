package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// On PostgreSQL, the deliveries and the audit log are partitioned by the time in their
// ids. Old deliveries are dropped with their partition, which needs no DELETE and no
// vacuum. The indexes that receive new rows stay small.

// partitionedTable is a table with partitions on PostgreSQL.
type partitionedTable struct {
	table  string
	prefix string        // prefix of the ids in the table
	width  time.Duration // the time that a partition covers; whole weeks
	ahead  int           // number of partitions to create in advance
	keep   time.Duration // how long rows are kept; 0 for no limit
	stays  string        // SQL condition for rows that must be kept longer; "" for none
}

func partitionedTables() []partitionedTable {
	const week = 7 * 24 * time.Hour
	return []partitionedTable{
		{table: "deliveries", prefix: "itg_", width: week, ahead: 2, keep: board.DeliveryLifetime, stays: "due_at IS NOT NULL"},
		{table: "audit", prefix: "aud_", width: 13 * week, ahead: 1},
	}
}

const (
	// The timeout is short because all later statements on a table queue behind a pending
	// ACCESS EXCLUSIVE lock.
	partitionLockTimeout = "250ms"
	partitionAttempts    = 4
	partitionNameLayout  = "20060102"
)

// firstMonday returns the origin of all partition boundaries.
func firstMonday() time.Time { return time.Date(1970, 1, 5, 0, 0, 0, 0, time.UTC) }

// partition is a partition of a table. It contains the rows whose ids are at least from
// and less than until.
type partition struct {
	name        string
	from, until string // "" for no bound
	isDefault   bool   // contains the rows that belong to no other partition
}

// PartitionChanges lists the partitions that were created and dropped.
type PartitionChanges struct{ Created, Dropped []string }

// MaintainPartitions creates partitions in advance and drops partitions whose rows have
// all expired. Before it drops a partition, it moves rows that are kept longer to the
// default partition. It waits only briefly for locks. Its error names the partitions that
// it could not create or drop; the next call tries again. On SQLite it does nothing.
func (db *DB) MaintainPartitions(ctx context.Context) (done PartitionChanges, err error) {
	if !db.Shared() {
		return done, nil
	}
	for _, t := range partitionedTables() {
		partitions, listErr := db.partitions(ctx, t)
		if listErr != nil {
			err = errors.Join(err, fmt.Errorf("list partitions of %s: %w", t.table, listErr))
			continue
		}
		for _, p := range t.due(db.Now()) {
			if slices.ContainsFunc(partitions, func(existing partition) bool {
				return !existing.isDefault && existing.from <= p.from && existing.until >= p.until
			}) {
				continue
			}
			if createErr := db.createPartition(ctx, t, p); createErr != nil {
				err = errors.Join(err, fmt.Errorf("create partition %s: %w", p.name, createErr))
				continue
			}
			done.Created = append(done.Created, p.name)
		}
		for _, p := range partitions {
			if p.isDefault || t.keep == 0 || p.until == "" || p.until > minID(t.prefix, db.Now().Add(-t.keep)) {
				continue
			}
			if dropErr := db.dropPartition(ctx, t, p); dropErr != nil {
				err = errors.Join(err, fmt.Errorf("drop partition %s: %w", p.name, dropErr))
				continue
			}
			done.Dropped = append(done.Dropped, p.name)
		}
	}
	return done, err
}

// due returns the partitions that must exist: the current partition, and the partitions
// to create in advance.
func (t partitionedTable) due(now time.Time) []partition {
	begin := firstMonday().Add(now.Sub(firstMonday()) / t.width * t.width)
	out := make([]partition, 0, t.ahead+1)
	for range t.ahead + 1 {
		end := begin.Add(t.width)
		out = append(out, partition{
			name: t.table + "_" + begin.Format(partitionNameLayout), from: minID(t.prefix, begin), until: minID(t.prefix, end),
		})
		begin = end
	}
	return out
}

// partitionBounds matches the bounds of a partition as PostgreSQL prints them.
var partitionBounds = regexp.MustCompile(`^FOR VALUES FROM \((?:MINVALUE|'([0-9a-z_]+)')\) TO \((?:MAXVALUE|'([0-9a-z_]+)')\)$`)

func (db *DB) partitions(ctx context.Context, t partitionedTable) (out []partition, err error) {
	err = db.Read(ctx, board.System(), func(v *View) error {
		out = nil
		return v.each(ctx, `SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
			WHERE i.inhparent = to_regclass($1) ORDER BY c.relname`, []any{t.table}, func(rows *sql.Rows) error {
			var p partition
			var bounds string
			if err := rows.Scan(&p.name, &bounds); err != nil {
				return err
			}
			found := partitionBounds.FindStringSubmatch(bounds)
			switch {
			case found != nil:
				p.from, p.until = found[1], found[2]
			case bounds == "DEFAULT":
				p.isDefault = true
			default:
				return fmt.Errorf("partition %s has bounds that Cardwall did not create: %s", p.name, bounds)
			}
			out = append(out, p)
			return nil
		})
	})
	return out, err
}

// createPartition creates a partition and moves its rows from the default partition to it.
// It locks the table, which ATTACH PARTITION alone does not: a connection that reads the
// catalog at that moment can keep the former list of partitions. It would insert rows into
// the default partition, where queries by id no longer look for them.
func (db *DB) createPartition(ctx context.Context, t partitionedTable, p partition) error {
	rest := t.table + "_rest"
	inside := fmt.Sprintf("id >= '%s' AND id < '%s'", p.from, p.until)
	return db.alter(ctx,
		"CREATE TABLE "+p.name+" (LIKE "+t.table+" INCLUDING DEFAULTS)",
		"LOCK TABLE ONLY "+t.table+" IN ACCESS EXCLUSIVE MODE",
		"LOCK TABLE "+rest+" IN ACCESS EXCLUSIVE MODE",
		"INSERT INTO "+p.name+" SELECT * FROM "+rest+" WHERE "+inside,
		"DELETE FROM "+rest+" WHERE "+inside,
		fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM ('%s') TO ('%s')", t.table, p.name, p.from, p.until),
	)
}

// dropPartition drops a partition. Rows that are kept longer move to the default
// partition.
func (db *DB) dropPartition(ctx context.Context, t partitionedTable, p partition) error {
	steps := []string{"ALTER TABLE " + t.table + " DETACH PARTITION " + p.name}
	if t.stays != "" {
		steps = append(steps, "INSERT INTO "+t.table+" SELECT * FROM "+p.name+" WHERE "+t.stays)
	}
	return db.alter(ctx, append(steps, "DROP TABLE "+p.name)...)
}

// alter runs statements that change tables, in one transaction. If another transaction
// has locked one of the tables, it tries again a few times.
func (db *DB) alter(ctx context.Context, steps ...string) (err error) {
	for range partitionAttempts {
		err = db.Write(ctx, board.System(), func(tx *Tx) error {
			for _, text := range append([]string{"SET LOCAL lock_timeout = '" + partitionLockTimeout + "'"}, steps...) {
				if _, err := tx.affected(ctx, text); err != nil {
					return err
				}
			}
			return nil
		})
		if !errors.Is(err, sqldb.ErrLocked) {
			return err
		}
	}
	return err
}

// defaultPartition returns the default partition of a table, or the table itself on
// SQLite.
func (db *DB) defaultPartition(table string) string {
	if db.Shared() {
		return table + "_rest"
	}
	return table
}
