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

// On PostgreSQL, tables that grow without end are held in parts by the time in
// their ids: what is too old goes with its part, without a DELETE and without a
// vacuum, and what is new stands in indexes that are small.

// partitioned is a table in parts.
type partitioned struct {
	table  string
	prefix string        // of its ids
	width  time.Duration // of the time that a part holds; whole weeks
	ahead  int           // parts that are there beside the one for now
	keep   time.Duration // how long a row is kept after its making; 0 for ever
	stays  string        // the condition of rows that are kept longer
}

func partitionedTables() []partitioned {
	const week = 7 * 24 * time.Hour
	return []partitioned{
		{table: "deliveries", prefix: "itg_", width: week, ahead: 2, keep: board.DeliveryLifetime, stays: "due_at IS NOT NULL"},
		{table: "audit", prefix: "aud_", width: 13 * week, ahead: 1},
	}
}

const (
	partLockWait   = "250ms" // everybody waits behind who waits for the lock of a whole table
	partAttempts   = 4
	partNameLayout = "20060102"
)

// monday is one, at the beginning of which a part may begin.
func monday() time.Time { return time.Date(1970, 1, 5, 0, 0, 0, 0, time.UTC) }

// part is one part of a table: the ids from one on, up to but without another.
type part struct {
	name        string
	from, until string // "" without a bound
	rest        bool   // takes what falls into no other
}

// Partitioned says which parts of tables were made and dropped.
type Partitioned struct{ Made, Dropped []string }

// MaintainPartitions makes the parts of tables ahead of their time and drops those
// whose rows have all had theirs; rows that stay longer are moved out before.
// It waits for no lock longer than an instant: what it could not do now it
// names in its error, and does the next time. On SQLite it does nothing.
func (db *DB) MaintainPartitions(ctx context.Context) (done Partitioned, err error) {
	if !db.Shared() {
		return done, nil
	}
	for _, t := range partitionedTables() {
		parts, listErr := db.parts(ctx, t)
		if listErr != nil {
			return done, fmt.Errorf("list the parts of %s: %w", t.table, listErr)
		}
		for _, p := range t.due(db.Now()) {
			if slices.ContainsFunc(parts, func(have part) bool { return !have.rest && have.until >= p.until }) {
				continue
			}
			if made := db.makePart(ctx, t, p); made != nil {
				err = errors.Join(err, fmt.Errorf("make %s: %w", p.name, made))
				continue
			}
			done.Made = append(done.Made, p.name)
		}
		for _, p := range parts {
			if p.rest || t.keep == 0 || p.until == "" || p.until > minID(t.prefix, db.Now().Add(-t.keep)) {
				continue
			}
			if dropped := db.dropPart(ctx, t, p); dropped != nil {
				err = errors.Join(err, fmt.Errorf("drop %s: %w", p.name, dropped))
				continue
			}
			done.Dropped = append(done.Dropped, p.name)
		}
	}
	return done, err
}

// due are the parts that have to be there: the one for now and those that follow.
func (t partitioned) due(now time.Time) []part {
	begin := monday().Add(now.Sub(monday()) / t.width * t.width)
	out := make([]part, 0, t.ahead+1)
	for range t.ahead + 1 {
		end := begin.Add(t.width)
		out = append(out, part{name: t.table + "_" + begin.Format(partNameLayout), from: minID(t.prefix, begin), until: minID(t.prefix, end)})
		begin = end
	}
	return out
}

// partBounds reads what PostgreSQL prints of a part.
var partBounds = regexp.MustCompile(`^FOR VALUES FROM \((?:MINVALUE|'([0-9a-z_]+)')\) TO \((?:MAXVALUE|'([0-9a-z_]+)')\)$`)

func (db *DB) parts(ctx context.Context, t partitioned) (out []part, err error) {
	err = db.Read(ctx, board.System(), func(v *View) error {
		out = nil
		return v.each(ctx, `SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
			WHERE i.inhparent = to_regclass($1) ORDER BY c.relname`, []any{t.table}, func(rows *sql.Rows) error {
			var p part
			var bounds string
			if err := rows.Scan(&p.name, &bounds); err != nil {
				return err
			}
			found := partBounds.FindStringSubmatch(bounds)
			switch {
			case found != nil:
				p.from, p.until = found[1], found[2]
			case bounds == "DEFAULT":
				p.rest = true
			default:
				return fmt.Errorf("part %s has bounds that nobody made here: %s", p.name, bounds)
			}
			out = append(out, p)
			return nil
		})
	})
	return out, err
}

// makePart makes a part beside the table and attaches it, which blocks neither
// who reads nor who writes the other parts. What the rest holds of it moves in.
func (db *DB) makePart(ctx context.Context, t partitioned, p part) error {
	rest := t.table + "_rest"
	inside := fmt.Sprintf("id >= '%s' AND id < '%s'", p.from, p.until)
	return db.alter(ctx,
		"CREATE TABLE "+p.name+" (LIKE "+t.table+" INCLUDING DEFAULTS)",
		"LOCK TABLE "+rest+" IN ACCESS EXCLUSIVE MODE",
		"INSERT INTO "+p.name+" SELECT * FROM "+rest+" WHERE "+inside,
		"DELETE FROM "+rest+" WHERE "+inside,
		fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM ('%s') TO ('%s')", t.table, p.name, p.from, p.until),
	)
}

// dropPart takes a part away. Its rows that are to stay go into the rest.
func (db *DB) dropPart(ctx context.Context, t partitioned, p part) error {
	steps := []string{"ALTER TABLE " + t.table + " DETACH PARTITION " + p.name}
	if t.stays != "" {
		steps = append(steps, "INSERT INTO "+t.table+" SELECT * FROM "+p.name+" WHERE "+t.stays)
	}
	return db.alter(ctx, append(steps, "DROP TABLE "+p.name)...)
}

// alter changes tables in one transaction, which gives up at once when somebody
// else holds one of them, and tries again a few times.
func (db *DB) alter(ctx context.Context, steps ...string) (err error) {
	for range partAttempts {
		err = db.Write(ctx, board.System(), func(tx *Tx) error {
			for _, text := range append([]string{"SET LOCAL lock_timeout = '" + partLockWait + "'"}, steps...) {
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

// remainder is where rows of a table in parts are that no part holds: the table
// itself on a database that has no parts.
func (db *DB) remainder(table string) string {
	if db.Shared() {
		return table + "_rest"
	}
	return table
}
