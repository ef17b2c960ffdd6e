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
	uploadTime = 10 * time.Minute // of the import
)

// linesMedia is the media type of progress lines, in requests and responses.
const linesMedia = "application/x-ndjson"

// Importer imports files that are sent to the server.
type Importer struct {
	DB      *store.DB
	Jobs    PartStore
	Uploads *Uploads
	Holder  string // the name under which the server receives files
	Log     *slog.Logger
	Metrics *Metrics
}

// Serve handles POST …/workspaces/{workspaceId}/import?format=trello|cardwall. It
// imports the body, a JSON file of at most 100 MB. The server first spools the
// complete file. It then reads the file to its end before it writes anything. It
// is imported completely or not at all. With an Idempotency-Key it is imported
// once: repeating the request returns the first report, and sending another file
// with the same key is refused.
//
// A job writes a large file. The response is the report (201), or the job (202)
// if it has not ended within two seconds. If the client accepts
// application/x-ndjson, a long import responds with 200 and lines of JSON:
// {"progress":{"done":…,"total":…}} a few times a second, counted in records of
// the file, and finally {"data":…} with the report or {"error":…} with the
// refusal.
func (u *Importer) Serve(w http.ResponseWriter, r *http.Request, caller board.Caller, still func() error) (err error) {
	in := importing{Importer: u, caller: caller, workspaceID: r.PathValue("workspaceId"), format: r.URL.Query().Get("format")}
	if in.read, err = readerOf(in.format); err != nil {
		return err
	}
	var told error // error already sent as the last line
	defer func() { u.Metrics.imported(in.format, errors.Join(err, told)) }()
	if !caller.Has(board.ScopeWrite) {
		return board.Refuse(board.CodeInsufficientScope, "This requires a token with the scope write.")
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
	leave, err := u.Uploads.enter(caller.UserID)
	if err != nil {
		return err
	}
	defer leave()
	file, err := u.Uploads.receive(w, r, sum)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := still(); err != nil { // the upload may have taken long
		return err
	}
	in.open, in.sum = func() io.Reader { return file.Reader() }, sum.Sum(nil)
	ctx, cancel := context.WithTimeout(r.Context(), uploadTime)
	defer cancel()
	out := lines{w: w, ctl: http.NewResponseController(w)}
	var result any
	if r.Header.Get("Accept") == linesMedia {
		in.wait = uploadTime
		err = out.during(func() (err error) {
			result, err = in.run(ctx)
			return err
		}, &in.at)
	} else {
		in.wait = jobWait
		result, err = in.run(ctx)
	}
	if err != nil && out.begun {
		told = err
		fault, ok := board.AsFault(err)
		if !ok {
			id := w.Header().Get("X-Request-Id")
			u.Log.ErrorContext(ctx, "unexpected error", "request", id, "method", r.Method, "path", r.URL.Path, "error", err)
			fault = board.Refuse(board.CodeInternal, "An unexpected error occurred. The server's log has it as "+
				"request %s.", id)
		}
		out.write(map[string]any{"error": map[string]any{"code": fault.Code, "message": fault.Message}})
		return nil
	}
	if err != nil {
		return err
	}
	if !out.begun {
		status := http.StatusCreated
		if _, ok := result.(board.Job); ok {
			status = http.StatusAccepted
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
	}
	out.write(map[string]any{"data": result})
	return nil
}

// progressed holds the progress of an import. It is set inside the transaction,
// which must not wait for the client, and read outside.
type progressed struct{ done, total atomic.Int64 }

func (p *progressed) set(done, total int) {
	p.done.Store(int64(done))
	p.total.Store(int64(total))
}

// progressEvery is the interval of progress lines.
const progressEvery = 250 * time.Millisecond

// lines writes lines of JSON to a client that may be gone.
type lines struct {
	w     http.ResponseWriter
	ctl   *http.ResponseController
	begun bool
}

// during reports progress until the work has ended. Short work reports none.
func (l *lines) during(work func() error, at *progressed) error {
	ended := make(chan error, 1)
	go func() { ended <- work() }()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			if !l.begun {
				l.begun = true
				l.w.Header().Set("Content-Type", linesMedia)
				l.w.Header().Set("Cache-Control", "no-store")
				l.w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx buffers the lines
				l.w.WriteHeader(http.StatusOK)
			}
			l.write(map[string]any{"progress": map[string]int64{"done": at.done.Load(), "total": at.total.Load()}})
		}
	}
}

func (l *lines) write(line any) {
	text, err := json.Marshal(line, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("transfer: encode a line: %v", err)) // a programming error
	}
	_, _ = l.w.Write(append(text, '\n'))
	_ = l.ctl.Flush() // not every test's ResponseWriter supports it
}
