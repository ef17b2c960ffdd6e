package op

import (
	"context"
	"errors"
	"log/slog"
	"time"

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

// Internal returns the fault for an unexpected error.
func Internal(requestID string) *board.Fault {
	return board.Refuse(board.CodeInternal,
		"Something went wrong on the server. Its log has the details of request %s.", requestID)
}
