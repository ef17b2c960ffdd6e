package connect

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// The error codes of RFC 6749 (4.1.2.1, 5.2), RFC 7591 (3.2.2), RFC 8628 (3.5)
// and RFC 8707 (2).
const (
	invalidRequest         = "invalid_request"
	invalidClient          = "invalid_client"
	invalidGrant           = "invalid_grant"
	invalidScope           = "invalid_scope"
	invalidTarget          = "invalid_target"
	unauthorizedClient     = "unauthorized_client"
	unsupportedGrantType   = "unsupported_grant_type"
	unsupportedResponse    = "unsupported_response_type"
	accessDenied           = "access_denied"
	serverError            = "server_error"
	temporarilyUnavailable = "temporarily_unavailable"
	authorizationPending   = "authorization_pending"
	slowDown               = "slow_down"
	expiredToken           = "expired_token"
	invalidRedirect        = "invalid_redirect_uri"
	invalidMetadata        = "invalid_client_metadata"
)

// oauthError is an error response of the protocol. Its text is for the developer of
// the client. It must be ASCII without quotes and backslashes (RFC 6749, 5.2).
type oauthError struct {
	status     int // HTTP status
	code, text string
	to         string // address to redirect the browser to; empty if the redirect URI cannot be trusted
	retryAfter time.Duration
}

func (r *oauthError) Error() string { return r.code + ": " + r.text }

func newError(code, text string) *oauthError {
	return &oauthError{status: http.StatusBadRequest, code: code, text: text}
}

// asOAuthError returns the error response for an error. An unexpected error becomes
// server_error without details.
func asOAuthError(err error) *oauthError {
	var r *oauthError
	if errors.As(err, &r) {
		return r
	}
	f, ok := board.AsFault(err)
	switch {
	case ok && f.Code == board.CodeRateLimited:
		return &oauthError{
			status: http.StatusTooManyRequests, code: temporarilyUnavailable, retryAfter: f.RetryAfter,
			text: "Too many requests. Try again after the number of seconds in the Retry-After header.",
		}
	case ok && f.Code == board.CodeUnavailable:
		return &oauthError{
			status: http.StatusServiceUnavailable, code: temporarilyUnavailable, retryAfter: f.RetryAfter,
			text: "The service is temporarily unavailable. Try again in a moment.",
		}
	}
	return &oauthError{
		status: http.StatusInternalServerError, code: serverError,
		text: "Something went wrong on the server. The server's log has the details under the X-Request-Id of this response.",
	}
}

// asFault converts an oauthError to a fault for the consent page. It returns other
// errors unchanged.
func asFault(err error) error {
	var r *oauthError
	if !errors.As(err, &r) {
		return err
	}
	return board.Invalid("%s: %s", r.code, r.text)
}

type errorBody struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// writeError writes an error response (RFC 6749, 5.2).
func (d *endpoints) writeError(w http.ResponseWriter, r *http.Request, err error) {
	f := asOAuthError(err)
	if f.code == serverError || f.status == http.StatusServiceUnavailable {
		d.opts.Log.Error("OAuth request failed",
			"request", w.Header().Get("X-Request-Id"), "path", r.URL.Path, "error", err)
	}
	if f.retryAfter > 0 {
		w.Header().Set("Retry-After", board.RetrySeconds(f.retryAfter))
	}
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="cardwall"`)
	}
	writeJSON(w, f.status, errorBody{f.code, f.text})
}

// writeJSON writes a JSON response that must not be cached (RFC 6749, 5.1).
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"server_error"}`)
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store")
		header.Set("Pragma", "no-cache")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has disconnected
}
