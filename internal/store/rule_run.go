package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// quietCause is the cause of changes that send no events.
const quietCause = "quiet"

// Occurrence is a change to a board, or the moment at which a card's date is reached. It
// may trigger rules.
type Occurrence struct {
	board.Entry
	Key   string // unique among the occurrences that trigger a rule
	Quiet bool   // triggers no rules
	Cause string // cause of a change made by a rule, in the format that CauseOf splits
}

// Occurrences returns a page of the changes to a board after the given version, in order.
// It decodes Entry.Changes only for kinds that decode accepts, and never for quiet
// changes. Like Changes, it stops before versions whose entries a job is still writing.
func (v *View) Occurrences(ctx context.Context, boardID string, after int64, limit int,
	decode func(board.Kind) bool) ([]Occurrence, error) {
	var out []Occurrence
	err := v.each(ctx, "SELECT "+entryColumns+", COALESCE(cause, '') FROM activity WHERE board_id = $1 AND version > $2 AND "+recorded+
		" ORDER BY version LIMIT $3", []any{boardID, after, limit}, func(rows *sql.Rows) error {
		var (
			o       Occurrence
			changes []byte
		)
		if err := rows.Scan(append(entryFields(&o.Entry, &changes), &o.Cause)...); err != nil {
			return err
		}
		if o.Quiet = o.Cause == quietCause || o.Actor.Type == board.ActorSystem; o.Quiet {
			o.Cause = ""
		}
		o.Key = fmt.Sprintf("v%d", o.BoardVersion)
		if decode(o.Type) && !o.Quiet {
			if err := json.Unmarshal(changes, &o.Changes); err != nil {
				return fmt.Errorf("decode changes of %s: %w", o.ID, err)
			}
		}
		out = append(out, o)
		return nil
	})
	return out, err
}

// Backlog is the state of automation on a board with an enabled rule.
type Backlog struct {
	BoardID string
	Handled int64 // the version up to which changes are handled
	Version int64 // current version of the board
}

// Backlogs returns the backlogs of the given boards, except boards without an enabled
// rule. If ids is nil, it returns the backlogs of all boards with unhandled changes
// that are not in the trash.
func (db *DB) Backlogs(ctx context.Context, ids []string) (out []Backlog, err error) {
	const text = "SELECT a.board_id, a.handled, b.version FROM automation_boards a JOIN boards b ON b.id = a.board_id WHERE "
	scan := func(rows *sql.Rows) error {
		var b Backlog
		err := rows.Scan(&b.BoardID, &b.Handled, &b.Version)
		out = append(out, b)
		return err
	}
	err = db.Read(ctx, board.System(), func(v *View) error {
		if ids == nil {
			return v.each(ctx, text+"b.version > a.handled AND b.trashed_at IS NULL", nil, scan)
		}
		return sqldb.InChunks(ids, func(in string, args []any) error {
			return v.each(ctx, text+"a.board_id IN ("+in+")", args, scan)
		})
	})
	return out, err
}

// ClaimBoard acquires or renews the lease to handle the changes to a board, and returns
// the version up to which they are handled. It returns held = false if another server
// holds the lease, or if the board no longer has an enabled rule.
func (db *DB) ClaimBoard(ctx context.Context, boardID, holder string, length time.Duration) (handled int64, held bool, err error) {
	err = db.Write(ctx, board.System(), func(tx *Tx) (err error) {
		held, err = tx.one(ctx, "UPDATE automation_boards SET holder = $1, until = $2 WHERE board_id = $3 AND (holder = $1 "+
			"OR until < $4 OR until > $5) RETURNING handled",
			[]any{holder, int64(tx.now) + length.Milliseconds(), boardID, int64(tx.now), int64(tx.now) + maxLease.Milliseconds()}, &handled)
		return err
	})
	return handled, held, err
}

// Progress records the version up to which the changes to each board are handled. It never
// lowers a recorded version. If release is set, it also releases the holder's leases on
// these boards. If only one server can use the database, it ignores leases: they can only
// be from a database that was restored into this one.
func (db *DB) Progress(ctx context.Context, holder string, handled map[string]int64, release bool) error {
	if len(handled) == 0 {
		return nil
	}
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, id := range slices.Sorted(maps.Keys(handled)) {
			if err := tx.exec(ctx, `UPDATE automation_boards SET handled = CASE WHEN handled < $1 THEN $1 ELSE handled END,
				until = CASE WHEN $2 = 1 THEN 0 ELSE until END WHERE board_id = $3 AND (holder = $4 OR holder = '' OR $5 = 0)`, handled[id],
				flag(release), id, holder, flag(db.Shared())); err != nil {
				return err
			}
		}
		return nil
	})
}

// RuleState is the state of a rule before it runs for an occurrence.
type RuleState struct {
	On          bool  // the rule is enabled, and its workspace is not in the trash
	Since       int64 // the board's version when the rule was created or changed
	HasRun      bool  // the rule has already run for the occurrence
	CardOnBoard bool  // the card is on the rule's board
	CardRuns    int   // number of recent runs for the card, of any rule and status
	Plan        board.Plan
}

// RuleState returns the state of a rule before it runs for the occurrence with the given
// key. CardRuns counts the runs since the given instant. A deleted rule is off. RuleState
// uses a single query, because every run calls it.
func (tx *Tx) RuleState(ctx context.Context, ruleID, key, cardID string, since board.Instant) (s RuleState, err error) {
	found, err := tx.one(ctx, `SELECT r.off = '' AND w.trashed_at IS NULL, r.since,
		EXISTS (SELECT 1 FROM rule_runs x WHERE x.rule_id = r.id AND x.event = $2),
		EXISTS (SELECT 1 FROM cards c WHERE c.id = $3 AND c.board_id = r.board_id AND `+shownCard+`),
		(SELECT count(*) FROM rule_runs y WHERE y.card_id = $3 AND y.at > $4), o.plan
		FROM rules r JOIN boards b ON b.id = r.board_id JOIN workspaces w ON w.id = b.workspace_id
		JOIN organizations o ON o.id = w.organization_id WHERE r.id = $1`,
		[]any{ruleID, key, cardID, int64(since)}, &s.On, &s.Since, &s.HasRun, &s.CardOnBoard, &s.CardRuns, &s.Plan)
	s.On = s.On && found
	return s, err
}

// CountRunsOfCause returns the number of runs with the given original cause.
func (v *View) CountRunsOfCause(ctx context.Context, root string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM rule_runs WHERE root = $1", root)
}

// CountRun counts a run against the daily limit of an organization. If the limit is
// reached, it counts nothing and returns false.
func (tx *Tx) CountRun(ctx context.Context, organizationID string, plan board.Plan) (ok bool, err error) {
	n, err := tx.affected(ctx, `INSERT INTO automation_days (organization_id, day, used) VALUES ($1, $2, 1)
		ON CONFLICT (organization_id, day) DO UPDATE SET used = automation_days.used + 1 WHERE automation_days.used < $3`,
		organizationID, tx.Time().Format(board.DateLayout), plan.Limits().RunsPerDay)
	return n == 1, err
}

// Run is a run of a rule with its key and its cause.
type Run struct {
	board.RuleRun
	Key  string // key of the occurrence that triggered the run
	Root string // the original cause
}

// InsertRun stores a run. After board.RuleFailures consecutive failed runs, it disables
// the rule. If the rule has already run for the occurrence, InsertRun stores nothing. It
// then returns an error if the new run has the status done.
func (tx *Tx) InsertRun(ctx context.Context, r *Run) error {
	r.ID, r.At = tx.NewID("run_"), tx.now
	n, err := tx.affected(ctx, `INSERT INTO rule_runs (id, rule_id, board_id, event, kind, card_id, root, at, status, reason, actions, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (rule_id, event) DO NOTHING`,
		r.ID, r.RuleID, r.BoardID, r.Key, string(r.Type), r.CardID, r.Root, int64(r.At), string(r.Status), r.Reason, r.Actions, r.Version)
	switch {
	case err != nil:
		return fmt.Errorf("insert run: %w", err)
	case n == 0 && r.Status == board.RunDone:
		return fmt.Errorf("rule %s has already run for %s", r.RuleID, r.Key)
	case n == 0:
		return nil
	}
	switch r.Status {
	case board.RunDone: // updating last_run at most once a second saves writes
		return tx.exec(ctx, "UPDATE rules SET last_run = $1, failures = 0 WHERE id = $2 AND (failures > 0 OR last_run IS NULL "+
			"OR last_run < $3)", int64(tx.now), r.RuleID, int64(tx.now)-1000)
	case board.RunFailed:
		var failures int
		if _, err := tx.one(ctx, "UPDATE rules SET failures = failures + 1 WHERE id = $1 RETURNING failures", []any{r.RuleID},
			&failures); err != nil {
			return err
		}
		if failures >= board.RuleFailures {
			return tx.DisableRule(ctx, r.RuleID, r.BoardID, board.RuleOffFailing)
		}
	case board.RunRefused:
	}
	return nil
}

// Runs returns a page of the runs on a board, newest first. If before is not "", it
// returns only runs older than the run with that id. RuleID and status filter the runs;
// "" matches all runs. The board must already be loaded.
func (v *View) Runs(ctx context.Context, boardID, ruleID string, status board.RunStatus, before string,
	limit int) ([]board.RuleRun, error) {
	out := []board.RuleRun{}
	err := v.each(ctx, `SELECT x.id, x.rule_id, r.name, x.board_id, x.kind, x.card_id, c.title, x.at, x.status, x.reason, x.actions, x.version
		FROM rule_runs x JOIN rules r ON r.id = x.rule_id LEFT JOIN cards c ON c.id = x.card_id AND c.board_id = x.board_id
		WHERE x.board_id = $1 AND ($2 = '' OR x.rule_id = $2) AND ($3 = '' OR x.status = $3) AND ($4 = '' OR x.id < $4) AND x.at > $5
		ORDER BY x.id DESC LIMIT $6`,
		[]any{boardID, ruleID, string(status), before, int64(v.now) - board.RuleRunLifetime.Milliseconds(), limit}, func(rows *sql.Rows) error {
			var r board.RuleRun
			err := rows.Scan(&r.ID, &r.RuleID, &r.RuleName, &r.BoardID, &r.Type, &r.CardID, &r.CardTitle, &r.At, &r.Status, &r.Reason,
				&r.Actions, &r.Version)
			out = append(out, r)
			return err
		})
	return out, err
}

// PurgeRuns deletes at most limit runs that are older than board.RuleRunLifetime, and
// old daily counts. It returns the number of deleted runs.
func (tx *Tx) PurgeRuns(ctx context.Context, limit int) (int64, error) {
	oldest := int64(tx.now) - board.RuleRunLifetime.Milliseconds()
	if err := tx.exec(ctx, "DELETE FROM automation_days WHERE day < $1", board.Instant(oldest).Time().Format(board.DateLayout)); err != nil {
		return 0, err
	}
	return tx.affected(ctx, "DELETE FROM rule_runs WHERE id IN (SELECT k.id FROM (SELECT id, at FROM rule_runs ORDER BY id "+
		"LIMIT 5000) AS k WHERE k.at < $1 LIMIT $2)", oldest, limit)
}

// TimedBoards returns the ids of boards with an enabled timed rule, except boards that
// are archived or in the trash.
func (db *DB) TimedBoards(ctx context.Context) (ids []string, err error) {
	err = db.Read(ctx, board.System(), func(v *View) error {
		ids, err = v.texts(ctx, `SELECT b.id FROM boards b WHERE b.archived_at IS NULL AND b.trashed_at IS NULL
			AND b.id IN (SELECT r.board_id FROM rules r WHERE r.timed = 1 AND r.off = '') ORDER BY b.id`)
		return err
	})
	return ids, err
}

// SetWatchedUntil records the time up to which the dates of cards have been checked for
// the given timed rules.
func (db *DB) SetWatchedUntil(ctx context.Context, ruleIDs []string, at board.Instant) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, id := range ruleIDs {
			if err := tx.exec(ctx, "UPDATE rules SET watched_at = $1 WHERE id = $2 AND watched_at < $1", int64(at), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// CauseOf splits the cause of a change into the original cause and the ids of the rules
// that ran since then, in order.
func CauseOf(text string) (root string, rules []string) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return "", nil
	}
	return fields[0], fields[1:]
}
