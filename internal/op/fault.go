package op

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"cardwall/internal/board"
)

// FaultOf returns the fault that a caller sees for an error, over REST and MCP
// alike. An error that is not a fault is logged with the request id, which the
// message repeats, and becomes an internal error. The log should have attributes
// that name the call.
func FaultOf(ctx context.Context, log *slog.Logger, requestID string, err error) *board.Fault {
	f, ok := board.AsFault(err)
	switch {
	case ok:
		if f.Code == board.CodeUnavailable && f.Cause != board.CauseOverload && f.Reason != board.ReasonListMoving {
			log.WarnContext(ctx, "unavailable", "request", requestID, "error", err)
		}
		return f
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		// The client is gone and does not read this.
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

// Internal returns the fault of an unexpected error.
func Internal(requestID string) *board.Fault {
	return board.Refuse(board.CodeInternal,
		"Something went wrong on the server. Its log has the details of request %s.", requestID)
}
