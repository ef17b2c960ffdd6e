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

// The retention row shows how long people wait while the server removes old records: half of ten years of activity. A server
// does so at its first housekeeping, a minute after its start.

const (
	retentionYears  = 10
	retentionKept   = 5 // years of activity; of these, three are kept in full
	retentionStarts = time.Minute
	retentionMost   = 4 * time.Minute // longest measure
	goalPause       = 50 * time.Millisecond
)

// measureRetention measures the row on each requested database, if it is requested by name.
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

// oldActivity is the activity that a server removes.
type oldActivity struct {
	db     *sql.DB
	before int64
}

// count returns how many entries are left.
func (o oldActivity) count(ctx context.Context) (n int, err error) {
	err = o.db.QueryRowContext(ctx, "SELECT count(*) FROM activity WHERE at < $1", o.before).Scan(&n)
	return n, err
}

// gone reports whether none are left. It reads one entry of each board.
func (o oldActivity) gone(ctx context.Context) (bool, error) {
	var boards int
	err := o.db.QueryRowContext(ctx, "SELECT count(*) FROM boards b WHERE (SELECT a.at FROM activity a WHERE a.board_id = b.id "+
		"AND a.version > b.removed_to ORDER BY a.version LIMIT 1) < $1", o.before).Scan(&boards)
	return boards == 0, err
}

// measureRemoval measures the others while the server removes nothing, and then until it has removed what is old.
func (s *suite) measureRemoval(ctx context.Context, h *neighborhood, old oldActivity) (*neighborRow, error) {
	all, err := old.count(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the activity: %w", err)
	}
	if err := h.settlePeople(ctx, s); err != nil {
		return nil, err
	}
	s.progress("measuring %s", nameRetention)
	begin := time.Now().Add(s.warm)
	loads := h.startOthers(s, begin)
	sleepUntil(ctx, begin.Add(retentionStarts/2))
	alone := loads[1].end()
	loads[0].end()
	loads[2].end()

	begin = time.Now()
	loads = h.startOthers(s, begin)
	for done := false; !done && time.Since(begin) < retentionMost; {
		sleepUntil(ctx, time.Now().Add(time.Second))
		if done, err = old.gone(ctx); err != nil {
			return nil, fmt.Errorf("look for old activity: %w", err)
		}
	}
	r := &neighborRow{name: nameRetention, elapsed: time.Since(begin)}
	r.get, r.update, r.signIn = loads[0].end(), loads[1].end(), loads[2].end()
	for _, sample := range r.samples() {
		s.progress("  %s", sample)
	}
	left, err := old.count(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the activity: %w", err)
	}
	r.done = fmt.Sprintf("%s of %s entries removed; longest update_card %.0f ms (%.0f before)", thousands(float64(all-left)),
		thousands(float64(all)), milliseconds(r.update.latency.Max), milliseconds(alone.latency.Max))
	r.judge()
	r.goals = append(r.goals, goal{fmt.Sprintf("no update_card above %v", goalPause), r.update.latency.Max <= goalPause},
		goal{"all removed", left == 0})
	return r, nil
}
