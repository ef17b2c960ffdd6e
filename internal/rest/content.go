package rest

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/filename"
	"cardwall/internal/op"
	"cardwall/internal/spool"
)

// shown lists the media types that a browser may show instead of downloading. It never
// includes a type whose scripts would run in the origin of the server, such as HTML or SVG.
var shown = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true,
	"application/pdf": true, "video/mp4": true, "video/webm": true, "text/plain": true,
}

// recheckEvery is the interval at which a download checks whether its reader may still see
// the file.
const recheckEvery = 5 * time.Second

// content serves the content of a file. The whole response is sandboxed, because the file
// may come from anyone.
func (h *handler) content(w http.ResponseWriter, r *http.Request, call op.Call) error {
	content, err := h.Engine.Content(r.Context(), call)
	if err != nil {
		return err
	}
	blob, mediaType, err := h.Files.Open(r.Context(), content)
	if err != nil {
		return err
	}
	defer func() { _ = blob.Close() }() // it was only read
	header := w.Header()
	kind, disposition := "application/octet-stream", "attachment"
	if shown[mediaType] {
		kind, disposition = contentType(mediaType), "inline"
	}
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", filename.Disposition(disposition, filename.Safe(content.Name)))
	header.Set("Content-Security-Policy", sandboxOf(mediaType))
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "private, no-cache") // the browser may store it, but must revalidate it before each use
	if content.Kept {
		header.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	header.Set("ETag", `"`+content.Tag()+`"`)
	recheck := func() error {
		if !call.Operation.Audience.NeedsNoAccount() {
			if err := h.Gate.Reauthenticate(r); err != nil {
				return err
			}
		}
		if err := h.Engine.ContentAgain(r.Context(), call); !board.IsCode(err, board.CodeUnavailable) {
			return err
		}
		return nil // it is checked again soon
	}
	out := &contentWriter{
		ResponseWriter: w, check: recheck, next: time.Now().Add(recheckEvery), control: http.NewResponseController(w),
		pace: spool.NewMinRate(streamRate, cmp.Or(h.StreamWindow, streamWindow)),
	}
	http.ServeContent(out, r, "", content.At.Time(), blob)
	if out.refused != nil {
		header.Del("Content-Disposition")
		return out.refused
	}
	return nil
}

// sandboxOf returns the content security policy for a file, in which no script can run. A
// video is played by a document that the browser makes for it. That document requests the
// video again, which must be allowed, and must send the cookie of this origin.
func sandboxOf(mediaType string) string {
	if strings.HasPrefix(mediaType, "video/") {
		return "sandbox allow-same-origin; default-src 'none'; media-src 'self'"
	}
	return "sandbox; default-src 'none'"
}

// pieceSize is the number of bytes that contentWriter sends at once. A client that reads at the
// minimum rate gets a piece within the window of the rate.
const pieceSize = 256 << 10

// contentWriter sends a file in pieces, and stops if its reader loses access in the meantime
// or reads too slowly. Instead of the plain text that net/http sends if a request's range
// or precondition fails, it sets refused.
type contentWriter struct {
	http.ResponseWriter
	check   func() error
	next    time.Time
	control *http.ResponseController
	pace    *spool.MinRate
	refused error
}

// WriteHeader implements http.ResponseWriter.
func (c *contentWriter) WriteHeader(status int) {
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		f := board.Invalid("The file does not have this range. The Content-Range header contains its size.")
		f.Cause = board.CauseRange
		c.refused = f
	case http.StatusPreconditionFailed:
		f := board.Invalid("The file does not match the condition in the If-Match or If-Unmodified-Since header.")
		f.Cause = board.CausePrecondition
		c.refused = f
	default:
		c.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (c *contentWriter) Write(p []byte) (int, error) {
	n, err := c.ReadFrom(bytes.NewReader(p))
	return int(n), err
}

// ReadFrom implements io.ReaderFrom. net/http sends the pieces of a file on a disk without
// copying them into memory (sendfile).
func (c *contentWriter) ReadFrom(src io.Reader) (sent int64, err error) {
	if c.refused != nil {
		return io.Copy(io.Discard, src)
	}
	whole, ok := src.(*io.LimitedReader)
	if !ok {
		whole = &io.LimitedReader{R: src, N: math.MaxInt64}
	}
	for whole.N > 0 {
		if now := time.Now(); now.After(c.next) {
			if err := c.check(); err != nil {
				return sent, err
			}
			c.next = now.Add(recheckEvery)
		}
		_ = c.control.SetWriteDeadline(c.pace.Deadline()) // fails only in tests, whose writer has no deadlines
		piece := &io.LimitedReader{R: whole.R, N: min(whole.N, pieceSize)}
		n, err := io.Copy(c.ResponseWriter, piece)
		c.pace.Count(int(n))
		sent, whole.N = sent+n, whole.N-n
		if err != nil || piece.N > 0 {
			return sent, err
		}
	}
	return sent, nil
}
