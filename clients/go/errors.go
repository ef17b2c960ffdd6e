package cardwall

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// The kinds of errors, for errors.Is. The error of each call is an *APIError.
var (
	ErrTransport          = errors.New("no complete response arrived")
	ErrUnexpectedResponse = errors.New("the response is not one of the API")
	ErrUnsupported        = errors.New("the server does not have the operation")
	ErrNotModified        = errors.New("the response has not changed")
	ErrInvalidRequest     = errors.New("the request is invalid")
	ErrUnauthenticated    = errors.New("the token is not valid")
	ErrForbidden          = errors.New("the token's owner may not do this") // also with ErrInsufficientScope
	ErrInsufficientScope  = errors.New("the token lacks the scope")
	ErrNotFound           = errors.New("the object does not exist or is not visible")
	ErrConflict           = errors.New("the state of the object does not allow the change") // also with ErrVersionConflict
	ErrVersionConflict    = errors.New("the object has changed")
	ErrPlan               = errors.New("the plan does not allow the change")
	ErrRateLimited        = errors.New("there were too many requests")
	ErrUnavailable        = errors.New("the server is unavailable")
	ErrInternal           = errors.New("the server failed")
)

// APIError is the error of a call. Fields that its cause does not have are empty.
type APIError struct {
	Status         int    // the HTTP status; 0 if there was no response
	Code           string // such as not_found
	Message        string
	Reason         string // distinguishes errors with the same code, such as version_conflict
	Details        []ErrorBodyDetails
	RequestID      string // in the server's log
	RetryAfter     time.Duration
	Current        json.RawMessage // for ErrVersionConflict: the object now
	ETag           string          // for ErrVersionConflict: its ETag
	IdempotencyKey string          // of a write; a call with the same key and arguments does nothing twice
	Retriable      bool            // whether the same request may succeed later

	kind, cause error
}

// Error returns the message.
func (e *APIError) Error() string { return e.Message }

// Unwrap returns the cause, such as a context's error.
func (e *APIError) Unwrap() error { return e.cause }

// Is reports whether the error is of a kind.
func (e *APIError) Is(target error) bool {
	return target == e.kind || target == ErrForbidden && e.kind == ErrInsufficientScope ||
		target == ErrConflict && e.kind == ErrVersionConflict
}

var kinds = map[string]error{
	"invalid_request":    ErrInvalidRequest,
	"unauthenticated":    ErrUnauthenticated,
	"forbidden":          ErrForbidden,
	"insufficient_scope": ErrInsufficientScope,
	"not_found":          ErrNotFound,
	"plan_limit":         ErrPlan,
	"plan_read_only":     ErrPlan,
	"archived":           ErrConflict,
	"board_archived":     ErrConflict,
	"capacity_full":      ErrConflict,
	"powerup_disabled":   ErrConflict,
	"limit_reached":      ErrConflict,
	"rate_limited":       ErrRateLimited,
	"unavailable":        ErrUnavailable,
	"internal":           ErrInternal,
}

// errorOf returns the error that a response describes.
func errorOf(r request, response *http.Response, content []byte) *APIError {
	status, header := response.StatusCode, response.Header
	e := &APIError{Status: status, RequestID: header.Get("X-Request-Id"), RetryAfter: retryAfter(header)}
	var body struct {
		Error struct {
			Code, Message, Reason string
			Details               []ErrorBodyDetails
			Current               json.RawMessage
		}
	}
	known := json.Unmarshal(content, &body) == nil && body.Error.Code != ""
	e.Code, e.Reason, e.Details = body.Error.Code, body.Error.Reason, body.Error.Details
	// A request with the same key that is still in progress is refused with 409 and Retry-After.
	e.Retriable = status == http.StatusTooManyRequests || status >= 502 && status <= 504 ||
		status == http.StatusConflict && header.Get("Retry-After") != ""
	switch {
	case status == http.StatusNotModified:
		e.kind, e.Message = ErrNotModified, r.path+" has not changed"
	case status == http.StatusMethodNotAllowed, status == http.StatusNotFound && (!known || e.Reason == "unknown_path"):
		e.kind, e.Message = ErrUnsupported, "the server does not support "+r.method+" "+r.path
	case !known:
		e.kind, e.Message = ErrUnexpectedResponse, r.method+" "+r.path+": status "+strconv.Itoa(status)
		if to := header.Get("Location"); to != "" {
			e.Message += " redirects to " + to
		}
	default:
		e.kind, e.Message = kinds[e.Code], body.Error.Message
		if e.Reason == "version_conflict" {
			e.kind, e.Current, e.ETag = ErrVersionConflict, body.Error.Current, header.Get("ETag")
		}
	}
	return e
}

// retryAfter returns the value of Retry-After, which is a number of seconds or a date, or 0.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
