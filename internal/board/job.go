package board

// A job is work that takes longer than one short transaction. It runs in slices. The
// boards and lists that it creates are visible only when it is complete. A list that
// moves to another board remains visible.

// JobKind is the task of a job.
type JobKind string

// The kinds of jobs. Each has the name of the operation that starts it.
const (
	JobImport       JobKind = "import_board"
	JobCopyBoard    JobKind = "copy_board"
	JobFromTemplate JobKind = "create_board_from_template"
	JobCopyList     JobKind = "copy_list"
	JobMoveList     JobKind = "move_list_to_board"
)

// MakesList reports whether a job of the kind creates a list on an existing board.
func (k JobKind) MakesList() bool { return k == JobCopyList }

// JobState is the state of a job.
type JobState string

// The states of a job. The last three are final.
const (
	JobQueued    JobState = "queued"
	JobRunning   JobState = "running"
	JobDone      JobState = "done"
	JobFailed    JobState = "failed"
	JobCancelled JobState = "cancelled"
)

// Ended reports whether the state is final.
func (s JobState) Ended() bool { return s == JobDone || s == JobFailed || s == JobCancelled }

// Job is a long task that a person started: an import, a copy of a large board or list,
// or the move of a large list to another board.
type Job struct {
	ID               string        `json:"id" doc:"The job's id." example:"job_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Kind             JobKind       `json:"kind" doc:"The operation that started the job: import_board, copy_board, create_board_from_template, copy_list or move_list_to_board. More kinds may be added." example:"copy_board"`
	State            JobState      `json:"state" enum:"queued,running,done,failed,cancelled" doc:"The job's state. done, failed and cancelled are final." example:"running"`
	WorkspaceID      string        `json:"workspaceId" doc:"The id of the workspace in which the job runs." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name             string        `json:"name" doc:"The name of the board or list that the job creates or moves, or of the first board of an import." example:"Launch in May"`
	Done             int           `json:"done" doc:"The number of records that the job has written." example:"1200"`
	Total            int           `json:"total" doc:"The number of records that the job will write in total; 0 while that is unknown." example:"3000"`
	BoardIDs         []string      `json:"boardIds" doc:"The ids of the boards that the job created; empty until it is done."`
	ListID           *string       `json:"listId" doc:"The id of the list that the job created or moved; null until it is done, and for a job that creates boards." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Report           *ImportReport `json:"report" doc:"What an import created, skipped and changed; null until the job is done, and for other jobs."`
	DroppedLabels    []LabelRef    `json:"droppedLabels" doc:"The labels that cards lost because they moved to another board; empty until the job is done."`
	DroppedAssignees []UserRef     `json:"droppedAssignees" doc:"The people who were unassigned from cards because they cannot see the other board; empty until the job is done."`
	Error            *JobError     `json:"error" doc:"Why the job failed; null if it did not fail."`
	CreatedAt        Instant       `json:"createdAt" format:"date-time" doc:"When the job was created." example:"2026-03-01T09:00:00.000Z"`
	StartedAt        *Instant      `json:"startedAt" format:"date-time" doc:"When the job started; null while it is queued." example:"2026-03-01T09:00:01.000Z"`
	EndedAt          *Instant      `json:"endedAt" format:"date-time" doc:"When the job reached its final state; null until then." example:"2026-03-01T09:00:09.000Z"`
}

// JobError is the reason why a job failed.
type JobError struct {
	Code    Code   `json:"code" doc:"The error code, as in an error response." example:"limit_reached"`
	Message string `json:"message" doc:"A description of the error." example:"There can be at most 10000 cards on a board, not counting archived ones."`
}
