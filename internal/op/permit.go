package op

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// SessionCookie is what an answer does to the browser that asked: it begins a
// session, or with an empty secret ends the one there is.
type SessionCookie struct{ Secret string }

// cookieOf is what an answer says of the session, by a method of this name; nil
// for nothing.
func cookieOf(out any) *SessionCookie {
	if c, ok := out.(interface{ SessionCookie() *SessionCookie }); ok {
		return c.SessionCookie()
	}
	return nil
}

// permit refuses a caller that may not call the operation at all, whatever it
// is about: without the scope, without a session, without being an operator, or
// with a sign-in that is not recent. How recent it is says the database, not what the door
// remembers, so that a confirmed sign-in counts at once and on every node. The refusal is
// no answer to keep: the page confirms the sign-in and sends the same again.
func (e *Engine) permit(ctx context.Context, c Call) error {
	o := c.Operation
	switch {
	case o.Anonymous:
		return nil
	case o.SignedIn && c.Caller.SessionID == "":
		return board.Forbidden("Only a person who is signed in can do this, in the application; an API token cannot.")
	case !c.Caller.Has(o.Scope):
		return board.Refuse(board.CodeInsufficientScope, "This needs a token with the scope %s.", o.Scope)
	case !o.Recent && !o.Operator, c.Caller.SessionID == "":
		return nil
	}
	var until, now board.Instant
	err := e.db.Read(ctx, c.Caller, func(v *store.View) (err error) {
		if o.Operator {
			if err := v.Operator(ctx); err != nil {
				return err
			}
		}
		until, err = v.RecentUntil(ctx)
		now = v.Now()
		return err
	})
	if err == nil && o.Recent && until <= now {
		err = board.Forbidden("Sign in again: this needs a sign-in within the last ten minutes.")
	}
	return err
}
