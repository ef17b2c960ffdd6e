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

// Automation: the changes that trigger rules, and the runs of rules.

// quietCause marks a change that sends no events.
const quietCause = "quiet"

// Occurrence is something that may trigger rules: a change of a board, or a time of
// a card that has come.
type Occurrence struct {
	board.Entry
	Key   string // unique among the occurrences that trigger a rule
	Quiet bool   // triggers nothing
	Cause string // for a change by a rule: the first cause and the rules since, see CauseOf
}

// Occurrences returns a page of the changes of a board in their order, after a
// version. It decodes the changes only of kinds that are wanted. Like Changes, it ends
// before versions whose entries a job is still writing.
func (v *View) Occurrences(ctx context.Context, boardID string, after int64, limit int,
	wanted func(board.Kind) bool) ([]Occurrence, error) {
	var out []Occurrence
	err := v.each(ctx, "SELECT "+entryColumns+", COALESCE(cause, '') FROM activity WHERE board_id = $1 AND version > $2 AND "+recorded+
		" ORDER BY version LIMIT $3", []any{boardID, after, limit}, func(rows *sql.Rows) error {
		var (
			o       Occurrence
			changes []byte
		)
		if err := rows.Scan(&o.ID, &o.Type, &o.At, &o.Actor.Type, &o.Actor.ID, &o.BoardID, &o.ListID, &o.CardID, &changes,
			&o.BoardVersion, &o.Client, &o.Cause); err != nil {
			return err
		}
		if o.Quiet = o.Cause == quietCause || o.Actor.Type == board.ActorSystem; o.Quiet {
			o.Cause = ""
		}
		o.Key = fmt.Sprintf("v%d", o.BoardVersion)
		if wanted(o.Type) && !o.Quiet {
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
	Version int64 // of the board
}

// Backlogs returns the boards with these ids that have an enabled rule. If ids is
// nil, it returns all such boards with unhandled changes.
func (db *DB) Backlogs(ctx context.Context, ids []string) (out []Backlog, err error) {
	const text = "SELECT a.board_id, a.handled, b.version FROM automation_boards a JOIN boards b ON b.id = a.board_id WHERE "
	scan := func(rows *sql.Rows) error {
		var l Backlog
		err := rows.Scan(&l.BoardID, &l.Handled, &l.Version)
		out = append(out, l)
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

// ClaimBoard acquires or renews the lease to handle the changes of a board, and
// returns the version up to which they are handled. Held is false if another
// server has the lease, or if the board no longer has an enabled rule.
func (db *DB) ClaimBoard(ctx context.Context, boardID, holder string, length time.Duration) (handled int64, held bool, err error) {
	err = db.Write(ctx, board.System(), func(tx *Tx) (err error) {
		held, err = tx.one(ctx, "UPDATE automation_boards SET holder = $1, until = $2 WHERE board_id = $3 AND (holder = $1 "+
			"OR until < $4 OR until > $5) RETURNING handled",
			[]any{holder, int64(tx.now) + length.Milliseconds(), boardID, int64(tx.now), int64(tx.now) + maxLease.Milliseconds()}, &handled)
		return err
	})
	return handled, held, err
}

// Progress records the versions up to which the changes of boards are handled,
// unless a higher one is recorded. With release it also ends the holder's leases.
func (db *DB) Progress(ctx context.Context, holder string, handled map[string]int64, release bool) error {
	if len(handled) == 0 {
		return nil
	}
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, id := range slices.Sorted(maps.Keys(handled)) {
			if err := tx.exec(ctx, `UPDATE automation_boards SET handled = CASE WHEN handled < $1 THEN $1 ELSE handled END,
				until = CASE WHEN $2 = 1 THEN 0 ELSE until END WHERE board_id = $3 AND (holder = $4 OR holder = '')`, handled[id],
				flag(release), id, holder); err != nil {
				return err
			}
		}
		return nil
	})
}

// RuleNow is the state of a rule before it runs for an occurrence.
type RuleNow struct {
	On     bool
	Since  int64 // the board's version when the rule was created or changed
	Ran    bool  // for that occurrence
	Here   bool  // the card is on the rule's board
	OnCard int   // runs about the card since an instant, successful or not
	Plan   board.Plan
}

// RuleNow reads the state of a rule in one query, because every run reads it. A
// deleted rule is off.
func (tx *Tx) RuleNow(ctx context.Context, ruleID, key, cardID string, since board.Instant) (n RuleNow, err error) {
	var off string
	found, err := tx.one(ctx, `SELECT r.off, r.since, EXISTS (SELECT 1 FROM rule_runs x WHERE x.rule_id = r.id AND x.event = $2),
		EXISTS (SELECT 1 FROM cards c WHERE c.id = $3 AND c.board_id = r.board_id),
		(SELECT count(*) FROM rule_runs y WHERE y.card_id = $3 AND y.at > $4), o.plan
		FROM rules r JOIN boards b ON b.id = r.board_id JOIN workspaces w ON w.id = b.workspace_id
		JOIN organizations o ON o.id = w.organization_id WHERE r.id = $1`,
		[]any{ruleID, key, cardID, int64(since)}, &off, &n.Since, &n.Ran, &n.Here, &n.OnCard, &n.Plan)
	n.On = found && off == ""
	return n, err
}

// RunsOfCause returns the number of runs with the same first cause.
func (v *View) RunsOfCause(ctx context.Context, root string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM rule_runs WHERE root = $1", root)
}

// CountRun counts a run against the daily limit of an organization. Ok is false, and
// nothing is counted, if the limit is reached.
func (tx *Tx) CountRun(ctx context.Context, organizationID string, plan board.Plan) (ok bool, err error) {
	n, err := tx.affected(ctx, `INSERT INTO automation_days (organization_id, day, used) VALUES ($1, $2, 1)
		ON CONFLICT (organization_id, day) DO UPDATE SET used = automation_days.used + 1 WHERE automation_days.used < $3`,
		organizationID, tx.Time().Format(board.DateLayout), plan.Limits().RunsPerDay)
	return n == 1, err
}

// Run is a run with its key and its cause.
type Run struct {
	board.RuleRun
	Key  string // of the occurrence that triggered it
	Root string // the first cause
}

// InsertRun writes a run. After board.RuleFailures failed runs in a row it switches
// the rule off.
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
	case board.RunDone: // last_run is exact to a second, which saves most writes
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

// Runs returns a page of the runs on a board that a loader has loaded, newest first,
// before the given run: of one rule and of one status, or of all if these are "".
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

// PurgeRuns deletes runs that are too old for the log, at most limit, and old daily
// counts.
func (tx *Tx) PurgeRuns(ctx context.Context, limit int) (int64, error) {
	begins := int64(tx.now) - board.RuleRunLifetime.Milliseconds()
	if err := tx.exec(ctx, "DELETE FROM automation_days WHERE day < $1", board.Instant(begins).Time().Format(board.DateLayout)); err != nil {
		return 0, err
	}
	return tx.affected(ctx, "DELETE FROM rule_runs WHERE id IN (SELECT k.id FROM (SELECT id, at FROM rule_runs ORDER BY id "+
		"LIMIT 5000) AS k WHERE k.at < $1 LIMIT $2)", begins, limit)
}

// TimedBoards returns the boards with an enabled rule that a time triggers, except
// boards that are archived or in the trash.
func (db *DB) TimedBoards(ctx context.Context) (ids []string, err error) {
	err = db.Read(ctx, board.System(), func(v *View) error {
		ids, err = v.texts(ctx, `SELECT b.id FROM boards b WHERE b.archived_at IS NULL AND b.trashed_at IS NULL
			AND b.id IN (SELECT r.board_id FROM rules r WHERE r.timed = 1 AND r.off = '') ORDER BY b.id`)
		return err
	})
	return ids, err
}

// Watched records the time up to which the times of cards were checked for rules.
func (db *DB) Watched(ctx context.Context, ruleIDs []string, at board.Instant) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, id := range ruleIDs {
			if err := tx.exec(ctx, "UPDATE rules SET watched_at = $1 WHERE id = $2 AND watched_at < $1", int64(at), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// CauseOf splits the cause of a change into the first cause and the rules since.
func CauseOf(text string) (root string, rules []string) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return "", nil
	}
	return fields[0], fields[1:]
}
