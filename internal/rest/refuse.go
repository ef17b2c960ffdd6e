package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/session"
)

// refuse writes the error response for err.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	id := w.Header().Get("X-Request-Id")
	f := op.FaultOf(r.Context(), h.Log.With("method", methodOf(r), "path", logPath(r)), id, err)
	session.SetChallenge(w.Header(), h.BaseURL, r.URL.Path, f)
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", board.RetrySeconds(f.RetryAfter))
	}
	if f.Tag != "" {
		w.Header().Set("ETag", f.Tag)
	}
	if refuse := h.Refusals[r.URL.Path]; refuse != nil {
		refuse(w, r, f, StatusOf(f))
		return
	}
	body, err := json.Marshal(errorEnvelope{op.ErrorOf(f)})
	if err != nil {
		body = []byte(`{"error":{"code":"internal","message":"The response could not be encoded."}}`)
	}
	write(w, StatusOf(f), body)
}

// logPath returns the path of a request for the log. It omits the key of a public
// page, because anyone with the key can open the page.
func logPath(r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, board.PublicPath) {
		return board.PublicPath + "…"
	}
	return r.URL.Path
}

func write(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has disconnected
}

// wrongMethod responds with 405 to a request whose path exists only for other methods.
func (h *handler) wrongMethod(w http.ResponseWriter, r *http.Request, allowed []string) {
	if _, err := h.admit(w, r, nil); err != nil {
		h.refuse(w, r, err)
		return
	}
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	list := strings.Join(slices.Sorted(slices.Values(allowed)), ", ")
	w.Header().Set("Allow", list)
	h.refuse(w, r, &board.Fault{
		Code: board.CodeInvalidRequest, Cause: board.CauseMethod, Message: "This path supports only " + list + ".",
	})
}

// unknown responds to a request that matches no route: with 405 if an operation has
// the same path with another method, and otherwise with 404.
func (h *handler) unknown(w http.ResponseWriter, r *http.Request) {
	if wrong, pattern := h.paths.Handler(r); pattern != "" {
		wrong.ServeHTTP(w, r)
		return
	}
	h.notFound(w, r)
}

// notFound responds with 404 to a path that the server does not have.
func (h *handler) notFound(w http.ResponseWriter, r *http.Request) {
	session.SetRate(w.Header(), h.Gate.AnonymousRate(r))
	h.refuse(w, r, &board.Fault{
		Code: board.CodeNotFound, Reason: board.ReasonUnknownPath,
		Message: "This server has no such path. It may be older than your program.",
	})
}
