package transfer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	uploadMost  = 100 << 20 // bytes of a file
	uploadPause = 30 * time.Second
	uploadTime  = 10 * time.Minute
)

// Upload answers POST …/workspaces/{workspaceId}/import?format=trello|cardwall
// with the report of the import of the request's body, a JSON file of at most
// 100 MB. The file is kept on disk until it has arrived whole, so that a slow
// sender holds no transaction open; all of it is imported, or nothing.
func Upload(db *store.DB) func(w http.ResponseWriter, r *http.Request, caller board.Caller, still func() error) error {
	return func(w http.ResponseWriter, r *http.Request, caller board.Caller, still func() error) (err error) {
		read := ImportTrello
		switch r.URL.Query().Get("format") {
		case "trello":
		case "cardwall":
			read = Import
		default:
			return board.Invalid("format must be trello or cardwall.")
		}
		if !caller.Has(board.ScopeWrite) {
			return board.Refuse(board.CodeInsufficientScope, "This needs a token with the scope write.")
		}
		workspaceID := r.PathValue("workspaceId")
		if err := db.Read(r.Context(), caller, func(v *store.View) error {
			_, err := v.Workspace(r.Context(), workspaceID, board.CreateBoards)
			return err
		}); err != nil {
			return err
		}
		file, err := receive(w, r)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
		if err := still(); err != nil { // it may have taken long to arrive
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), uploadTime)
		defer cancel()
		var report Report
		if err := db.Write(ctx, caller, func(tx *store.Tx) error {
			if _, err := file.Seek(0, io.SeekStart); err != nil { // a transaction may run again
				return err
			}
			if report, err = read(ctx, tx, workspaceID, file, func(int, int) {}); err != nil {
				return err
			}
			return tx.Audit(ctx, "import_board", workspaceID)
		}); err != nil {
			return err
		}
		text, err := json.Marshal(struct {
			Data Report `json:"data"`
		}{report})
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(text) // the reader may be gone
		return nil
	}
}

// receive keeps a request's body in a file. Each piece of it has uploadPause.
func receive(w http.ResponseWriter, r *http.Request) (*os.File, error) {
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
		if _, kept := file.Write(piece[:n]); kept != nil {
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
