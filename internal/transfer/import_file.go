package transfer

import (
	"context"
	"errors"
	"io"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// File is a file to import from the command line.
type File struct {
	Format      string // trello or cardwall
	WorkspaceID string
	Caller      board.Caller
	Open        func() io.Reader // returns a reader at the start of the file
	Contents    Contents         // content of the attached files of a cardwall document; nil to skip these files
	Downloads   Downloads        // downloads the attached files of a trello document; nil to make them links
	Progress    Progress         // called a few times a second; may be nil
	Queued      func(string)     // called with the id of the job that imports a large file; must start the job
}

// ImportFile imports a file in the same way as Serve and waits until the import
// has ended. If ctx is canceled, it cancels the job and nothing is imported.
func (u *Importer) ImportFile(ctx context.Context, f File) (Report, error) {
	in := importRun{Importer: u, caller: f.Caller, workspaceID: f.WorkspaceID, format: f.Format, open: f.Open,
		queued: f.Queued, wait: 24 * time.Hour}
	var err error
	if in.read, err = readerOf(f.Format); err != nil {
		return Report{}, err
	}
	switch {
	case f.Downloads != nil && f.Format == "trello":
		files := &downloadedFiles{downloads: f.Downloads}
		in.files = files
		in.read = func(ctx context.Context, d *store.Draft, r io.Reader, progress Progress) (Report, error) {
			return importTrelloWith(ctx, d, r, progress, files)
		}
	case f.Contents != nil && f.Format == "cardwall":
		files := &importedFiles{contents: f.Contents, stored: map[string]*board.StoredFile{}}
		in.files = files
		in.read = func(ctx context.Context, d *store.Draft, r io.Reader, progress Progress) (Report, error) {
			return importWith(ctx, d, r, progress, files)
		}
	}
	stop := in.report(f.Progress)
	result, err := in.run(ctx)
	stop()
	if err != nil && ctx.Err() != nil {
		err = errors.New("the import was interrupted; nothing was imported")
		if in.jobID != "" {
			err = errors.Join(err, in.cancel(context.WithoutCancel(ctx)))
		}
	}
	if err != nil {
		return Report{}, err
	}
	var report Report
	switch r := result.(type) {
	case Report:
		report = r
	case *board.ImportReport:
		report.ImportReport = *r
	default:
		return Report{}, errors.New("the import was canceled")
	}
	if in.files != nil {
		report.Files = in.files.count()
	}
	return report, nil
}

// readerOf returns the import function for a format.
func readerOf(format string) (func(context.Context, *store.Draft, io.Reader, Progress) (Report, error), error) {
	switch format {
	case "trello":
		return ImportTrello, nil
	case "cardwall":
		return Import, nil
	}
	return nil, board.Invalid("format must be trello or cardwall.").In("format", board.RuleValue)
}

// report calls fn with the progress at intervals until stop is called. The stop
// function waits for a running call of fn.
func (in *importRun) report(fn Progress) (stop func()) {
	if fn == nil {
		return func() {}
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				fn(int(in.progress.done.Load()), int(in.progress.total.Load()))
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// cancel cancels the job unless it has ended.
func (in *importRun) cancel(ctx context.Context) error {
	return in.DB.Write(ctx, in.caller, func(tx *store.Tx) error {
		_, err := tx.CancelJob(ctx, in.jobID)
		return err
	})
}
