package rest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
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
	state := struct {
		Status   string   `json:"status"`
		Warnings []string `json:"warnings,omitempty"`
	}{"ready", h.headerWarnings(r)}
	body, err := json.Marshal(state)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	write(w, http.StatusOK, body)
}

// headerWarnings returns what the headers of a request say about a proxy that does not fit
// the base URL. Probes use an IP address as the host, so it says nothing about those.
func (h *handler) headerWarnings(r *http.Request) (warnings []string) {
	base, err := url.Parse(h.BaseURL)
	if err != nil {
		return nil
	}
	for _, header := range []struct{ name, value string }{{"Host", r.Host}, {"X-Forwarded-Host", r.Header.Get("X-Forwarded-Host")}} {
		name := (&url.URL{Host: header.value}).Hostname()
		if name != "" && name != "localhost" && net.ParseIP(name) == nil && !strings.EqualFold(name, base.Hostname()) {
			warnings = append(warnings, fmt.Sprintf("The %s header is %s, but links point to %s (CARDWALL_BASE_URL).", header.name,
				op.Quoted(header.value), h.BaseURL))
		}
	}
	if scheme := r.Header.Get("X-Forwarded-Proto"); scheme != "" && !strings.EqualFold(scheme, base.Scheme) {
		warnings = append(warnings, fmt.Sprintf("X-Forwarded-Proto is %s, but links point to %s (CARDWALL_BASE_URL).", op.Quoted(scheme),
			h.BaseURL))
	}
	return warnings
}
