package rest

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

type errorEnvelope struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    board.Code     `json:"code"`
	Message string         `json:"message"`
	Reason  board.Reason   `json:"reason,omitzero"`
	Details []board.Detail `json:"details,omitempty"`
	Current jsontext.Value `json:"current,omitempty"`
}

func faultEnvelope(f *board.Fault) errorEnvelope {
	return errorEnvelope{errorBody{f.Code, f.Message, f.Reason, f.Details, f.Current}}
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
