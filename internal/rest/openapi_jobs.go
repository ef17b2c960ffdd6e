package rest

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

// jobStarted is the status of a response that contains a job instead of its result. The response has the
// name jobStartedName.
const (
	jobStarted     = http.StatusAccepted
	jobStartedName = "JobStarted"
)

var startedExample = board.Job{
	ID: "job_01jb2m3n4p5q6r7s8t9v0w1x2y", Kind: board.JobCopyBoard, State: board.JobRunning,
	WorkspaceID: "wsp_01jb2m3n4p5q6r7s8t9v0w1x2y", Name: "Launch in May", Done: 1200, Total: 3000, BoardIDs: []string{},
	DroppedLabels: []board.LabelRef{}, DroppedAssignees: []board.UserRef{},
	CreatedAt: 1772442000000, StartedAt: new(board.Instant(1772442000250)),
}

// started describes the response of an operation whose job is still in progress.
func started(r *op.Registry) *huma.Response {
	return &huma.Response{
		Description: "The operation is still running as a job after two seconds. Call get_job to get the state of the job.",
		Headers: headerRefs("X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
			"X-RateLimit-Resource"),
		Content: map[string]*huma.MediaType{op.JSON: {
			Schema:  component(r, "JobResponse", withData(r.JobSchema())),
			Example: map[string]any{"data": startedExample},
		}},
	}
}
