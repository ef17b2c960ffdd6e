package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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
	uploadMost = 100 << 20        // maximum size of a file in bytes
	uploadTime = 10 * time.Minute // of the import
)

// linesMedia is the media type of progress lines, in requests and responses.
const linesMedia = "application/x-ndjson"

// Upload handles POST …/workspaces/{workspaceId}/import?format=trello|cardwall.
// It imports the body, a JSON file of at most 100 MB, and responds with the
// report. The file is spooled until it is complete, so that a slow sender does not
// keep a transaction open. It is imported completely or not at all. With an Idempotency-Key it is imported once: repeating the request
// returns the first report, and sending another file with the same key is
// refused.
//
// If the client accepts application/x-ndjson, a long import responds with 200
// and lines of JSON: {"progress":{"done":…,"total":…}} a few times a second,
// counted in records of the file, and finally {"data":…} with the report or
// {"error":…} with the refusal.
func Upload(db *store.DB, log *slog.Logger, metrics *Metrics, uploads *Uploads) func(w http.ResponseWriter, r *http.Request,
	caller board.Caller, still func() error) error {
	return func(w http.ResponseWriter, r *http.Request, caller board.Caller, still func() error) (err error) {
		read, format := ImportTrello, r.URL.Query().Get("format")
		switch format {
		case "trello":
		case "cardwall":
			read = Import
		default:
			return board.Invalid("format must be trello or cardwall.").In("format", board.RuleValue)
		}
		var told error // error already sent as the last line
		defer func() { metrics.imported(format, errors.Join(err, told)) }()
		if !caller.Has(board.ScopeWrite) {
			return board.Refuse(board.CodeInsufficientScope, "This requires a token with the scope write.")
		}
		key, err := op.KeyOf(r.Header.Values(op.KeyHeader))
		if err != nil {
			return err
		}
		workspaceID := r.PathValue("workspaceId")
		if err := db.Read(r.Context(), caller, func(v *store.View) error {
			_, err := v.Workspace(r.Context(), workspaceID, board.CreateBoards)
			return err
		}); err != nil {
			return err
		}
		sum := sha256.New()
		_, _ = fmt.Fprintf(sum, "%s\x00%s\x00", format, workspaceID)
		leave, err := uploads.enter(caller.UserID)
		if err != nil {
			return err
		}
		defer leave()
		file, err := uploads.receive(w, r, sum)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if err := still(); err != nil { // the upload may have taken long
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), uploadTime)
		defer cancel()
		var (
			report Report
			at     progressed
		)
		work := func() error {
			return db.Write(ctx, caller, func(tx *store.Tx) (err error) {
				report, err = once(ctx, tx, key, workspaceID, sum.Sum(nil), func() (report Report, err error) {
					if report, err = read(ctx, tx, workspaceID, file.Reader(), at.set); err == nil {
						err = tx.Audit(ctx, uploaded, workspaceID)
					}
					return report, err
				})
				return err
			})
		}
		out := lines{w: w, ctl: http.NewResponseController(w)}
		if r.Header.Get("Accept") == linesMedia {
			err = out.during(work, &at)
		} else {
			err = work()
		}
		if err != nil && out.begun {
			told = err
			fault, ok := board.AsFault(err)
			if !ok {
				id := w.Header().Get("X-Request-Id")
				log.ErrorContext(ctx, "unexpected error", "request", id, "method", r.Method, "path", r.URL.Path, "error", err)
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
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusCreated)
		}
		out.write(map[string]any{"data": report})
		return nil
	}
}

// uploaded is the name of an import in the audit log.
const uploaded = "import_board"

// once runs an import unless its key was already used, and stores its report
// with the import. After a refused import the key can be used again.
func once(ctx context.Context, tx *store.Tx, key, workspaceID string, sum []byte, run func() (Report, error)) (report Report, err error) {
	if key == "" {
		return run()
	}
	stored, err := tx.Claim(ctx, key, uploaded, sum)
	if err != nil {
		return report, err
	}
	if stored != nil {
		if err := tx.StillVisible(ctx, workspaceID, ""); err != nil {
			return report, err
		}
		return report, json.Unmarshal(stored.Answer, &report)
	}
	if report, err = run(); err != nil {
		return report, err
	}
	answer, err := json.Marshal(report, json.Deterministic(true))
	if err != nil {
		return report, err
	}
	return report, tx.Keep(ctx, key, store.Stored{WorkspaceID: workspaceID, Answer: answer})
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
