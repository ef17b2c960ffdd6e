package rest

import (
	"context"
	"net/http"
	"time"

	"cardwall/internal/board"
)

func (h *handler) health(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, []byte(`{"status":"ok"}`))
}

func (h *handler) draining() bool { return h.Draining != nil && h.Draining.Load() }

func (h *handler) ready(w http.ResponseWriter, r *http.Request) {
	if h.draining() {
		h.refuse(w, r, &board.Fault{
			Code: board.CodeUnavailable, Cause: board.CauseOverload,
			Message: "The server is shutting down.", RetryAfter: time.Second,
		})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := h.DB.Ping(ctx); err != nil {
		h.refuse(w, r, &board.Fault{
			Code: board.CodeUnavailable, Message: "The database does not respond.", RetryAfter: time.Second,
		})
		return
	}
	write(w, http.StatusOK, []byte(`{"status":"ready"}`))
}
