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

// A client must read a stream at streamRate bytes per second, averaged over
// streamWindow.
const (
	streamRate   = 10_000
	streamWindow = time.Minute
)

// stream serves an operation that writes its own document. An error before the
// first byte is sent as the error envelope. A later error aborts the connection,
// so that the client notices that the document is incomplete.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, call op.Call) {
	out := &streamWriter{
		w: w, kind: contentType(call.Operation.Media), control: http.NewResponseController(w),
		pace: spool.NewPace(streamRate, cmp.Or(h.StreamWindow, streamWindow)), idle: time.Now(),
	}
	err := h.Engine.DoStream(r.Context(), call, out)
	switch {
	case err == nil && out.begun:
	case !out.begun:
		h.refund(w, call.Caller, call.Operation.Resource(), err)
		h.refuse(w, r, err)
	default:
		h.Log.WarnContext(r.Context(), "stream aborted",
			"request", w.Header().Get("X-Request-Id"), "operation", call.Operation.Name, "error", err)
		panic(http.ErrAbortHandler)
	}
}

// contentType returns the Content-Type of a media type; text gets a charset.
func contentType(media string) string {
	if strings.HasPrefix(media, "text/") {
		return media + "; charset=utf-8"
	}
	return media
}

// streamWriter ends the connection of a client that is too slow. Time in which
// there is nothing to send does not count.
type streamWriter struct {
	w       http.ResponseWriter
	kind    string
	name    string
	control *http.ResponseController
	pace    *spool.Pace
	idle    time.Time // since when there is nothing to send
	begun   bool
}

// NameDocument sets the file name of the document.
func (s *streamWriter) NameDocument(name string) {
	s.name = name
}

func (s *streamWriter) Write(p []byte) (int, error) {
	if !s.begun {
		s.begun = true
		header := s.w.Header()
		header.Set("Content-Type", s.kind)
		header.Set("Cache-Control", "no-store")
		if s.name != "" {
			header.Set("Content-Disposition", filename.Disposition("attachment", s.name))
		}
		s.w.WriteHeader(http.StatusOK)
	}
	s.pace.Pause(time.Since(s.idle))
	_ = s.control.SetWriteDeadline(s.pace.Deadline()) // fails only with a writer in tests
	n, err := s.w.Write(p)
	s.pace.Count(n)
	s.idle = time.Now()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("the client takes less than %d bytes per second: %w", s.pace.Rate, err)
	}
	return n, err
}
