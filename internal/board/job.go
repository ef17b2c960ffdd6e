package board

// A job is work that takes longer than one short transaction. It runs in slices,
// and what it makes is visible only when it is complete. A list that moves to another
// board is visible meanwhile.

// JobKind is what a job does.
type JobKind string

// The kinds of jobs. Each has the name of the operation that starts it.
const (
	JobImport       JobKind = "import_board"
	JobCopyBoard    JobKind = "copy_board"
	JobFromTemplate JobKind = "create_board_from_template"
	JobCopyList     JobKind = "copy_list"
	JobMoveList     JobKind = "move_list_to_board"
)

// MakesList reports whether a job of the kind makes a list on a board, instead of
// boards.
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

// Job is long work of a person: an import, a copy of a large board or list, or the move of
// a large list to another board.
type Job struct {
	ID               string        `json:"id" doc:"The job's id." example:"job_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Kind             JobKind       `json:"kind" doc:"What it does: import_board, copy_board, create_board_from_template, copy_list or move_list_to_board. More kinds may be added." example:"copy_board"`
	State            JobState      `json:"state" enum:"queued,running,done,failed,cancelled" doc:"Its state; done, failed and cancelled are final." example:"running"`
	WorkspaceID      string        `json:"workspaceId" doc:"The workspace that it works in." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name             string        `json:"name" doc:"The name of the board or list that it makes or moves, or of the first board of an import." example:"Launch in May"`
	Done             int           `json:"done" doc:"How many records it has written." example:"1200"`
	Total            int           `json:"total" doc:"How many records it will write; 0 while that is unknown." example:"3000"`
	BoardIDs         []string      `json:"boardIds" doc:"The boards that it made; empty until it is done."`
	ListID           *string       `json:"listId" doc:"The list that it made or moved; null until it is done, and for a job that makes boards." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Report           *ImportReport `json:"report" doc:"What an import that is done has made, and what it skipped or changed; null otherwise."`
	DroppedLabels    []LabelRef    `json:"droppedLabels" doc:"The labels that cards lost because they moved to another board; empty until the job is done."`
	DroppedAssignees []UserRef     `json:"droppedAssignees" doc:"The people who were unassigned from cards because they cannot see the other board; empty until the job is done."`
	Error            *JobError     `json:"error" doc:"Why it failed; null if it did not fail."`
	CreatedAt        Instant       `json:"createdAt" format:"date-time" doc:"When it was created." example:"2026-03-01T09:00:00.000Z"`
	StartedAt        *Instant      `json:"startedAt" format:"date-time" doc:"When it started; null while it is queued." example:"2026-03-01T09:00:01.000Z"`
	EndedAt          *Instant      `json:"endedAt" format:"date-time" doc:"When it reached its final state; null until then." example:"2026-03-01T09:00:09.000Z"`
}

// JobError says why a job failed.
type JobError struct {
	Code    Code   `json:"code" doc:"The code, as in the error of a response." example:"limit_reached"`
	Message string `json:"message" doc:"What happened." example:"There can be at most 10000 open cards on a board."`
}
