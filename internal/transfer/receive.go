package transfer

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/spool"
)

const (
	uploadsPerOwner = 2      // uploads of one person at a time
	uploadRate      = 10_000 // bytes per second that a client must send, averaged over uploadWindow
	uploadWindow    = time.Minute
	receiveTime     = 10 * time.Minute // limit for one upload
	uploadRetry     = 5 * time.Second  // Retry-After
	pieceSize       = 256 << 10        // bytes that are read at once
)

// Uploads limits the uploads that a server receives at the same time.
type Uploads struct {
	spool  *spool.Folder
	window time.Duration

	mu   sync.Mutex
	open map[string]int
}

// NewUploads returns the limits of a server that keeps uploads in a spool. A window of
// 0 means a minute.
func NewUploads(spool *spool.Folder, window time.Duration) *Uploads {
	return &Uploads{spool: spool, window: cmp.Or(window, uploadWindow), open: map[string]int{}}
}

// enter counts an upload of a person until leave is called.
func (u *Uploads) enter(userID string) (leave func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open[userID] >= uploadsPerOwner {
		return nil, &board.Fault{
			Code: board.CodeRateLimited, Reason: board.ReasonTooManyAtOnce, RetryAfter: uploadRetry,
			Message: "At most two imports can run at a time. Wait until one has finished.",
		}
	}
	u.open[userID]++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.open[userID]--; u.open[userID] == 0 {
			delete(u.open, userID)
		}
	}, nil
}

// receive stores a request's body in the spool and writes it to sum. It frees the
// room at once if the body is incomplete, too large or too slow.
func (u *Uploads) receive(w http.ResponseWriter, r *http.Request, sum io.Writer) (*spool.File, error) {
	file, err := u.spool.Create()
	if err != nil {
		return nil, err
	}
	control := http.NewResponseController(w)
	body := http.MaxBytesReader(w, r.Body, maxUpload)
	piece := make([]byte, pieceSize)
	pace, end := spool.NewPace(uploadRate, u.window), time.Now().Add(receiveTime)
	to := io.MultiWriter(file, sum)
	for err == nil {
		deadline := pace.Deadline()
		if end.Before(deadline) {
			deadline = end
		}
		_ = control.SetReadDeadline(deadline) // not every test's ResponseWriter supports deadlines
		_ = control.SetWriteDeadline(deadline.Add(uploadTime))
		var n int
		n, err = body.Read(piece)
		pace.Count(n)
		if _, kept := to.Write(piece[:n]); kept != nil {
			err = kept
		}
	}
	if err == io.EOF {
		_ = control.SetReadDeadline(time.Time{}) // the import may take longer
		return file, nil
	}
	return nil, errors.Join(refusedUpload(err), file.Close())
}

// refusedUpload returns the fault for an upload that was not received.
func refusedUpload(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &board.Fault{Code: board.CodeInvalidRequest, Cause: board.CauseTooLarge, Message: "The file is larger than 100 MB."}
	case errors.Is(err, spool.ErrFull):
		return &board.Fault{
			Code: board.CodeUnavailable, Reason: board.ReasonSpoolFull, RetryAfter: 10 * uploadRetry,
			Message: "The server has no room for the file at the moment. Try again later.",
		}
	case errors.Is(err, os.ErrDeadlineExceeded):
		f := board.Invalid("The file arrived too slowly. It must arrive at 10 kB per second and within 10 minutes.")
		f.Reason = board.ReasonTooSlow
		return f
	}
	return board.Invalid("The file was not received completely.")
}
