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

// What automation reads of changes, and writes of what came of them.

// quietCause marks a change that sends no events.
const quietCause = "quiet"

// Occurrence is something that may set rules off: a change of a board, or that
// a card's time has come.
type Occurrence struct {
	board.Entry
	Key   string // tells it from all others that set off the same rule
	Quiet bool   // sets nothing off
	Cause string // of a change by a rule: the first cause and the rules since
}

// Occurrences are the changes of a board, in their order, from behind a version
// on. What changed is decoded only for those kinds that are wanted.
func (v *View) Occurrences(ctx context.Context, boardID string, behind int64, limit int, wanted func(board.Kind) bool) ([]Occurrence, error) {
	var out []Occurrence
	err := v.each(ctx, "SELECT "+entryColumns+", COALESCE(cause, '') FROM activity WHERE board_id = $1 AND version > $2 ORDER BY version LIMIT $3", []any{boardID, behind, limit}, func(rows *sql.Rows) error {
		var (
			o       Occurrence
			changes []byte
		)
		if err := rows.Scan(&o.ID, &o.Type, &o.At, &o.Actor.Type, &o.Actor.ID, &o.BoardID, &o.ListID, &o.CardID, &changes, &o.BoardVersion, &o.Client, &o.Cause); err != nil {
			return err
		}
		if o.Quiet = o.Cause == quietCause || o.Actor.Type == board.ActorSystem; o.Quiet {
			o.Cause = ""
		}
		o.Key = fmt.Sprintf("v%d", o.BoardVersion)
		if wanted(o.Type) && !o.Quiet {
			if err := json.Unmarshal(changes, &o.Changes); err != nil {
				return fmt.Errorf("changes of %s: %w", o.ID, err)
			}
		}
		out = append(out, o)
		return nil
	})
	return out, err
}

// Backlog is a board with a rule that is on, and how far its changes are handled.
type Backlog struct {
	BoardID string
	Handled int64
	Version int64
}

// Backlogs are, of the boards with these ids, those that automation watches; of
// all such boards those with changes that are not handled, when ids is nil.
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

// ClaimBoard makes the holder the one server that handles a board's changes for
// some time, and answers how far they are handled. It is false while another
// holds it, and for a board that is not watched any more.
func (db *DB) ClaimBoard(ctx context.Context, boardID, holder string, length time.Duration) (handled int64, held bool, err error) {
	err = db.Write(ctx, board.System(), func(tx *Tx) (err error) {
		held, err = tx.one(ctx, "UPDATE automation_boards SET holder = $1, until = $2 WHERE board_id = $3 AND (holder = $1 OR until < $4 OR until > $5) RETURNING handled",
			[]any{holder, int64(tx.now) + length.Milliseconds(), boardID, int64(tx.now), int64(tx.now) + leaseMost.Milliseconds()}, &handled)
		return err
	})
	return handled, held, err
}

// Progress notes how far the changes of boards are handled, and lets others have
// what the holder held when it releases them. It never goes back.
func (db *DB) Progress(ctx context.Context, holder string, handled map[string]int64, release bool) error {
	if len(handled) == 0 {
		return nil
	}
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, id := range slices.Sorted(maps.Keys(handled)) {
			if err := tx.exec(ctx, `UPDATE automation_boards SET handled = CASE WHEN handled < $1 THEN $1 ELSE handled END,
				until = CASE WHEN $2 = 1 THEN 0 ELSE until END WHERE board_id = $3 AND (holder = $4 OR holder = '')`, handled[id], flag(release), id, holder); err != nil {
				return err
			}
		}
		return nil
	})
}

// RuleNow is what is to be known of a rule before it runs for an occurrence.
type RuleNow struct {
	On     bool
	Since  int64
	Ran    bool // for that occurrence
	Here   bool // the card is on the rule's board
	OnCard int  // runs about the card since an instant, whatever came of them
	Plan   board.Plan
}

// RuleNow reads a rule as it is in this transaction, in one query since it is read
// for every run. A rule that is gone is off.
func (tx *Tx) RuleNow(ctx context.Context, ruleID, key, cardID string, since board.Instant) (n RuleNow, err error) {
	var off string
	found, err := tx.one(ctx, `SELECT r.off, r.since, EXISTS (SELECT 1 FROM rule_runs x WHERE x.rule_id = r.id AND x.event = $2),
		EXISTS (SELECT 1 FROM cards c WHERE c.id = $3 AND c.board_id = r.board_id),
		(SELECT count(*) FROM rule_runs y WHERE y.card_id = $3 AND y.at > $4), o.plan
		FROM rules r JOIN boards b ON b.id = r.board_id JOIN workspaces w ON w.id = b.workspace_id JOIN organizations o ON o.id = w.organization_id WHERE r.id = $1`,
		[]any{ruleID, key, cardID, int64(since)}, &off, &n.Since, &n.Ran, &n.Here, &n.OnCard, &n.Plan)
	n.On = found && off == ""
	return n, err
}

// RunsOfCause counts the runs that one cause had.
func (v *View) RunsOfCause(ctx context.Context, root string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM rule_runs WHERE root = $1", root)
}

// CountRun counts a run against the day of an organization, and tells whether its
// plan allows it; of one that it does not, nothing is counted.
func (tx *Tx) CountRun(ctx context.Context, organizationID string, plan board.Plan) (ok bool, err error) {
	n, err := tx.affected(ctx, `INSERT INTO automation_days (organization_id, day, used) VALUES ($1, $2, 1)
		ON CONFLICT (organization_id, day) DO UPDATE SET used = automation_days.used + 1 WHERE automation_days.used < $3`,
		organizationID, tx.Time().Format(board.DateLayout), plan.Limits().RunsPerDay)
	return n == 1, err
}

// Run is a run as it is written.
type Run struct {
	board.RuleRun
	Key  string // of what set it off
	Root string // the first cause
}

// InsertRun writes a run with what it did. One that failed counts: too many in a
// row switch the rule off.
func (tx *Tx) InsertRun(ctx context.Context, r *Run) error {
	r.ID, r.At = tx.NewID("run_"), tx.now
	n, err := tx.affected(ctx, `INSERT INTO rule_runs (id, rule_id, board_id, event, kind, card_id, root, at, status, reason, actions, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (rule_id, event) DO NOTHING`,
		r.ID, r.RuleID, r.BoardID, r.Key, string(r.Type), r.CardID, r.Root, int64(r.At), string(r.Status), r.Reason, r.Actions, r.Version)
	switch {
	case err != nil:
		return fmt.Errorf("insert run: %w", err)
	case n == 0 && r.Status == board.RunDone:
		return fmt.Errorf("the rule %s ran for %s already", r.RuleID, r.Key)
	case n == 0:
		return nil
	}
	switch r.Status {
	case board.RunDone: // to the second is near enough, and spares most writes
		return tx.exec(ctx, "UPDATE rules SET last_run = $1, failures = 0 WHERE id = $2 AND (failures > 0 OR last_run IS NULL OR last_run < $3)", int64(tx.now), r.RuleID, int64(tx.now)-1000)
	case board.RunFailed:
		var failures int
		if _, err := tx.one(ctx, "UPDATE rules SET failures = failures + 1 WHERE id = $1 RETURNING failures", []any{r.RuleID}, &failures); err != nil {
			return err
		}
		if failures >= board.RuleFailures {
			return tx.DisableRule(ctx, r.RuleID, r.BoardID, board.RuleOffFailing)
		}
	case board.RunRefused:
	}
	return nil
}

// Runs are the runs on a board that a loader has loaded, newest first, from
// before one on; of one rule and of one status, or "" for all.
func (v *View) Runs(ctx context.Context, boardID, ruleID string, status board.RunStatus, before string, limit int) ([]board.RuleRun, error) {
	out := []board.RuleRun{}
	err := v.each(ctx, `SELECT x.id, x.rule_id, r.name, x.board_id, x.kind, x.card_id, c.title, x.at, x.status, x.reason, x.actions, x.version
		FROM rule_runs x JOIN rules r ON r.id = x.rule_id LEFT JOIN cards c ON c.id = x.card_id AND c.board_id = x.board_id
		WHERE x.board_id = $1 AND ($2 = '' OR x.rule_id = $2) AND ($3 = '' OR x.status = $3) AND ($4 = '' OR x.id < $4) AND x.at > $5 ORDER BY x.id DESC LIMIT $6`,
		[]any{boardID, ruleID, string(status), before, int64(v.now) - board.RuleRunLifetime.Milliseconds(), limit}, func(rows *sql.Rows) error {
			var r board.RuleRun
			err := rows.Scan(&r.ID, &r.RuleID, &r.RuleName, &r.BoardID, &r.Type, &r.CardID, &r.CardTitle, &r.At, &r.Status, &r.Reason, &r.Actions, &r.Version)
			out = append(out, r)
			return err
		})
	return out, err
}

// PurgeRuns forgets runs that are too old for the log, some at a time, and
// counts of days that are over.
func (tx *Tx) PurgeRuns(ctx context.Context) (int64, error) {
	begins := int64(tx.now) - board.RuleRunLifetime.Milliseconds()
	if err := tx.exec(ctx, "DELETE FROM automation_days WHERE day < $1", board.Instant(begins).Time().Format(board.DateLayout)); err != nil {
		return 0, err
	}
	return tx.affected(ctx, "DELETE FROM rule_runs WHERE id IN (SELECT k.id FROM (SELECT id, at FROM rule_runs ORDER BY id LIMIT 5000) AS k WHERE k.at < $1)", begins)
}

// TimedBoards are the boards with rules that time sets off and that are on, of
// boards that take changes.
func (db *DB) TimedBoards(ctx context.Context) (ids []string, err error) {
	err = db.Read(ctx, board.System(), func(v *View) error {
		ids, err = v.texts(ctx, `SELECT b.id FROM boards b WHERE b.archived_at IS NULL AND b.trashed_at IS NULL
			AND b.id IN (SELECT r.board_id FROM rules r WHERE r.timed = 1 AND r.off = '') ORDER BY b.id`)
		return err
	})
	return ids, err
}

// Watched notes up to when times were looked at for rules.
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

// CauseOf reads the cause of a change by rules: the first one, and the rules.
func CauseOf(text string) (root string, rules []string) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return "", nil
	}
	return words[0], words[1:]
}
