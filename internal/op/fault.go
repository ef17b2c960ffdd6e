package op

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// FaultOf returns the fault that a caller sees for an error, over REST and MCP
// alike. If err is not a fault, the result is unavailable after a cancellation or a
// timeout, and otherwise internal. FaultOf logs timeouts, unexpected errors, and
// unavailable faults except overload and a list that is being moved. Each log line
// has the request id. The logger should have attributes that identify the call.
func FaultOf(ctx context.Context, log *slog.Logger, requestID string, err error) *board.Fault {
	f, ok := board.AsFault(err)
	switch {
	case ok:
		if f.Code == board.CodeUnavailable && f.Cause != board.CauseOverload && f.Reason != board.ReasonListMoving {
			log.WarnContext(ctx, "unavailable", "request", requestID, "error", err)
		}
		return f
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		// The client has disconnected and will not read this.
		return &board.Fault{Code: board.CodeUnavailable, Message: "The request was canceled.", RetryAfter: time.Second}
	case errors.Is(err, context.DeadlineExceeded):
		log.WarnContext(ctx, "deadline exceeded", "request", requestID, "error", err)
		return &board.Fault{
			Code: board.CodeUnavailable, Message: "The request took too long. Try again in a moment.",
			RetryAfter: time.Second,
		}
	}
	log.ErrorContext(ctx, "unexpected error", "request", requestID, "error", err)
	return Internal(requestID)
}

// ErrorBody is a fault as REST returns it. Its schema is part of the OpenAPI document.
type ErrorBody struct {
	Code    board.Code     `json:"code"`
	Message string         `json:"message"`
	Reason  board.Reason   `json:"reason,omitzero"`
	Details []board.Detail `json:"details,omitempty"`
	Current jsontext.Value `json:"current,omitempty"`
}

// ErrorOf returns the body of a fault.
func ErrorOf(f *board.Fault) *ErrorBody {
	return &ErrorBody{f.Code, f.Message, f.Reason, f.Details, f.Current}
}

// ErrorSchema is the name of the schema of an ErrorBody.
const ErrorSchema = "ErrorBody"

// Schema refers to the schema in the OpenAPI document.
func (*ErrorBody) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Ref: SchemaPrefix + ErrorSchema}
}

// Internal returns the fault for an unexpected error.
func Internal(requestID string) *board.Fault {
	return board.Refuse(board.CodeInternal,
		"Something went wrong on the server. Its log has the details of request %s.", requestID)
}
