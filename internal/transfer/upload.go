package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

const (
	uploadMost  = 100 << 20 // bytes of a file
	uploadPause = 30 * time.Second
	uploadTime  = 10 * time.Minute
)

// linesMedia is what asks for the progress of an import, and what tells it.
const linesMedia = "application/x-ndjson"

// Upload answers POST …/workspaces/{workspaceId}/import?format=trello|cardwall
// with the report of the import of the request's body, a JSON file of at most
// 100 MB. The file is kept on disk until it has arrived whole, so that a slow
// sender holds no transaction open; all of it is imported, or nothing. With an
// Idempotency-Key it is imported once: sent again, it is answered with the report
// of the first time, and with a refusal when it is another file.
//
// To who accepts application/x-ndjson a long import answers 200 and lines of
// JSON: {"progress":{"done":…,"total":…}} a few times a second, in records of the
// file, and at last {"data":…} with the report or {"error":…} with the refusal.
func Upload(db *store.DB, log *slog.Logger, metrics *Metrics) func(w http.ResponseWriter, r *http.Request, caller board.Caller, still func() error) error {
	return func(w http.ResponseWriter, r *http.Request, caller board.Caller, still func() error) (err error) {
		read, format := ImportTrello, r.URL.Query().Get("format")
		switch format {
		case "trello":
		case "cardwall":
			read = Import
		default:
			return board.Invalid("format must be trello or cardwall.")
		}
		var told error // to a reader of lines, as the last of them
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
		file, err := receive(w, r, sum)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
		if err := still(); err != nil { // it may have taken long to arrive
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
				if _, err := file.Seek(0, io.SeekStart); err != nil { // a transaction may run again
					return err
				}
				report, err = once(ctx, tx, key, workspaceID, sum.Sum(nil), func() (report Report, err error) {
					if report, err = read(ctx, tx, workspaceID, file, at.set); err == nil {
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
				fault = board.Refuse(board.CodeInternal, "Something went wrong on our side; the log has it as request %s.", id)
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

// uploaded is what the audit calls an import.
const uploaded = "import_board"

// once runs an import, unless its key says that it ran before, and keeps its
// report with what it did. A refused import leaves nothing of its key.
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

// progressed is how far an import is: told inside its transaction, which must
// not wait for a reader, and read outside.
type progressed struct{ done, total atomic.Int64 }

func (p *progressed) set(done, total int) {
	p.done.Store(int64(done))
	p.total.Store(int64(total))
}

// progressEvery is how often an import says how far it is.
const progressEvery = 250 * time.Millisecond

// lines writes lines of JSON to a reader, who may be gone.
type lines struct {
	w     http.ResponseWriter
	ctl   *http.ResponseController
	begun bool
}

// during tells how far the work is until it has ended; work that is soon done
// is told nothing of.
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
				l.w.Header().Set("X-Accel-Buffering", "no") // nginx would keep the lines
				l.w.WriteHeader(http.StatusOK)
			}
			l.write(map[string]any{"progress": map[string]int64{"done": at.done.Load(), "total": at.total.Load()}})
		}
	}
}

func (l *lines) write(line any) {
	text, err := json.Marshal(line, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("transfer: encode a line: %v", err)) // a mistake in the program
	}
	_, _ = l.w.Write(append(text, '\n'))
	_ = l.ctl.Flush() // not every writer of a test has it
}

// receive keeps a request's body in a file, and writes it to sum. Each piece of it
// has uploadPause.
func receive(w http.ResponseWriter, r *http.Request, sum io.Writer) (*os.File, error) {
	file, err := os.CreateTemp("", "cardwall-import-")
	if err != nil {
		return nil, err
	}
	control := http.NewResponseController(w)
	body := http.MaxBytesReader(w, r.Body, uploadMost)
	piece := make([]byte, 256<<10)
	for err == nil {
		deadline := time.Now().Add(uploadPause)
		_ = control.SetReadDeadline(deadline) // not every writer of a test has one
		_ = control.SetWriteDeadline(deadline.Add(uploadTime))
		var n int
		n, err = body.Read(piece)
		if _, kept := io.MultiWriter(file, sum).Write(piece[:n]); kept != nil {
			err = kept
		}
	}
	if err == io.EOF {
		return file, nil
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		err = &board.Fault{Code: board.CodeInvalidRequest, Cause: board.CauseTooLarge, Message: "The file is larger than 100 MB."}
	} else {
		err = board.Invalid("The file did not arrive whole.")
	}
	return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
}
