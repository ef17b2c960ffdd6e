package rest

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"runtime"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/spool"
)

const (
	maxFormField = 16 << 10         // size of a field of a form in bytes
	maxFormParts = 32               // parts of a form
	formBuffer   = 64 << 10         // bytes that are read at once; mime/multipart reads 4 kB
	formTime     = 10 * time.Minute // time limit for the response after the body was received
)

// isForm reports whether the body of a request is multipart/form-data.
func isForm(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "multipart/form-data"
}

// readForm reads the fields of a form, and stores its file while it arrives. The API
// documents that the file must be the last part, but readForm accepts any order.
func (h *handler) readForm(w http.ResponseWriter, r *http.Request, call *op.Call) error {
	if err := h.Engine.Permit(r.Context(), *call); err != nil {
		return err
	}
	take := h.Files.Store
	if call.Key != "" {
		used, err := h.DB.KeyUsed(r.Context(), call.Caller, call.Key)
		if err != nil {
			return err
		}
		if used {
			take = identify
		}
	}
	body := h.pace(w, r)
	defer body.end()
	r.Body = struct {
		io.Reader
		io.Closer
	}{bufio.NewReaderSize(body, formBuffer), body}
	form, err := r.MultipartReader()
	if err != nil {
		return board.Invalid("The form is malformed. It must be multipart/form-data with a boundary.")
	}
	fields := map[string]string{}
	for range maxFormParts {
		part, err := form.NextPart()
		if err == io.EOF { // a wrapped one means that the end of the form is missing
			if call.File == nil {
				return board.Invalid("The form has no part named file.").In("file", board.RuleRequired)
			}
			call.Arguments.Body, err = json.Marshal(fields, json.Deterministic(true))
			return err
		}
		if err != nil {
			return receiveFault(err)
		}
		if err := readPart(r, part, fields, call, take); err != nil {
			return err
		}
	}
	return board.Invalid("The form has more than %d parts.", maxFormParts)
}

// takeFile returns a file that arrives for a card.
type takeFile func(ctx context.Context, caller board.Caller, cardID, name string, r io.Reader) (*board.StoredFile, error)

// identify is the takeFile of a retry: its response is stored already, so it needs only what
// tells one file from another. Storing the file again could exceed a limit that the first
// request has reached.
func identify(_ context.Context, _ board.Caller, _, name string, r io.Reader) (*board.StoredFile, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(r, int64(board.PlanBusiness.Limits().FileSize))); err != nil {
		return nil, err
	}
	return &board.StoredFile{Name: name, Blob: board.Blob{Hash: fmt.Sprintf("%x", sum.Sum(nil))}}, nil
}

// readPart reads one part of a form.
func readPart(r *http.Request, part *multipart.Part, fields map[string]string, call *op.Call, take takeFile) error {
	name := part.FormName()
	if name == "file" {
		if call.File != nil {
			return board.Invalid("The form has more than one part named file. Send one request for each file.").In("file", board.RuleValue)
		}
		stored, err := take(r.Context(), call.Caller, r.PathValue("cardId"), part.FileName(), part)
		if err != nil {
			return receiveFault(err)
		}
		call.File = stored
		return nil
	}
	if _, given := fields[name]; given {
		return board.Invalid("%s is given more than once.", op.Quoted(name)).In(op.Quoted(name), board.RuleValue)
	}
	value, err := io.ReadAll(io.LimitReader(part, maxFormField+1))
	if err != nil {
		return receiveFault(err)
	}
	if !utf8.Valid(value) || !utf8.ValidString(name) {
		return board.Invalid("The fields of the form must be valid UTF-8.")
	}
	if len(value) > maxFormField {
		return board.Invalid("%s is too long.", op.Quoted(name)).In(op.Quoted(name), board.RuleValue)
	}
	fields[name] = string(value)
	return nil
}

// receiveFault returns the fault for an error that occurred while a file was received.
func receiveFault(err error) error {
	if _, ok := board.AsFault(err); ok {
		return err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		f := board.Invalid("The file arrived too slowly. It must arrive at 10 kB per second or faster.")
		f.Reason = board.ReasonTooSlow
		return f
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errReceive) {
		return board.Invalid("The request was not received completely.")
	}
	return err
}

// errReceive wraps the errors of reading a request's body.
var errReceive = errors.New("receive the body")

// pacedBody is the body of a request whose client must send at a minimum rate. Reading may
// take longer than the server's timeouts.
type pacedBody struct {
	r       io.ReadCloser
	control *http.ResponseController
	pace    *spool.MinRate

	complete bool // the whole body was read
}

func (b *pacedBody) Read(p []byte) (int, error) {
	runtime.Gosched() // a goroutine that never waits would run for 10 ms, and other requests would wait for it
	deadline := b.pace.Deadline()
	_ = b.control.SetReadDeadline(deadline) // fails only in tests, whose writer has no deadlines
	_ = b.control.SetWriteDeadline(deadline.Add(formTime))
	n, err := b.r.Read(p)
	b.pace.Count(n)
	b.complete = err == io.EOF
	if err != nil && !errors.Is(err, io.EOF) {
		err = errors.Join(errReceive, err)
	}
	return n, err
}

// pace returns the body of a request with a file.
func (h *handler) pace(w http.ResponseWriter, r *http.Request) *pacedBody {
	window := cmp.Or(h.StreamWindow, streamWindow)
	return &pacedBody{r: r.Body, control: http.NewResponseController(w), pace: spool.NewMinRate(streamRate, window)}
}

// Close implements io.Closer.
func (b *pacedBody) Close() error { return b.r.Close() }

// restTime limits how long the rest of a body may take that is not used.
const restTime = 15 * time.Second

// end removes the read deadline of a complete body, because the operation may take longer.
// net/http reads the rest of an incomplete body before it sends the response.
func (b *pacedBody) end() {
	deadline := time.Time{}
	if !b.complete {
		deadline = time.Now().Add(restTime)
	}
	_ = b.control.SetReadDeadline(deadline) // fails only in tests
}
