package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/spool"
)

const (
	uploadsPerOwner = 2      // maximum number of concurrent uploads and imports per person
	uploadRate      = 10_000 // bytes per second that a client must send, averaged over uploadWindow
	uploadWindow    = time.Minute
	receiveTime     = 10 * time.Minute // limit for one upload
	uploadRetry     = 5 * time.Second  // Retry-After header; ten times as long if the spool is full
	chunkSize       = 256 << 10        // bytes per read
)

// Uploads stores uploads in a spool folder. It limits the number of concurrent uploads
// per person, and the time and minimum rate of each upload.
type Uploads struct {
	spool  *spool.Folder
	window time.Duration

	running board.AtOnce
}

// NewUploads returns an Uploads that stores its files in spool. The rate of an upload
// is averaged over window; 0 means one minute.
func NewUploads(spool *spool.Folder, window time.Duration) *Uploads {
	return &Uploads{spool: spool, window: cmp.Or(window, uploadWindow)}
}

// start counts an upload and its import until end is called. It returns a rate_limited fault
// if the limit of the person is reached. The size of the spool limits the uploads of all people.
func (u *Uploads) start(userID string) (end func(), err error) {
	return u.running.Start(userID, "imports", uploadsPerOwner, math.MaxInt)
}

// receive stores a request's body in the spool and also writes it to sum. If the body
// is incomplete, too large or too slow, receive removes the file and returns a fault.
func (u *Uploads) receive(w http.ResponseWriter, r *http.Request, sum io.Writer) (*spool.File, error) {
	file, err := u.spool.Create()
	if err != nil {
		return nil, err
	}
	control := http.NewResponseController(w)
	body := http.MaxBytesReader(w, r.Body, maxUpload)
	chunk := make([]byte, chunkSize)
	rate, end := spool.NewMinRate(uploadRate, u.window), time.Now().Add(receiveTime)
	to := io.MultiWriter(file, sum)
	for err == nil {
		deadline := rate.Deadline()
		if end.Before(deadline) {
			deadline = end
		}
		_ = control.SetReadDeadline(deadline) // fails in tests whose ResponseWriter does not support deadlines
		_ = control.SetWriteDeadline(deadline.Add(uploadTime))
		var n int
		n, err = body.Read(chunk)
		rate.Count(n)
		if _, writeErr := to.Write(chunk[:n]); writeErr != nil {
			return nil, errors.Join(storeFault(writeErr), file.Close())
		}
	}
	if err == io.EOF {
		_ = control.SetReadDeadline(time.Time{}) // the import may take longer
		return file, nil
	}
	return nil, errors.Join(uploadFault(err), file.Close())
}

// storeFault returns a fault for a full spool. It only wraps any other error of writing an
// upload to the spool, because such an error is unexpected and must be logged.
func storeFault(err error) error {
	if errors.Is(err, spool.ErrFull) {
		return &board.Fault{
			Code: board.CodeUnavailable, Reason: board.ReasonSpoolFull, RetryAfter: 10 * uploadRetry,
			Message: "The server has no space for the file at the moment. Try again later.",
		}
	}
	return fmt.Errorf("store the upload: %w", err)
}

// uploadFault returns the fault for an error that occurred while an upload was received.
func uploadFault(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &board.Fault{
			Code: board.CodeInvalidRequest, Cause: board.CauseTooLarge,
			Message: "The file is larger than 100 MB. An operator can import it on the server, with the command cardwall import.",
		}
	case errors.Is(err, os.ErrDeadlineExceeded):
		f := board.Invalid("The file arrived too slowly. It must arrive at 10 kB per second or faster, and within " +
			"10 minutes.")
		f.Reason = board.ReasonTooSlow
		return f
	}
	return board.Invalid("The file was not received completely.")
}
