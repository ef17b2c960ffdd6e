package rest

import (
	"net/http"
	"strings"
	"time"

	"cardwall/internal/filename"
	"cardwall/internal/op"
)

// streamWriteTimeout limits how long a client may take to read one chunk.
const streamWriteTimeout = 30 * time.Second

// stream serves an operation that writes its own document. An error before the
// first byte is sent as the error envelope. A later error aborts the connection,
// so that the client notices that the document is incomplete.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, call op.Call) {
	out := &streamWriter{w: w, kind: contentType(call.Operation.Media), control: http.NewResponseController(w)}
	err := h.Engine.DoStream(r.Context(), call, out)
	switch {
	case err == nil && out.begun:
	case !out.begun:
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

// streamWriter extends the connection's write deadline at every write.
type streamWriter struct {
	w       http.ResponseWriter
	kind    string
	name    string
	control *http.ResponseController
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
	_ = s.control.SetWriteDeadline(time.Now().Add(streamWriteTimeout)) // fails only with a writer in tests
	return s.w.Write(p)
}
