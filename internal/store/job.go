package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

const jobColumns = "j.id, j.kind, j.state, j.workspace_id, j.name, j.done, j.total, j.result, j.fault, j.created_at, " +
	"j.started_at, j.ended_at"

// jobResult is the stored result of a job.
type jobResult struct {
	BoardIDs []string            `json:"boardIds"`
	ListID   *string             `json:"listId,omitempty"`
	Report   *board.ImportReport `json:"report,omitempty"`

	DroppedLabels    []board.LabelRef `json:"droppedLabels,omitempty"`
	DroppedAssignees []board.UserRef  `json:"droppedAssignees,omitempty"`
}

func scanJob(rows *sql.Rows, extra ...any) (j board.Job, err error) {
	var result, fault sql.NullString
	dest := []any{&j.ID, &j.Kind, &j.State, &j.WorkspaceID, &j.Name, &j.Done, &j.Total, &result, &fault, &j.CreatedAt,
		&j.StartedAt, &j.EndedAt}
	if err := rows.Scan(append(dest, extra...)...); err != nil {
		return j, err
	}
	j.BoardIDs, j.DroppedLabels, j.DroppedAssignees = []string{}, []board.LabelRef{}, []board.UserRef{}
	if result.Valid && j.State == board.JobDone {
		r := jobResult{BoardIDs: j.BoardIDs, DroppedLabels: j.DroppedLabels, DroppedAssignees: j.DroppedAssignees}
		err = json.Unmarshal([]byte(result.String), &r)
		j.BoardIDs, j.ListID, j.Report = r.BoardIDs, r.ListID, r.Report
		j.DroppedLabels, j.DroppedAssignees = r.DroppedLabels, r.DroppedAssignees
	}
	if fault.Valid && err == nil {
		err = json.Unmarshal([]byte(fault.String), &j.Error)
	}
	return j, err
}

// ownJob is an SQL condition that selects the caller's jobs. $1 is the caller's user id.
// $2 is the workspace to which the caller's token is restricted, or "".
const ownJob = "j.owner_id = $1 AND ($2 = '' OR j.workspace_id = $2)"

// Job returns the caller's job with the given id.
func (v *View) Job(ctx context.Context, id string) (j board.Job, err error) {
	err = v.each(ctx, "SELECT "+jobColumns+" FROM jobs j WHERE "+ownJob+" AND j.id = $3",
		[]any{v.caller.UserID, v.caller.WorkspaceID, id}, func(rows *sql.Rows) (err error) {
			j, err = scanJob(rows)
			return err
		})
	if err == nil && j.ID == "" {
		err = board.NotFound()
	}
	return j, err
}

// Jobs returns a page of the caller's jobs in a workspace, newest first. If before is not
// "", it returns only jobs older than the job with that id.
func (v *View) Jobs(ctx context.Context, workspaceID, before string, limit int) ([]board.Job, error) {
	out := []board.Job{}
	err := v.each(ctx, "SELECT "+jobColumns+" FROM jobs j WHERE "+ownJob+" AND j.workspace_id = $3 AND ($4 = '' OR j.id < $4) "+
		"ORDER BY j.id DESC LIMIT $5",
		[]any{v.caller.UserID, v.caller.WorkspaceID, workspaceID, before, limit}, func(rows *sql.Rows) error {
			j, err := scanJob(rows)
			out = append(out, j)
			return err
		})
	return out, err
}

// jobCaller is the stored form of the caller that started a job.
type jobCaller struct {
	Actor       board.Actor   `json:"actor"`
	UserID      string        `json:"userId"`
	TokenID     string        `json:"tokenId,omitempty"`
	TokenName   string        `json:"tokenName,omitempty"`
	Scopes      []board.Scope `json:"scopes"`
	WorkspaceID string        `json:"workspaceId,omitempty"`
	RequestID   string        `json:"requestId,omitempty"`
	Client      string        `json:"client,omitempty"`
}

// NewJob describes a job to start.
type NewJob struct {
	Kind      board.JobKind
	Workspace board.Workspace // a workspace in which the caller may start the job
	Name      string
	Input     any    // input that Kind requires; stored as JSON
	Receiver  string // server that stores the parts before QueueJob is called; "" if the job creates them
}

// InsertJob creates a job for the caller. The job is queued immediately unless it has a
// receiver. InsertJob returns a limit_reached error if the caller has too many
// unfinished jobs.
func (tx *Tx) InsertJob(ctx context.Context, n NewJob) (j board.Job, err error) {
	if err := tx.checkJobLimit(ctx, n.Workspace); err != nil {
		return j, err
	}
	c := tx.caller
	caller, err := json.Marshal(jobCaller{c.Actor, c.UserID, c.TokenID, c.TokenName, c.Scopes, c.WorkspaceID, c.RequestID, c.Client})
	if err != nil {
		return j, fmt.Errorf("encode caller: %w", err)
	}
	input, err := json.Marshal(n.Input)
	if err != nil {
		return j, fmt.Errorf("encode input: %w", err)
	}
	j = board.Job{ID: tx.NewID("job_"), Kind: n.Kind, State: board.JobQueued, WorkspaceID: n.Workspace.ID, Name: n.Name,
		BoardIDs: []string{}, DroppedLabels: []board.LabelRef{}, DroppedAssignees: []board.UserRef{}, CreatedAt: tx.now}
	tx.workspace, tx.effects.Jobs = n.Workspace.ID, n.Receiver == ""
	var until board.Instant
	if n.Receiver != "" {
		j.State, until = board.JobRunning, tx.now+board.Instant(receiveLease.Milliseconds())
	}
	return j, tx.exec(ctx, `INSERT INTO jobs (id, kind, state, owner_id, organization_id, workspace_id, name, caller, input, holder, until,
		created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		j.ID, string(j.Kind), string(j.State), c.UserID, n.Workspace.OrganizationID, j.WorkspaceID, j.Name, string(caller), string(input),
		n.Receiver, int64(until), int64(tx.now))
}

// receiveLease is how long the receiver of a job may take to store each part. If the
// receiver stops, the job fails after that time.
const receiveLease = 30 * time.Second

// QueueJob queues a job after its receiver has stored all parts. Total is the number of
// records in all parts.
func (tx *Tx) QueueJob(ctx context.Context, id, receiver string, parts, total int, report *board.ImportReport) error {
	if _, err := tx.HoldJob(ctx, id, receiver); err != nil {
		return err
	}
	if err := tx.SetJobParts(ctx, id, parts, total, report); err != nil {
		return err
	}
	tx.effects.Jobs = true
	return tx.exec(ctx, "UPDATE jobs SET state = 'queued', holder = '', until = 0 WHERE id = $1", id)
}

// checkJobLimit returns a limit_reached error if the caller has as many unfinished jobs
// as the plan of the workspace allows.
func (v *View) checkJobLimit(ctx context.Context, w board.Workspace) error {
	var (
		plan board.Plan
		n    int
	)
	if _, err := v.one(ctx, "SELECT o.plan, (SELECT count(*) FROM jobs j WHERE j.owner_id = $2 AND j.ended_at IS NULL) "+
		"FROM organizations o WHERE o.id = $1", []any{w.OrganizationID, v.caller.UserID}, &plan, &n); err != nil {
		return err
	}
	if limit := plan.Limits().JobsPerPerson; n >= limit {
		return board.Refuse(board.CodeLimitReached, "You have %d unfinished jobs, and the %s plan allows no more. Wait until one ends, "+
			"or cancel one.", n, plan)
	}
	return nil
}

// CancelJob cancels one of the caller's jobs and returns it. It does not change a job that
// has ended, that is moving a list, or whose new list is already visible.
func (tx *Tx) CancelJob(ctx context.Context, id string) (board.Job, error) {
	if err := tx.exec(ctx, "UPDATE jobs SET state = $4, ended_at = $5, holder = '' WHERE id IN (SELECT j.id FROM jobs j WHERE "+ownJob+
		" AND j.id = $3) AND ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM pending_activity p WHERE p.job_id = jobs.id) "+
		"AND NOT EXISTS (SELECT 1 FROM list_moves m WHERE m.job_id = jobs.id)",
		tx.caller.UserID, tx.caller.WorkspaceID, id, string(board.JobCancelled), int64(tx.now)); err != nil {
		return board.Job{}, err
	}
	j, err := tx.Job(ctx, id)
	tx.workspace, tx.effects.Jobs = j.WorkspaceID, true
	return j, err
}

// RunningJob is a job with the data that the server needs to run it.
type RunningJob struct {
	board.Job
	Caller   board.Caller
	Input    []byte // JSON
	Parts    int    // total number of parts; -1 if they are not stored yet
	Written  int    // number of parts written
	Recorded int    // number of parts with recorded activity; -1 until the job's list is visible
	Moving   bool   // the job is moving a list, so it can neither fail nor be canceled
	Tries    int    // number of times the job was claimed, except tries that ReleaseJobs ended
}

// ClaimJob leases a job to a server for the given time. The job must be queued, or its
// lease must have expired. The job's organization must have fewer running jobs than its
// plan allows. Organizations take turns. If only is not "", ClaimJob claims only the job
// with that id. It returns nil if it claimed no job.
func (db *DB) ClaimJob(ctx context.Context, holder, only string, length time.Duration) (*RunningJob, error) {
	var limits strings.Builder
	for _, p := range board.Plans() {
		fmt.Fprintf(&limits, " WHEN '%s' THEN %d", p, p.Limits().RunningJobs)
	}
	free := "j.ended_at IS NULL AND (j.state = 'queued' OR j.until < $1) AND (SELECT count(*) FROM jobs r " +
		"WHERE r.organization_id = j.organization_id AND r.state = 'running' AND r.until >= $1) < CASE o.plan" + limits.String() + " ELSE 1 END"
	var (
		job  *RunningJob
		open int
	)
	if err := db.Read(ctx, board.System(), func(v *View) (err error) {
		open, err = v.count(ctx, "SELECT count(*) FROM jobs WHERE ended_at IS NULL AND (state = 'queued' OR until < $1)", int64(v.now))
		return err
	}); err != nil || open == 0 {
		return nil, err
	}
	err := db.Write(ctx, board.System(), func(tx *Tx) error {
		job = nil
		var id, organization string
		found, err := tx.one(ctx, "SELECT j.id, j.organization_id FROM jobs j JOIN organizations o ON o.id = j.organization_id WHERE "+free+
			` AND ($2 = '' OR j.id = $2) ORDER BY (SELECT COALESCE(max(s.started_at), 0) FROM jobs s
			WHERE s.organization_id = j.organization_id), j.created_at, j.id LIMIT 1`, []any{int64(tx.now), only}, &id, &organization)
		if err != nil || !found {
			return err
		}
		if tx.db.dialect().RowLocks { // another server may claim a job of the same organization
			if _, err := tx.one(ctx, "SELECT id FROM organizations WHERE id = $1 FOR NO KEY UPDATE", []any{organization},
				&organization); err != nil {
				return err
			}
		}
		n, err := tx.affected(ctx, `UPDATE jobs SET state = 'running', holder = $2, until = $3, tries = tries + 1,
			started_at = COALESCE(started_at, $1)
			WHERE id = $4 AND id IN (SELECT j.id FROM jobs j JOIN organizations o ON o.id = j.organization_id WHERE `+free+")",
			int64(tx.now), holder, int64(tx.now)+length.Milliseconds(), id)
		if err != nil || n == 0 {
			return err
		}
		job, err = tx.runningJob(ctx, id)
		return err
	})
	return job, err
}

func (v *View) runningJob(ctx context.Context, id string) (*RunningJob, error) {
	r := &RunningJob{}
	err := v.each(ctx, "SELECT "+jobColumns+", j.caller, j.input, COALESCE(j.parts, -1), j.written, "+
		"COALESCE((SELECT p.written FROM pending_activity p WHERE p.job_id = j.id), -1), "+
		"EXISTS (SELECT 1 FROM list_moves m WHERE m.job_id = j.id), j.tries FROM jobs j WHERE j.id = $1",
		[]any{id}, func(rows *sql.Rows) (err error) {
			var caller string
			if r.Job, err = scanJob(rows, &caller, &r.Input, &r.Parts, &r.Written, &r.Recorded, &r.Moving, &r.Tries); err != nil {
				return err
			}
			var c jobCaller
			if err := json.Unmarshal([]byte(caller), &c); err != nil {
				return fmt.Errorf("decode caller of %s: %w", id, err)
			}
			r.Caller = board.Caller{Actor: c.Actor, UserID: c.UserID, TokenID: c.TokenID, TokenName: c.TokenName, Scopes: c.Scopes,
				WorkspaceID: c.WorkspaceID, RequestID: c.RequestID, Client: c.Client}
			return nil
		})
	return r, err
}

// RenewJobs renews the leases of all jobs that the server is running.
func (db *DB) RenewJobs(ctx context.Context, holder string, length time.Duration) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		return tx.exec(ctx, "UPDATE jobs SET until = $1 WHERE holder = $2 AND state = 'running'", int64(tx.now)+length.Milliseconds(), holder)
	})
}

// YieldJob gives up a job after a failed try. RenewJobs no longer renews its lease, and a
// server can claim the job after the given time.
func (db *DB) YieldJob(ctx context.Context, id, holder string, wait time.Duration) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		return tx.exec(ctx, "UPDATE jobs SET holder = '', until = $1 WHERE id = $2 AND holder = $3 AND state = 'running'",
			int64(tx.now)+wait.Milliseconds(), id, holder)
	})
}

// ReleaseJobs releases the jobs that the server is running, so that another server can
// continue them immediately. The interrupted tries are not counted.
func (db *DB) ReleaseJobs(ctx context.Context, holder string) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		return tx.exec(ctx, "UPDATE jobs SET until = 0, tries = tries - 1 WHERE holder = $1 AND state = 'running'", holder)
	})
}

// ErrJobLost means that a job was canceled or claimed by another server. A transaction
// that returns it writes nothing.
var ErrJobLost = errors.New("the job was canceled or runs on another server")

// HoldJob locks a job that the server is running. It returns ErrJobLost if the server no
// longer holds the job.
func (tx *Tx) HoldJob(ctx context.Context, id, holder string) (*RunningJob, error) {
	n, err := tx.affected(ctx, "UPDATE jobs SET holder = holder WHERE id = $1 AND holder = $2 AND state = 'running'", id, holder)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, ErrJobLost
	}
	return tx.runningJob(ctx, id)
}

// ReceiveJobPart is like StoreJobPart, but for a job with a receiver. It also renews the
// receiver's lease. It returns ErrJobLost if the job accepts no more parts, for example
// because it was canceled.
func (tx *Tx) ReceiveJobPart(ctx context.Context, id string, part int, body []byte) error {
	n, err := tx.affected(ctx, "UPDATE jobs SET until = $1 WHERE id = $2 AND state = 'running' AND parts IS NULL",
		int64(tx.now)+receiveLease.Milliseconds(), id)
	if err == nil && n == 0 {
		err = ErrJobLost
	}
	if err != nil {
		return err
	}
	return tx.StoreJobPart(ctx, id, part, body)
}

// StoreJobPart stores a part of a job. The caller must have compressed body. Parts are
// numbered from 0.
func (tx *Tx) StoreJobPart(ctx context.Context, id string, part int, body []byte) error {
	return tx.exec(ctx, "INSERT INTO job_parts (job_id, part, body) VALUES ($1, $2, $3)", id, part, body)
}

// SetJobParts records that all parts of a job are stored. Total is the number of records
// in all parts.
func (tx *Tx) SetJobParts(ctx context.Context, id string, parts, total int, report *board.ImportReport) error {
	result, err := json.Marshal(jobResult{BoardIDs: []string{}, Report: report}, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return tx.exec(ctx, "UPDATE jobs SET parts = $1, total = $2, result = $3 WHERE id = $4", parts, total, string(result), id)
}

// JobPart returns a stored part of a job, which is compressed.
func (v *View) JobPart(ctx context.Context, id string, part int) (body []byte, err error) {
	found, err := v.one(ctx, "SELECT body FROM job_parts WHERE job_id = $1 AND part = $2", []any{id, part}, &body)
	if err == nil && !found {
		err = fmt.Errorf("part %d of %s is missing", part, id)
	}
	return body, err
}

// WriteJobPart writes the rows of a part, which must be uncompressed. The boards stay
// hidden until FinishJob.
func (tx *Tx) WriteJobPart(ctx context.Context, id string, part int, body []byte, records int) error {
	r, err := decodeRows(body)
	if err != nil {
		return err
	}
	if err := tx.writeRows(ctx, r); err != nil {
		return err
	}
	for _, b := range r.Boards {
		if err := tx.exec(ctx, "INSERT INTO job_boards (job_id, board_id) VALUES ($1, $2)", id, b[0]); err != nil {
			return err
		}
	}
	return tx.exec(ctx, "UPDATE jobs SET written = $1, done = done + $2 WHERE id = $3", part+1, records, id)
}

// FinishJob makes the boards of a job visible and marks the job as done. It returns the
// ids of the boards.
func (tx *Tx) FinishJob(ctx context.Context, id string) ([]string, error) {
	boards, err := tx.texts(ctx, "SELECT board_id FROM job_boards WHERE job_id = $1 ORDER BY board_id", id)
	if err != nil {
		return nil, err
	}
	r, err := tx.jobResult(ctx, id)
	if err != nil {
		return nil, err
	}
	r.BoardIDs = boards
	if err := tx.setJobResult(ctx, id, r); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		text string
		args []any
	}{
		{"UPDATE boards SET trashed_at = NULL WHERE id IN (SELECT board_id FROM job_boards WHERE job_id = $1)", []any{id}},
		{"DELETE FROM job_boards WHERE job_id = $1", []any{id}},
		{"UPDATE jobs SET state = $1, done = total, holder = '', ended_at = $2 WHERE id = $3",
			[]any{string(board.JobDone), int64(tx.now), id}},
	} {
		if err := tx.exec(ctx, step.text, step.args...); err != nil {
			return nil, fmt.Errorf("finish job: %w", err)
		}
	}
	tx.effects.Boards = append(tx.effects.Boards, boards...)
	return boards, nil
}

// FailJob marks a job as failed.
func (tx *Tx) FailJob(ctx context.Context, id string, f board.JobError) error {
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode fault: %w", err)
	}
	return tx.exec(ctx, "UPDATE jobs SET state = $1, fault = $2, holder = '', ended_at = $3 WHERE id = $4",
		string(board.JobFailed), string(text), int64(tx.now), id)
}

// JobCallerAllowed reports whether a job may still act for the view's caller, who started
// it. The caller's account must exist, and the caller's token, if any, must not be revoked.
func (v *View) JobCallerAllowed(ctx context.Context) (bool, error) {
	n, err := v.count(ctx, `SELECT count(*) FROM users u WHERE u.id = $1 AND u.deleted_at IS NULL AND ($2 = '' OR EXISTS
		(SELECT 1 FROM tokens t WHERE t.id = $2 AND t.revoked_at IS NULL))`, v.caller.UserID, v.caller.TokenID)
	return n > 0, err
}

// AbandonedBoard returns the id of a hidden board whose job has failed or was canceled,
// or "" if there is none.
func (v *View) AbandonedBoard(ctx context.Context) (id string, err error) {
	_, err = v.one(ctx, "SELECT b.board_id FROM job_boards b JOIN jobs j ON j.id = b.job_id WHERE j.ended_at IS NOT NULL LIMIT 1", nil, &id)
	return id, err
}

// HasJobLeftovers reports whether boards, lists or parts of ended jobs remain to be
// deleted.
func (db *DB) HasJobLeftovers(ctx context.Context) (found bool, err error) {
	err = db.Read(ctx, board.System(), func(v *View) error {
		n, err := v.count(ctx, `SELECT count(*) FROM jobs j WHERE j.ended_at IS NOT NULL
			AND (EXISTS (SELECT 1 FROM job_parts p WHERE p.job_id = j.id) OR EXISTS (SELECT 1 FROM job_boards b WHERE b.job_id = j.id)
			OR EXISTS (SELECT 1 FROM job_lists l WHERE l.job_id = j.id))`)
		found = n > 0
		return err
	})
	return found, err
}

// PurgeJobParts deletes at most limit parts of the job or, if id is "", of jobs that have
// ended. It returns the number of parts deleted.
func (tx *Tx) PurgeJobParts(ctx context.Context, id string, limit int) (int64, error) {
	condition, args := "j.ended_at IS NOT NULL", []any{limit}
	if id != "" {
		condition, args = "j.id = $2", append(args, id)
	}
	return tx.affected(ctx, "DELETE FROM job_parts WHERE (job_id, part) IN (SELECT p.job_id, p.part FROM job_parts p "+
		"JOIN jobs j ON j.id = p.job_id WHERE "+condition+" LIMIT $1)", args...)
}
