package app_test

import (
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// People see and cancel only their own jobs. A canceled job stays canceled.
func TestPeopleSeeOnlyTheirOwnJobs(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		done := w.owner.All("list_jobs", "id", fields{"workspaceId": w.workspace})
		id := w.newJob()
		wantStrings(t, "jobs", w.owner.All("list_jobs", "id", fields{"workspaceId": w.workspace}),
			append([]string{id}, done...)...)

		j := w.owner.Must("get_job", fields{"jobId": id})
		if j.Text("kind") != string(board.JobCopyBoard) || j.Text("name") != "Launch again" || j.Get("endedAt") == nil {
			t.Errorf("got job %s, want a finished copy_board job named Launch again", j.Raw)
		}
		if again := w.owner.Must("cancel_job", fields{"jobId": id}); again.Text("state") != "cancelled" ||
			again.Text("endedAt") != j.Text("endedAt") {
			t.Errorf("second cancel_job: got %s, want %s", again.Raw, j.Raw)
		}

		wantStrings(t, "jobs of another member", w.other.All("list_jobs", "id", fields{"workspaceId": w.workspace}))
		for _, operation := range []string{"get_job", "cancel_job"} {
			w.other.Refused(board.CodeNotFound, operation, fields{"jobId": id})
		}
	})
}
