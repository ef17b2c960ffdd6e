package op

import (
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// JobWait is how long a server waits for a job before it responds with the unfinished job.
const JobWait = 2 * time.Second

// startedJob returns the id of the job in a stored response of an operation that may start one, or ""
// if the response contains the operation's result.
func startedJob(body []byte) string {
	var response struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &response) != nil || !strings.HasPrefix(response.Data.ID, "job_") {
		return ""
	}
	return response.Data.ID
}

// awaitJob waits for the job of a response to end, but no longer than c.Wait. It returns the
// operation's result if the job is done, the job's fault if it failed, and otherwise the job.
func (e *Engine) awaitJob(ctx context.Context, c Call, started Response) (response Response, err error) {
	response.Replayed = started.Replayed
	wait := c.Wait
	if wait == 0 {
		wait = e.o.JobWait
	}
	deadline := time.Now().Add(wait)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		var out any
		if err := e.db.Read(ctx, c.Caller, func(v *store.View) error {
			j, err := v.Job(ctx, started.job)
			if err == nil && j.State == board.JobDone {
				out, err = c.Operation.ofJob(ctx, v, j)
				return err
			}
			out = j
			return err
		}); err != nil {
			return response, err
		}
		j, isJob := out.(board.Job)
		switch {
		case isJob && j.State == board.JobFailed:
			return response, &board.Fault{Code: j.Error.Code, Message: j.Error.Message}
		case !isJob, j.State.Ended(), time.Now().Add(pause).After(deadline):
			response.Started = isJob
			response.Body, err = e.encode(c, out, 0)
			return response, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return response, ctx.Err()
		}
	}
}
