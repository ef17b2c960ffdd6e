package rest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"cardwall/internal/filename"
	"cardwall/internal/op"
	"cardwall/internal/spool"
)

// A client must read a stream at a rate of at least streamRate bytes per second,
// averaged over streamWindow.
const (
	streamRate   = 10_000
	streamWindow = time.Minute
)

// stream serves an operation that writes a document. An error before the first byte
// is sent as the error envelope. A later error aborts the connection, so that the
// client notices that the document is incomplete.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, call op.Call) {
	out := &streamWriter{
		w: w, kind: contentType(call.Operation.Media), control: http.NewResponseController(w),
		pace: spool.NewMinRate(streamRate, cmp.Or(h.StreamWindow, streamWindow)), idleSince: time.Now(),
	}
	err := h.Engine.DoStream(r.Context(), call, out)
	switch {
	case err == nil && out.started:
	case !out.started:
		h.refund(w, call.Caller, call.Operation.Resource(), err)
		h.refuse(w, r, err)
	default:
		h.Log.WarnContext(r.Context(), "stream aborted",
			"request", w.Header().Get("X-Request-Id"), "operation", call.Operation.Name, "error", err)
		panic(http.ErrAbortHandler)
	}
}

// contentType returns the Content-Type for a media type. It adds a charset to text.
func contentType(media string) string {
	if strings.HasPrefix(media, "text/") {
		return media + "; charset=utf-8"
	}
	return media
}

// streamWriter writes a document and fails if the client reads too slowly. Time during
// which there is nothing to send does not count.
type streamWriter struct {
	w         http.ResponseWriter
	kind      string
	name      string
	control   *http.ResponseController
	pace      *spool.MinRate
	idleSince time.Time // the end of the last write
	started   bool
}

// NameDocument sets the file name of the document.
func (s *streamWriter) NameDocument(name string) {
	s.name = name
}

// Write implements io.Writer. The first call also writes the headers.
func (s *streamWriter) Write(p []byte) (int, error) {
	if !s.started {
		s.started = true
		header := s.w.Header()
		header.Set("Content-Type", s.kind)
		header.Set("Cache-Control", "no-store")
		if s.name != "" {
			header.Set("Content-Disposition", filename.Disposition("attachment", s.name))
		}
		s.w.WriteHeader(http.StatusOK)
	}
	s.pace.Pause(time.Since(s.idleSince))
	_ = s.control.SetWriteDeadline(s.pace.Deadline()) // fails only in tests, whose writer has no deadlines
	n, err := s.w.Write(p)
	s.pace.Count(n)
	s.idleSince = time.Now()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("client reads less than %d bytes per second: %w", s.pace.Rate, err)
	}
	return n, err
}
