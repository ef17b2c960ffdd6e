package board

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code is the machine-readable name of a refusal. The set is closed: a client
// may switch over it.
type Code string

// The codes of the public interface.
const (
	CodeInvalidRequest    Code = "invalid_request"
	CodeUnauthenticated   Code = "unauthenticated"
	CodeForbidden         Code = "forbidden"
	CodeInsufficientScope Code = "insufficient_scope"
	CodeNotFound          Code = "not_found"
	CodeArchived          Code = "archived"
	CodeBoardArchived     Code = "board_archived"
	CodeCapacityFull      Code = "capacity_full"
	CodePowerupDisabled   Code = "powerup_disabled"
	CodeLimitReached      Code = "limit_reached"
	CodePlanLimit         Code = "plan_limit"
	CodePlanReadOnly      Code = "plan_read_only"
	CodeRateLimited       Code = "rate_limited"
	CodeInternal          Code = "internal"
	CodeUnavailable       Code = "unavailable"
)

// Cause narrows an invalid_request down where the transport has a word of its
// own for it (409, 413, 415, 405). The empty cause is an ordinary bad request.
type Cause string

// Causes of an invalid_request that is not simply a bad value.
const (
	CauseInFlight  Cause = "in flight"
	CauseTooLarge  Cause = "too large"
	CauseMediaType Cause = "media type"
	CauseMethod    Cause = "method"
)

// CauseOverload is that of an unavailable because of too much work: a refusal as
// it should be, of which no log need tell.
const CauseOverload Cause = "overload"

// Reason tells apart refusals of one code, where a program acts on the difference.
type Reason string

// ReasonRecentSignIn is the reason of a forbidden that a new sign-in resolves.
const ReasonRecentSignIn Reason = "recent_sign_in_required"

// Reasons returns all reasons.
func Reasons() []Reason { return []Reason{ReasonRecentSignIn} }

// Fault is a refusal that the caller is meant to read. Message is a whole
// sentence that names the field or object and says what is allowed; it never
// holds an inner error, a secret or another person's text.
type Fault struct {
	Code       Code
	Message    string
	Reason     Reason // empty for most
	Cause      Cause
	RetryAfter time.Duration // for rate_limited, unavailable and CauseInFlight; else zero
}

func (f *Fault) Error() string { return string(f.Code) + ": " + f.Message }

// AsFault finds the fault in err's chain.
func AsFault(err error) (*Fault, bool) {
	var f *Fault
	ok := errors.As(err, &f)
	return f, ok
}

// IsCode tells whether err is a fault of that code.
func IsCode(err error, code Code) bool {
	f, ok := AsFault(err)
	return ok && f.Code == code
}

// Invalid is an invalid_request. The message starts with the field's name.
func Invalid(format string, args ...any) *Fault {
	return &Fault{Code: CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// Listed joins values for a message: "a, b, c".
func Listed[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// NotFound is the one answer for absent and for invisible: its text never
// varies, so that the two cannot be told apart.
func NotFound() *Fault {
	return &Fault{Code: CodeNotFound, Message: "There is no such object, or it is not visible to you."}
}

// Forbidden says what role would be needed.
func Forbidden(format string, args ...any) *Fault {
	return &Fault{Code: CodeForbidden, Message: fmt.Sprintf(format, args...)}
}

// Unauthenticated is the answer to a missing, malformed or dead token or session.
func Unauthenticated() *Fault {
	return &Fault{Code: CodeUnauthenticated, Message: "Sign in, or send a valid API token in the header Authorization: Bearer <token>."}
}

// Refuse builds a fault of any other code.
func Refuse(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// InFlight is the answer to a copy of a keyed request whose first still runs.
func InFlight() *Fault {
	return &Fault{
		Code: CodeInvalidRequest, Cause: CauseInFlight, RetryAfter: time.Second,
		Message: "Idempotency-Key: the first request with this key is still running; send it again in a moment.",
	}
}
