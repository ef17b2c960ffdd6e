package op

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// SessionCookie is what an answer does to the browser that asked: it begins a
// session, or with an empty secret ends the one there is. A device is the new
// secret of the browser itself; when it is empty, the browser keeps what it has.
type SessionCookie struct{ Secret, Device string }

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
		return c.Caller.Needs(o.Scope, "This")
	case !o.Recent && !o.Operator, c.Caller.SessionID == "":
		return nil
	}
	return e.db.Read(ctx, c.Caller, func(v *store.View) error {
		if o.Operator {
			if err := v.Operator(ctx); err != nil {
				return err
			}
		}
		if !o.Recent {
			return nil
		}
		return CheckRecent(ctx, v)
	})
}

// CheckRecent refuses a caller whose sign-in is not recent.
func CheckRecent(ctx context.Context, v *store.View) error {
	until, err := v.RecentUntil(ctx)
	if err == nil && until <= v.Now() {
		err = &board.Fault{
			Code: board.CodeForbidden, Reason: board.ReasonRecentSignIn,
			Message: "Sign in again: this needs a sign-in within the last ten minutes.",
		}
	}
	return err
}
