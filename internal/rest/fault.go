package rest

import (
	"net/http"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

type errorEnvelope struct {
	Error *op.ErrorBody `json:"error"`
}

// StatusOf returns the HTTP status of a fault.
func StatusOf(f *board.Fault) int {
	switch f.Code {
	case board.CodeInvalidRequest:
		switch f.Cause {
		case board.CauseInFlight, board.CauseOffset:
			return http.StatusConflict
		case board.CausePrecondition:
			return http.StatusPreconditionFailed
		case board.CauseRange:
			return http.StatusRequestedRangeNotSatisfiable
		case board.CauseTooLarge:
			return http.StatusRequestEntityTooLarge
		case board.CauseMediaType:
			return http.StatusUnsupportedMediaType
		case board.CauseMethod:
			return http.StatusMethodNotAllowed
		}
		return http.StatusBadRequest
	case board.CodeUnauthenticated:
		return http.StatusUnauthorized
	case board.CodeForbidden, board.CodeInsufficientScope:
		return http.StatusForbidden
	case board.CodeNotFound:
		return http.StatusNotFound
	case board.CodeArchived, board.CodeBoardArchived, board.CodeCapacityFull, board.CodePowerupDisabled, board.CodeLimitReached:
		return http.StatusConflict
	case board.CodePlanLimit, board.CodePlanReadOnly:
		return http.StatusPaymentRequired
	case board.CodeRateLimited:
		return http.StatusTooManyRequests
	case board.CodeUnavailable:
		return http.StatusServiceUnavailable
	case board.CodeInternal:
	}
	return http.StatusInternalServerError
}
