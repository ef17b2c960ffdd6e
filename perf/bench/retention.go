package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cardwall/perf/postgres"
)

// The retention row shows how long people wait while the server removes old records: the older half of ten years of
// activity. The server begins to remove them in its first housekeeping run, a minute after it starts.

const (
	retentionYears = 10
	retentionKept  = 5                     // years of card history to keep; other activity is kept for three years
	retentionStart = time.Minute           // time from the start of the server to the start of the removal
	retentionLimit = 4 * time.Minute       // longest measurement
	goalPause      = 50 * time.Millisecond // goal for the slowest update_card
)

// measureRetention measures the retention row on each requested database if it is requested by name.
func (s *suite) measureRetention(ctx context.Context) error {
	if s.Only.String() == "" || !s.wants(nameRetention) {
		return nil
	}
	dir := filepath.Join(s.dir, "retention")
	if err := s.measureRetentionOn(ctx, dir, "", ""); err != nil || !s.postgres {
		return err
	}
	cluster, err := postgres.Start(ctx)
	if err != nil {
		return err
	}
	database, err := cluster.CreateDatabase(ctx, "retention", "template0")
	if err == nil {
		err = s.measureRetentionOn(ctx, dir+"-postgres", database, namePostgres)
	}
	return errors.Join(err, cluster.Stop())
}

// measureRetentionOn measures the retention row on one database.
func (s *suite) measureRetentionOn(ctx context.Context, dir, database, suffix string) (err error) {
	open := func(data string) (*sql.DB, error) {
		if database != "" {
			return sql.Open("pgx", database)
		}
		return sql.Open("sqlite", "file:"+filepath.Join(data, "cardwall.db")+"?_pragma=busy_timeout(5000)")
	}
	srv, err := s.fillBase(ctx, dir, database, open)
	if err != nil {
		return err
	}
	db, err := open(srv.Data)
	if err != nil {
		return fmt.Errorf("open the installation: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	now := time.Now()
	if err := spreadActivity(ctx, db, now); err != nil {
		return err
	}
	srv.Env = append(srv.Env, fmt.Sprintf("CARDWALL_KEEP_CARD_HISTORY=%dy", retentionKept), "CARDWALL_KEEP_ACTIVITY=3y",
		"CARDWALL_ARCHIVE="+filepath.Join(dir, "archive"))
	old := oldActivity{db: db, before: now.AddDate(-retentionKept, 0, 0).UnixMilli()}
	h := &neighborhood{srv: srv, dir: dir}
	row, err := s.measureRemoval(ctx, h, old)
	if err := errors.Join(err, srv.Stop()); err != nil {
		return srv.WithLog(err)
	}
	row.name += suffix
	s.neighbors = append(s.neighbors, row)
	return nil
}

// spreadActivity distributes the changes of each board evenly over ten years.
func spreadActivity(ctx context.Context, db *sql.DB, now time.Time) error {
	first := now.AddDate(-retentionYears, 0, 0)
	_, err := db.ExecContext(ctx, "UPDATE activity SET at = CAST($1 AS BIGINT) + version * CAST($2 AS BIGINT) / "+
		"(SELECT b.version FROM boards b WHERE b.id = activity.board_id)", first.UnixMilli(), now.Sub(first).Milliseconds())
	if err != nil {
		return fmt.Errorf("distribute the activity over ten years: %w", err)
	}
	return nil
}

// oldActivity is the activity that the server must remove.
type oldActivity struct {
	db     *sql.DB
	before int64 // Unix milliseconds
}

// count returns the number of old entries that remain.
func (o oldActivity) count(ctx context.Context) (n int, err error) {
	err = o.db.QueryRowContext(ctx, "SELECT count(*) FROM activity WHERE at < $1", o.before).Scan(&n)
	return n, err
}

// removed reports whether all old entries are gone. It reads only one entry per board.
func (o oldActivity) removed(ctx context.Context) (bool, error) {
	var boards int
	err := o.db.QueryRowContext(ctx, "SELECT count(*) FROM boards b WHERE (SELECT a.at FROM activity a WHERE a.board_id = b.id "+
		"AND a.version > b.removed_to ORDER BY a.version LIMIT 1) < $1", o.before).Scan(&boards)
	return boards == 0, err
}

// measureRemoval measures the bystanders' requests before the old activity is removed and then until the removal is
// complete or retentionLimit has passed.
func (s *suite) measureRemoval(ctx context.Context, h *neighborhood, old oldActivity) (*neighborRow, error) {
	all, err := old.count(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the activity: %w", err)
	}
	if err := h.preparePeople(ctx, s); err != nil {
		return nil, err
	}
	s.progress("measuring %s", nameRetention)
	begin := time.Now().Add(s.warm)
	loads := h.startBystanders(s, begin)
	sleepUntil(ctx, begin.Add(retentionStart/2))
	baseline := loads[1].end()
	loads[0].end()
	loads[2].end()

	begin = time.Now()
	loads = h.startBystanders(s, begin)
	for done := false; !done && time.Since(begin) < retentionLimit; {
		sleepUntil(ctx, time.Now().Add(time.Second))
		if done, err = old.removed(ctx); err != nil {
			return nil, fmt.Errorf("find old activity: %w", err)
		}
	}
	r := &neighborRow{name: nameRetention, elapsed: time.Since(begin)}
	r.get, r.update, r.signIn = loads[0].end(), loads[1].end(), loads[2].end()
	for _, sample := range r.samples() {
		s.progress("  %s", sample)
	}
	remaining, err := old.count(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the activity: %w", err)
	}
	r.done = fmt.Sprintf("%s of %s old entries removed; longest update_card %.0f ms (%.0f before)", thousands(float64(all-remaining)),
		thousands(float64(all)), milliseconds(r.update.latency.Max), milliseconds(baseline.latency.Max))
	r.addGoals()
	r.goals = append(r.goals, goal{fmt.Sprintf("no update_card above %v", goalPause), r.update.latency.Max <= goalPause},
		goal{"all removed", remaining == 0})
	return r, nil
}
