package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

const (
	maxUpload  = 100 << 20        // maximum size of a file in bytes
	uploadTime = 10 * time.Minute // limit for an import, after the upload
)

// linesMedia is the media type of progress lines, in requests and responses.
const linesMedia = "application/x-ndjson"

// Importer imports files that clients upload.
type Importer struct {
	DB      *store.DB
	Jobs    PartStore
	Uploads *Uploads
	Holder  string // this server's name as the holder of jobs whose file is not stored yet
	Log     *slog.Logger
	Metrics *Metrics
	JobWait time.Duration // longest time that a request waits for a job, unless it accepts progress lines
}

// Serve handles POST …/workspaces/{workspaceId}/import?format=trello|cardwall. The
// body is a JSON file of at most 100 MB. Serve first spools the complete file and
// checks all of it before it imports anything. The file is imported completely or
// not at all. With an Idempotency-Key, the file is imported only once: a retry
// returns the first report, and another file with the same key is refused. After
// the upload, Serve calls recheck and, if that fails, returns its error.
//
// A large file is imported by a job. The response is the report (201), or the job
// (202) if it has not ended within JobWait. If the client accepts
// application/x-ndjson, a long import responds with 200 and lines of JSON:
// {"progress":{"done":…,"total":…}} a few times a second, counted in records, and
// finally {"data":…} with the report or {"error":…} with the refusal.
func (u *Importer) Serve(w http.ResponseWriter, r *http.Request, caller board.Caller, recheck func() error) (err error) {
	in := importRun{Importer: u, caller: caller, workspaceID: r.PathValue("workspaceId"), format: r.URL.Query().Get("format")}
	if in.read, err = readerOf(in.format); err != nil {
		return err
	}
	var sentErr error // error already sent as the last line
	defer func() { u.Metrics.imported(in.format, errors.Join(err, sentErr)) }()
	if err := caller.Needs(board.ScopeWrite, "This"); err != nil {
		return err
	}
	if in.key, err = op.KeyOf(r.Header.Values(op.KeyHeader)); err != nil {
		return err
	}
	if err := u.DB.Read(r.Context(), caller, func(v *store.View) error {
		_, err := v.Workspace(r.Context(), in.workspaceID, board.CreateBoards)
		return err
	}); err != nil {
		return err
	}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%s\x00%s\x00", in.format, in.workspaceID)
	end, err := u.Uploads.start(caller.UserID)
	if err != nil {
		return err
	}
	defer end()
	file, err := u.Uploads.receive(w, r, sum)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := recheck(); err != nil { // the caller may have lost access during the upload
		return err
	}
	in.open, in.sum = func() io.Reader { return file.Reader() }, sum.Sum(nil)
	sentErr, err = in.respond(w, r)
	return err
}

// respond runs the import and writes the response. It returns as sentErr an error
// that it has sent as the last line.
func (in *importRun) respond(w http.ResponseWriter, r *http.Request) (sentErr, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), uploadTime)
	defer cancel()
	out := lineWriter{w: w, ctl: http.NewResponseController(w)}
	var result any
	if r.Header.Get("Accept") == linesMedia {
		in.wait = uploadTime
		err = out.reportWhile(func() (err error) {
			result, err = in.run(ctx)
			return err
		}, &in.progress)
	} else {
		in.wait = in.JobWait
		result, err = in.run(ctx)
	}
	switch {
	case err != nil && out.started:
		log := in.Log.With("method", r.Method, "path", r.URL.Path)
		fault := op.FaultOf(ctx, log, w.Header().Get("X-Request-Id"), err)
		out.write(map[string]any{"error": op.ErrorOf(fault)})
		return fault, nil
	case err != nil:
		return nil, err
	case !out.started:
		status := http.StatusCreated
		if _, ok := result.(board.Job); ok {
			status = http.StatusAccepted
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
	}
	out.write(map[string]any{"data": result})
	return nil, nil
}

// progressCounter holds the progress of an import. The import updates it inside a
// transaction, which must not wait for the client. So another goroutine sends the
// progress to the client.
type progressCounter struct{ done, total atomic.Int64 }

func (p *progressCounter) set(done, total int) {
	p.done.Store(int64(done))
	p.total.Store(int64(total))
}

// progressEvery is the interval of progress lines.
const progressEvery = 250 * time.Millisecond

// lineWriter writes lines of JSON to a client. It ignores write errors, because the
// client may have disconnected.
type lineWriter struct {
	w       http.ResponseWriter
	ctl     *http.ResponseController
	started bool
}

// reportWhile runs work and writes progress lines until work returns. It writes
// none if work returns within progressEvery.
func (l *lineWriter) reportWhile(work func() error, progress *progressCounter) error {
	ended := make(chan error, 1)
	go func() { ended <- work() }()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			if !l.started {
				l.started = true
				l.w.Header().Set("Content-Type", linesMedia)
				l.w.Header().Set("Cache-Control", "no-store")
				l.w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx buffers the lines
				l.w.WriteHeader(http.StatusOK)
			}
			l.write(map[string]any{"progress": map[string]int64{"done": progress.done.Load(), "total": progress.total.Load()}})
		}
	}
}

func (l *lineWriter) write(line any) {
	text, err := json.Marshal(line, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("transfer: encode a line: %v", err)) // a programming error
	}
	_, _ = l.w.Write(append(text, '\n'))
	_ = l.ctl.Flush() // fails in tests whose ResponseWriter cannot flush
}
