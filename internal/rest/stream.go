package rest

import (
	"net/http"
	"strings"
	"time"

	"cardwall/internal/filename"
	"cardwall/internal/op"
)

// streamPause is how long a reader of a stream may take for one piece of it.
const streamPause = 30 * time.Second

// stream answers an operation that writes a document of its own. A failure
// before the first byte is the error envelope; after it the connection ends,
// so that no reader takes the document for whole.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, call op.Call) {
	out := &streamWriter{w: w, kind: contentType(call.Operation.Media), control: http.NewResponseController(w)}
	err := h.Engine.DoStream(r.Context(), call, out)
	switch {
	case err == nil && out.begun:
	case !out.begun:
		h.refuse(w, r, err)
	default:
		h.Log.WarnContext(r.Context(), "a stream broke off", "request", w.Header().Get("X-Request-Id"), "operation", call.Operation.Name, "error", err)
		panic(http.ErrAbortHandler)
	}
}

// contentType is a media type with the words that text needs.
func contentType(media string) string {
	if strings.HasPrefix(media, "text/") {
		return media + "; charset=utf-8"
	}
	return media
}

// streamWriter moves the connection's deadline on with every write.
type streamWriter struct {
	w       http.ResponseWriter
	kind    string
	name    string
	control *http.ResponseController
	begun   bool
}

// NameDocument sets the name under which a browser saves the document.
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
	_ = s.control.SetWriteDeadline(time.Now().Add(streamPause)) // not every writer of a test has one
	return s.w.Write(p)
}
