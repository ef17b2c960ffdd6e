package app

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// JobInput identifies a job.
type JobInput struct {
	JobID string `json:"jobId" maxLength:"64" doc:"The id of the job." example:"job_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetJob returns a job of the caller.
func GetJob(ctx context.Context, v *store.View, in JobInput) (board.Job, error) {
	return v.Job(ctx, in.JobID)
}

// CancelJob cancels a job of the caller, so that its partial result is deleted. It
// has no effect if the job has ended, is moving a list, or has already made its result
// visible.
func CancelJob(ctx context.Context, tx *store.Tx, in JobInput) (board.Job, error) {
	return tx.CancelJob(ctx, in.JobID)
}

// ListJobsInput is the input of ListJobs.
type ListJobsInput struct {
	WorkspaceID string `json:"workspaceId" maxLength:"64" doc:"The id of the workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	op.Paging
}

// ListJobs returns the caller's jobs in a workspace, newest first.
func ListJobs(ctx context.Context, v *store.View, in ListJobsInput) (op.Page[board.Job], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.Job]{}, err
	}
	if _, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
		return op.Page[board.Job]{}, err
	}
	jobs, err := v.Jobs(ctx, in.WorkspaceID, before, in.Size()+1)
	return op.Cut(jobs, in.Size(), func(j board.Job) any { return j.ID }), err
}

// boardOfJob returns the first board that a finished job has created. It returns a
// not_found error if the job has created none.
func boardOfJob(ctx context.Context, v *store.View, j board.Job) (board.BoardDetail, error) {
	if len(j.BoardIDs) == 0 {
		return board.BoardDetail{}, board.NotFound()
	}
	b, err := v.Board(ctx, j.BoardIDs[0], board.View)
	if err != nil {
		return board.BoardDetail{}, err
	}
	return boardDetail(ctx, v, b)
}

// DraftJob adds the board that a job creates to a draft. It returns an error for an
// import, which only the server that received the file can draft.
func DraftJob(ctx context.Context, d *store.Draft, j *store.RunningJob) error {
	switch j.Kind {
	case board.JobCopyBoard:
		return draftWith(ctx, d, j, DraftCopy)
	case board.JobFromTemplate:
		return draftWith(ctx, d, j, DraftFromTemplate)
	case board.JobImport: // its parts are stored by the server that receives the file
		return board.Refuse(board.CodeInternal, "The server stopped while it was receiving the file. Import the file again.")
	}
	return fmt.Errorf("job %s has the unknown kind %q", j.ID, j.Kind)
}

func draftWith[I any](ctx context.Context, d *store.Draft, j *store.RunningJob, draft func(context.Context, *store.Draft, I) error) error {
	var in I
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return fmt.Errorf("decode the input of %s: %w", j.ID, err)
	}
	return draft(ctx, d, in)
}
