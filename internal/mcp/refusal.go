package mcp

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// refusalBody is the structured content of an error.
type refusalBody struct {
	Error struct {
		Code    board.Code     `json:"code"`
		Message string         `json:"message"`
		Reason  board.Reason   `json:"reason,omitzero"`
		Details []board.Detail `json:"details,omitempty"`
		// The records that a name may mean.
		Candidates []candidate `json:"candidates,omitempty"`
		Next       string      `json:"next"`
		// The seconds after which to try again. RetryAfter is the name of earlier versions.
		RetryAfterSeconds int `json:"retryAfterSeconds,omitzero"`
		RetryAfter        int `json:"retryAfter,omitzero"`
	} `json:"error"`
}

// refusal returns the outcome of a failed call, with the error and what to do next.
func refusal(f *board.Fault, candidates ...candidate) outcome {
	var r refusalBody
	r.Error.Candidates = candidates
	r.Error.Code, r.Error.Message, r.Error.Reason, r.Error.Details = f.Code, f.Message, f.Reason, f.Details
	r.Error.RetryAfterSeconds = int((f.RetryAfter + time.Second - 1) / time.Second)
	r.Error.RetryAfter = r.Error.RetryAfterSeconds
	r.Error.Next = next(f, r.Error.RetryAfterSeconds)
	body, err := json.Marshal(r)
	if err != nil {
		body = []byte(`{"error":{"code":"internal","message":"The error could not be encoded.","next":"Tell the person."}}`)
	}
	text := fmt.Sprintf("%s: %s Next: %s", f.Code, f.Message, r.Error.Next)
	if list, err := json.Marshal(candidates); err == nil && candidates != nil {
		text += " Candidates: " + string(list)
	}
	return outcome{text: stripHidden([]byte(text)), body: stripHiddenJSON(body), failed: true}
}

// next returns the text that tells an assistant what to do after an error.
func next(f *board.Fault, seconds int) string {
	switch f.Code {
	case board.CodeInvalidRequest:
		if f.Cause == board.CauseInFlight {
			return fmt.Sprintf("wait %d s, then repeat the call with the same idempotencyKey.", seconds)
		}
		return "correct the fields that the message names and call again. A changed call needs a new idempotencyKey."
	case board.CodeUnauthenticated:
		return "ask the person to connect again."
	case board.CodeForbidden:
		return "do not repeat the call. Ask the person to get a role that allows it, or work on a board where they have one."
	case board.CodeInsufficientScope:
		return "use only the listed tools, or ask the person to connect again with that scope."
	case board.CodeNotFound:
		return "get the id from list_boards, list_cards or search_cards. Do not guess ids."
	case board.CodeArchived:
		return "restore it first (restore_card, restore_list), if the person wants that."
	case board.CodeBoardArchived:
		return "restore the board first (restore_board), if the person wants that."
	case board.CodeCapacityFull:
		return "choose another list, move a card out of this one first, " +
			"or ask the person whether to raise its WIP limit (update_list)."
	case board.CodePowerupDisabled:
		return "work without the feature, or ask a board admin to enable it (update_board)."
	case board.CodeLimitReached:
		return "remove objects that are no longer needed, or use another list or board."
	case board.CodePlanLimit, board.CodePlanReadOnly:
		return "tell the person. An operator of the server can change the organization's plan or allow changes again. " +
			"Reading still works."
	case board.CodeRateLimited, board.CodeUnavailable:
		return fmt.Sprintf("wait %d s, then repeat the call. Repeat a change with the same idempotencyKey.", max(seconds, 1))
	case board.CodeInternal:
		return "repeat the call once; repeat a change with the same idempotencyKey. " +
			"If it fails again, tell the person the request id."
	}
	return "tell the person."
}
