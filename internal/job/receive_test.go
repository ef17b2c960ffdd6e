package job_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/job"
	"cardwall/internal/store"
)

// receive starts an import whose parts the given server stores, and returns its id.
func (w *world) receive(holder string) (id string) {
	w.T.Helper()
	w.Write(board.Person(w.ada.ID, board.ScopeWrite), func(ctx context.Context, tx *store.Tx) error {
		in, err := tx.Workspace(ctx, w.workspace, board.CreateBoards)
		if err != nil {
			return err
		}
		j, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobImport, Workspace: in, Name: "Import", Receiver: holder,
			Input: map[string]string{"format": "cardwall"}})
		id = j.ID
		return err
	})
	return id
}

// Each part renews the lease of the server that receives an import. If the server stops, the import
// fails half a minute later, and nothing of it is left.
func TestImportFailsSoonAfterItsReceiverStopped(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		w.Clock.Stop()
		e := job.New(job.Options{DB: w.DB, Holder: "receiver", Draft: app.DraftJob, Log: slog.New(slog.DiscardHandler)})
		id := w.receive("receiver:upload")
		for n := range 3 {
			if err := e.StorePart(t.Context(), id, n, store.Part{Body: []byte("rows"), Records: 1}); err != nil {
				t.Fatal(err)
			}
			w.Clock.Advance(20 * time.Second)
			if j, err := w.DB.ClaimJob(t.Context(), "other", "", time.Minute); err != nil || j != nil {
				t.Fatalf("20s after part %d, another server claimed job %+v (%v), want none", n, j, err)
			}
		}
		w.Clock.Advance(11 * time.Second)
		j := w.run("other", id, nil)
		if j.State != board.JobFailed || !strings.Contains(j.Error.Message, "Import the file again") {
			t.Errorf("got job %+v with %+v, want it failed with the advice to import the file again", j, j.Error)
		}
		if got := w.Column("SELECT job_id FROM job_parts"); len(got) != 0 {
			t.Errorf("got %d leftover parts, want 0", len(got))
		}
	})
}

// A canceled import accepts no further parts.
func TestCancelledImportAcceptsNoParts(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		e := job.New(job.Options{DB: w.DB, Holder: "receiver", Draft: app.DraftJob, Log: slog.New(slog.DiscardHandler)})
		id := w.receive("receiver:upload")
		w.ada.Must("cancel_job", map[string]any{"jobId": id})
		err := e.StorePart(t.Context(), id, 0, store.Part{Body: []byte("rows"), Records: 1})
		if !errors.Is(err, store.ErrJobLost) {
			t.Errorf("store a part: got error %v, want %v", err, store.ErrJobLost)
		}
		if got := w.Column("SELECT job_id FROM job_parts"); len(got) != 0 {
			t.Errorf("got %d stored parts, want 0", len(got))
		}
	})
}
