package board

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Code is the machine-readable code of an error. The set is closed, so clients
// can switch over it.
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

// Cause distinguishes cases of invalid_request for which HTTP has its own
// status (405, 409, 412, 413, 415, 416). The empty cause is an ordinary bad request.
type Cause string

// Causes of an invalid_request other than an invalid value.
const (
	CauseInFlight     Cause = "in flight"
	CauseTooLarge     Cause = "too large"
	CauseMediaType    Cause = "media type"
	CauseMethod       Cause = "method"
	CauseRange        Cause = "range"
	CausePrecondition Cause = "precondition"
	CauseOffset       Cause = "offset" // a part of an upload does not continue where the last one ended
)

// CauseOverload is the cause of an unavailable error due to load shedding or
// shutdown. Such errors are expected, so they are not logged.
const CauseOverload Cause = "overload"

// Reason distinguishes errors with the same code that a program handles
// differently.
type Reason string

// The reasons of errors.
const (
	// ReasonRecentSignIn is the reason of a forbidden error if the operation requires a
	// recent sign-in.
	ReasonRecentSignIn Reason = "recent_sign_in_required"
	// ReasonTimeLimit is the reason of an unavailable error if a request exceeded the
	// time limit for reads. A narrower request may succeed.
	ReasonTimeLimit Reason = "time_limit"
	// ReasonTooManyAtOnce is the reason of a rate_limited error if the caller already has
	// too many reports, exports or uploads in progress.
	ReasonTooManyAtOnce Reason = "too_many_at_once"
	// ReasonSpoolFull is the reason of an unavailable error if the server currently lacks
	// disk space for an upload or an export.
	ReasonSpoolFull Reason = "spool_full"
	// ReasonTooSlow is the reason of an invalid_request if an upload arrived too slowly.
	ReasonTooSlow Reason = "too_slow"
	// ReasonChangesRemoved is the reason of an invalid_request if the requested changes to
	// a board have been deleted. The client must read the board again.
	ReasonChangesRemoved Reason = "changes_removed"
	// ReasonListMoving is the reason of an unavailable error if a job is moving the list
	// to another board. A retry succeeds after the job has ended.
	ReasonListMoving Reason = "list_moving"
	// ReasonVersionConflict is the reason of an invalid_request if the record that it changes
	// does not have the entity tag in If-Match.
	ReasonVersionConflict Reason = "version_conflict"
	// ReasonExpandLimit is the reason of an invalid_request if a response would contain too many
	// records beside its data. A request for fewer records succeeds.
	ReasonExpandLimit Reason = "expand_limit"
	// ReasonUnknownPath is the reason of a not_found error if the server has no operation with
	// the path. It may be older than the client.
	ReasonUnknownPath Reason = "unknown_path"
)

// Reasons returns all reasons.
func Reasons() []Reason {
	return []Reason{ReasonRecentSignIn, ReasonTimeLimit, ReasonTooManyAtOnce, ReasonSpoolFull, ReasonTooSlow, ReasonChangesRemoved,
		ReasonListMoving, ReasonVersionConflict, ReasonExpandLimit, ReasonUnknownPath}
}

// FieldRule is the rule that an invalid field breaks.
type FieldRule string

// The rules of fields and parameters.
const (
	RuleRequired FieldRule = "required" // the field is missing
	RuleUnknown  FieldRule = "unknown"  // the operation has no such field
	RuleEmpty    FieldRule = "empty"    // the field must not be empty
	RuleValue    FieldRule = "value"    // the value is not allowed
)

// FieldRules returns all rules.
func FieldRules() []FieldRule { return []FieldRule{RuleRequired, RuleUnknown, RuleEmpty, RuleValue} }

// Detail identifies an invalid field of a request in machine-readable form.
type Detail struct {
	Field   string    `json:"field"` // path of the field, such as due.date or items[2]
	Rule    FieldRule `json:"rule"`
	Allowed string    `json:"allowed,omitzero"` // the allowed values or names, as in the message
}

// Fault is an error for the caller. Message is a sentence that names the field or
// object and says what is allowed. It never contains an internal error, a secret or
// text written by another person.
type Fault struct {
	Code       Code
	Message    string
	Reason     Reason   // empty for most errors
	Details    []Detail // the invalid fields of an invalid_request
	Cause      Cause
	Scope      Scope         // the missing scope, for insufficient_scope
	Rate       *Rate         // the exceeded budget, if it is known only inside the operation; otherwise nil
	RetryAfter time.Duration // for rate_limited, unavailable and CauseInFlight; otherwise zero
	Current    []byte        // for ReasonVersionConflict: the record as JSON; otherwise nil
	Tag        string        // for ReasonVersionConflict: the record's entity tag
}

func (f *Fault) Error() string { return string(f.Code) + ": " + f.Message }

// Refused reports whether a limit other than the general request rate rejected the
// request. Such a request does not count against the request rate.
func (f *Fault) Refused() bool {
	return f.Code == CodeRateLimited && (f.Rate != nil || f.Reason == ReasonTooManyAtOnce)
}

// RetrySeconds returns a wait as the value of a Retry-After header: in seconds, rounded up,
// so that a client that waits for this time is not refused again.
func RetrySeconds(wait time.Duration) string {
	return strconv.Itoa(int((wait + time.Second - 1) / time.Second))
}

// WaitText returns a wait as text for a message: in seconds or, from two minutes on, in
// minutes, rounded up. Not every reader of a message sees the Retry-After header.
func WaitText(wait time.Duration) string {
	if wait < 2*time.Minute {
		return RetrySeconds(wait) + " s"
	}
	return strconv.Itoa(int((wait+time.Minute-1)/time.Minute)) + " min"
}

// AsFault returns the fault in err's chain. It returns false if there is none.
func AsFault(err error) (*Fault, bool) {
	var f *Fault
	ok := errors.As(err, &f)
	return f, ok
}

// IsCode reports whether err is a fault with the given code.
func IsCode(err error, code Code) bool {
	f, ok := AsFault(err)
	return ok && f.Code == code
}

// Invalid returns an invalid_request error. The message should start with the field's
// name, which Fault.In repeats in machine-readable form.
func Invalid(format string, args ...any) *Fault {
	return &Fault{Code: CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// In names the field that is invalid. It returns f.
func (f *Fault) In(field string, rule FieldRule) *Fault {
	f.Details = append(f.Details, Detail{Field: field, Rule: rule})
	return f
}

// InvalidValue returns an error for a field whose value is not allowed. Allowed completes the phrase "must be".
func InvalidValue(field, allowed string) *Fault {
	return Invalid("%s must be %s.", field, allowed).Allows(field, RuleValue, allowed)
}

// Allows is like In, and also says what is allowed. It returns f.
func (f *Fault) Allows(field string, rule FieldRule, allowed string) *Fault {
	f.Details = append(f.Details, Detail{Field: field, Rule: rule, Allowed: allowed})
	return f
}

// Within adds the name of the object that contains the invalid fields to the details of err: dueDate becomes
// due.dueDate. It returns err unchanged if it is not a Fault or if the name is empty.
func Within(object string, err error) error {
	f, ok := AsFault(err)
	if !ok || len(f.Details) == 0 || object == "" {
		return err
	}
	inside := *f
	inside.Details = slices.Clone(f.Details)
	for i := range inside.Details {
		inside.Details[i].Field = object + "." + inside.Details[i].Field
	}
	return &inside
}

// Placed is like Within, and also begins the message with the place of the object in the input.
func Placed(place, object string, err error) error {
	f, ok := AsFault(Within(object, err))
	if !ok {
		return err
	}
	there := *f
	there.Message = place + ": " + f.Message
	return &there
}

// JoinValues joins values for a message: "a, b, c".
func JoinValues[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// NotFound returns the error for objects that do not exist or that the caller
// cannot see. Its text never varies, so that callers cannot tell the two apart.
func NotFound() *Fault {
	return &Fault{Code: CodeNotFound, Message: "There is no such object, or you cannot see it."}
}

// Forbidden returns a forbidden error. The message should name the required
// role.
func Forbidden(format string, args ...any) *Fault {
	return &Fault{Code: CodeForbidden, Message: fmt.Sprintf(format, args...)}
}

// Unauthenticated returns the error for a missing, malformed or expired token
// or session.
func Unauthenticated() *Fault {
	return &Fault{Code: CodeUnauthenticated, Message: "Sign in, or send a valid API token in the Authorization header: " +
		"Bearer <token>."}
}

// Refuse returns a fault with the given code.
func Refuse(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ListMoving returns the error for a change to a list that a job is moving to another
// board.
func ListMoving() *Fault {
	return &Fault{
		Code: CodeUnavailable, Reason: ReasonListMoving, RetryAfter: 2 * time.Second,
		Message: "The list is moving to another board. Try again when the move is complete.",
	}
}

// InFlight returns the error for a request that arrives while the first request
// with the same idempotency key is still running.
func InFlight() *Fault {
	return &Fault{
		Code: CodeInvalidRequest, Cause: CauseInFlight, RetryAfter: time.Second,
		Message: "Idempotency-Key: the first request with this key is still running. Retry in a moment.",
	}
}
