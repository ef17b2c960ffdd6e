package op

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// SessionCookie is the change that a response makes to the browser's session:
// it starts a session, or ends it if Secret is empty. Device is a new secret
// for the browser itself; if it is empty, the browser keeps the old one.
type SessionCookie struct{ Secret, Device string }

// cookieOf returns the session change of an operation's result, which has a
// method of this name, or nil for none.
func cookieOf(out any) *SessionCookie {
	if c, ok := out.(interface{ SessionCookie() *SessionCookie }); ok {
		return c.SessionCookie()
	}
	return nil
}

// permit returns an error if the caller may not call the operation at all,
// whatever its input: without the scope, without a session, without being an
// operator, or without a recent sign-in. The time of the sign-in is read from
// the database and not from a cache, so that a confirmed sign-in counts at once
// on every node. The refusal is not stored for the idempotency key, because the
// page confirms the sign-in and repeats the same request.
func (e *Engine) permit(ctx context.Context, c Call) error {
	o := c.Operation
	switch {
	case o.Audience.NeedsNoAccount():
		return nil
	case o.Audience.NeedsSession() && c.Caller.SessionID == "":
		return board.Forbidden("Only a person who is signed in to the application can do this. An API token cannot.")
	case !c.Caller.Has(o.Scope):
		return c.Caller.Needs(o.Scope, "This")
	case !o.Recent && o.Audience != Operator, c.Caller.SessionID == "":
		return nil
	}
	return e.db.Read(ctx, c.Caller, func(v *store.View) error {
		if o.Audience == Operator {
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

// CheckRecent returns an error if the caller's sign-in is not recent.
func CheckRecent(ctx context.Context, v *store.View) error {
	until, err := v.RecentUntil(ctx)
	if err == nil && until <= v.Now() {
		err = &board.Fault{
			Code: board.CodeForbidden, Reason: board.ReasonRecentSignIn,
			Message: "Sign in again. This requires a sign-in within the last ten minutes.",
		}
	}
	return err
}
