package transfer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// PartStore stores the parts of import jobs without delaying other writes.
type PartStore interface {
	StorePart(ctx context.Context, jobID string, n int, p store.Part) error
}

// smallImport is the maximum number of parts of a file that is imported in one transaction.
const smallImport = 3

// auditName is the name of imports in the audit log.
const auditName = string(board.JobImport)

// importRun is the import of one received file.
type importRun struct {
	*Importer
	caller      board.Caller
	workspaceID string
	format      string
	read        func(context.Context, *store.Draft, io.Reader, Progress) (Report, error)
	files       attachedFiles    // the attached files; nil if they are skipped
	key         string           // value of Idempotency-Key; empty for none
	open        func() io.Reader // opens the received file
	sum         []byte           // hash of the request
	wait        time.Duration    // longest time to wait for the job
	progress    progressCounter
	withFiles   bool         // whether attached files were stored
	jobID       string       // the job that this import queued, if any
	queued      func(string) // called with the id of the queued job; may be nil
}

// firstResponse is the response that is stored for an idempotency key. It contains
// the report for a small file, or the id of the job for a large file.
type firstResponse struct {
	Report
	Job string `json:"job,omitempty"`
}

// run imports the file. It returns a Report, a *board.ImportReport if a job has
// imported the file, or a board.Job that is unfinished or canceled.
func (in *importRun) run(ctx context.Context) (any, error) {
	if IsZip(in.open()) {
		return nil, board.Invalid("The file is a zip archive; an import needs a JSON file. An operator can import an archive " +
			"written by cardwall export on the server, with the command cardwall import cardwall.")
	}
	parts, total := 0, 0
	report, err := in.draft(ctx, func(done, total int) { in.progress.set(done/4, total) }, func(p store.Part) error {
		parts++
		total += p.Records
		return nil
	})
	if err != nil {
		return nil, err
	}
	if in.files != nil {
		if err := in.files.store(ctx, in.DB, in.caller, in.filesStored); err != nil {
			return nil, err
		}
	}
	if parts <= smallImport {
		return in.importDirectly(ctx)
	}
	var (
		jobID    string
		repeated bool // the key was used by an earlier request
	)
	err = in.DB.Write(ctx, in.caller, func(tx *store.Tx) error {
		w, err := tx.Workspace(ctx, in.workspaceID, board.CreateBoards)
		if err != nil {
			return err
		}
		stored, err := in.claim(ctx, tx)
		if err != nil || stored != nil {
			if repeated = stored != nil; repeated {
				jobID, report = stored.Job, stored.Report
			}
			return err
		}
		name := "Import"
		if len(report.Boards) > 0 {
			name = report.Boards[0].Name
		}
		j, err := tx.InsertJob(ctx, store.NewJob{Kind: board.JobImport, Workspace: w, Name: name, Receiver: in.Holder,
			Input: map[string]string{"format": in.format}})
		if err != nil {
			return err
		}
		jobID, repeated = j.ID, false
		return in.storeResponse(ctx, tx, firstResponse{Job: j.ID})
	})
	switch {
	case err != nil:
		return nil, err
	case jobID == "":
		return report, nil
	case repeated:
		return in.await(ctx, jobID)
	}
	// From here on, the import continues even if the client disconnects.
	in.jobID = jobID
	if err := in.queue(context.WithoutCancel(ctx), jobID, total); err != nil {
		return nil, err
	}
	if in.queued != nil {
		in.queued(jobID)
	}
	return in.await(ctx, jobID)
}

// filesStored sets the progress while attached files are stored, from a quarter to three
// quarters.
func (in *importRun) filesStored(done, total int) {
	in.withFiles = true
	in.progress.set(total+2*done, 4*total)
}

// written sets the progress while records are written, up to the end.
func (in *importRun) written(done, total int) {
	all := cmp.Or(int(in.progress.total.Load()), total) // the total of a job also counts other records
	from := all / 4                                     // the first quarter is for reading the file
	if in.withFiles {
		from = all / 4 * 3
	}
	in.progress.set(from+(all-from)*done/max(total, 1), all)
}

// draft reads the file from its beginning and calls part with each part of the
// import.
func (in *importRun) draft(ctx context.Context, progress Progress, part func(store.Part) error) (report Report, err error) {
	err = in.DB.Stream(ctx, in.caller, func(v *store.View) error {
		w, err := v.Workspace(ctx, in.workspaceID, board.CreateBoards)
		if err != nil {
			return err
		}
		d := v.NewDraft(w, part)
		if report, err = in.read(ctx, d, in.open(), progress); err != nil {
			return err
		}
		return v.CheckStorage(ctx, w.OrganizationID, d.Bytes())
	})
	return report, err
}

// queue stores the parts of a job and queues the job. If it returns an error, it
// also marks the job as failed. If the job is canceled meanwhile, it returns nil.
func (in *importRun) queue(ctx context.Context, jobID string, total int) error {
	parts := 0
	report, err := in.draft(ctx, nil, func(p store.Part) error {
		parts++
		return in.Jobs.StorePart(ctx, jobID, parts-1, p)
	})
	if err == nil {
		err = in.DB.Write(ctx, board.System(), func(tx *store.Tx) error {
			return tx.QueueJob(ctx, jobID, in.Holder, parts, total, &report.ImportReport)
		})
	}
	if err == nil || errors.Is(err, store.ErrJobLost) {
		return nil
	}
	message := "The import was interrupted. Import the file again."
	if f, ok := board.AsFault(err); ok {
		message = f.Message
	}
	return errors.Join(err, in.DB.Write(ctx, board.System(), func(tx *store.Tx) error {
		if _, err := tx.HoldJob(ctx, jobID, in.Holder); err != nil {
			return err
		}
		return tx.FailJob(ctx, jobID, board.JobError{Code: board.CodeUnavailable, Message: message})
	}))
}

// await waits for a job. It returns the report if the job is done, or the job if
// it has not ended in time or was canceled.
func (in *importRun) await(ctx context.Context, jobID string) (any, error) {
	deadline := time.Now().Add(in.wait)
	for {
		var j board.Job
		if err := in.DB.Read(ctx, in.caller, func(v *store.View) (err error) {
			j, err = v.Job(ctx, jobID)
			return err
		}); err != nil {
			return nil, err
		}
		in.written(j.Done, j.Total)
		switch {
		case j.State == board.JobDone:
			return j.Report, nil
		case j.State == board.JobFailed:
			return nil, &board.Fault{Code: j.Error.Code, Message: j.Error.Message}
		case j.State == board.JobCancelled, time.Now().After(deadline):
			return j, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// importDirectly imports a small file in one transaction.
func (in *importRun) importDirectly(ctx context.Context) (report Report, err error) {
	err = in.DB.Write(ctx, in.caller, func(tx *store.Tx) error {
		w, err := tx.Workspace(ctx, in.workspaceID, board.CreateBoards)
		if err != nil {
			return err
		}
		stored, err := in.claim(ctx, tx)
		if err != nil || stored != nil {
			if stored != nil {
				report = stored.Report
			}
			return err
		}
		if report, err = in.read(ctx, tx.NewDraft(w), in.open(), in.written); err != nil {
			return err
		}
		if err := tx.Audit(ctx, auditName, in.workspaceID); err != nil {
			return err
		}
		return in.storeResponse(ctx, tx, firstResponse{Report: report})
	})
	return report, err
}

// claim claims the idempotency key of the import. It returns the stored response
// if the key was used before. The key of a refused import can be used again.
func (in *importRun) claim(ctx context.Context, tx *store.Tx) (*firstResponse, error) {
	if in.key == "" {
		return nil, nil
	}
	stored, err := tx.ClaimKey(ctx, in.key, auditName, in.sum)
	if err != nil || stored == nil {
		return nil, err
	}
	if err := tx.StillVisible(ctx, in.workspaceID, ""); err != nil {
		return nil, err
	}
	var f firstResponse
	return &f, json.Unmarshal(stored.Body, &f)
}

// storeResponse stores the first response for the idempotency key.
func (in *importRun) storeResponse(ctx context.Context, tx *store.Tx, f firstResponse) error {
	if in.key == "" {
		return nil
	}
	encoded, err := json.Marshal(f, json.Deterministic(true))
	if err != nil {
		return err
	}
	return tx.SaveResponse(ctx, in.key, store.StoredResponse{WorkspaceID: in.workspaceID, Body: encoded})
}
