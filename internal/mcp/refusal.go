package mcp

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// refusalBody is the structured half of a refusal.
type refusalBody struct {
	Error struct {
		Code       board.Code `json:"code"`
		Message    string     `json:"message"`
		Next       string     `json:"next"`
		RetryAfter int        `json:"retryAfter,omitzero"` // seconds
	} `json:"error"`
}

// refusal tells what failed and what to do next.
func refusal(f *board.Fault) outcome {
	var r refusalBody
	r.Error.Code, r.Error.Message = f.Code, f.Message
	r.Error.RetryAfter = int((f.RetryAfter + time.Second - 1) / time.Second)
	r.Error.Next = next(f, r.Error.RetryAfter)
	body, err := json.Marshal(r)
	if err != nil {
		body = []byte(`{"error":{"code":"internal","message":"The refusal could not be written.","next":"Tell the person."}}`)
	}
	text := fmt.Sprintf("%s: %s Next: %s", f.Code, f.Message, r.Error.Next)
	return outcome{text: plain([]byte(text)), body: visible(body), failed: true}
}

// next is what an assistant does about a refusal.
func next(f *board.Fault, seconds int) string {
	switch f.Code {
	case board.CodeInvalidRequest:
		if f.Cause == board.CauseInFlight {
			return fmt.Sprintf("wait %d s, then repeat the call with the same idempotencyKey.", seconds)
		}
		return "correct what the message names and call again; a changed call needs a new idempotencyKey."
	case board.CodeUnauthenticated:
		return "ask the person to connect again."
	case board.CodeForbidden:
		return "do not repeat it; ask the person for a role that allows it, or work where they have one."
	case board.CodeInsufficientScope:
		return "use the tools that are listed, or ask the person to connect again with that scope."
	case board.CodeNotFound:
		return "take an id from list_boards, list_cards or search_cards; do not guess one."
	case board.CodeArchived:
		return "restore it first (restore_card, restore_list), if the person wants that."
	case board.CodeBoardArchived:
		return "restore the board first (restore_board), if the person wants that."
	case board.CodeCapacityFull:
		return "choose another list, move a card out of this one first, or ask whether its WIP limit may be raised (update_list)."
	case board.CodePowerupDisabled:
		return "do without it, or ask a board admin to switch the feature on (update_board)."
	case board.CodeLimitReached:
		return "take away what is not needed any more, or work elsewhere."
	case board.CodePlanLimit, board.CodePlanReadOnly:
		return "tell the person: an owner of the organization decides about its plan. Reading goes on."
	case board.CodeRateLimited, board.CodeUnavailable:
		return fmt.Sprintf("wait %d s, then repeat the call; a change with the same idempotencyKey.", max(seconds, 1))
	case board.CodeInternal:
		return "repeat the call once, a change with the same idempotencyKey; if it fails again, tell the person the request id."
	}
	return "tell the person."
}
