package connect

import (
	"errors"
	"math"
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

// refusal is an answer of the protocol. Its text is for the program's developer:
// ASCII without quotes and backslashes (RFC 6749, 5.2).
type refusal struct {
	status     int // of HTTP
	code, text string
	to         string // where a browser takes the refusal; empty where no address may be trusted
	retryAfter time.Duration
}

func (r *refusal) Error() string { return r.code + ": " + r.text }

func refuse(code, text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: code, text: text}
}

// asRefusal is what a program is told of an error. Of those that are no refusal
// it learns nothing more.
func asRefusal(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	f, ok := board.AsFault(err)
	switch {
	case ok && f.Code == board.CodeRateLimited:
		return &refusal{status: http.StatusTooManyRequests, code: temporarilyUnavailable, text: "There were too many requests; wait as long as Retry-After says.", retryAfter: f.RetryAfter}
	case ok && f.Code == board.CodeUnavailable:
		return &refusal{status: http.StatusServiceUnavailable, code: temporarilyUnavailable, text: "The service cannot do this right now; try again in a moment.", retryAfter: f.RetryAfter}
	}
	return &refusal{status: http.StatusInternalServerError, code: serverError, text: "Something went wrong on our side; the log has it by the X-Request-Id of this answer."}
}

// asFault is a refusal for a person, on a page.
func asFault(err error) error {
	var r *refusal
	if !errors.As(err, &r) {
		return err
	}
	return board.Invalid("%s: %s", r.code, r.text)
}

type errorAnswer struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// tell writes a refusal (RFC 6749, 5.2).
func (d *door) tell(w http.ResponseWriter, r *http.Request, err error) {
	told := asRefusal(err)
	if told.code == serverError || told.status == http.StatusServiceUnavailable {
		d.opts.Log.Error("connect", "request", w.Header().Get("X-Request-Id"), "path", r.URL.Path, "error", err)
	}
	if told.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(told.retryAfter.Seconds()))))
	}
	if told.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="cardwall"`)
	}
	answer(w, told.status, errorAnswer{told.code, told.text})
}

// answer writes JSON that nobody may keep (RFC 6749, 5.1).
func answer(w http.ResponseWriter, status int, v any) {
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
	_, _ = w.Write(body) // the reader may be gone
}
