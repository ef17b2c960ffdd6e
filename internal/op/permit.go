package op

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// SessionCookie makes a response start a session in the browser, or end it if
// Secret is empty. Device is a new secret that identifies the browser; if it is
// empty, the browser keeps its old one.
type SessionCookie struct{ Secret, Device string }

// cookieOf returns the session cookie of an operation's result, or nil if the result has
// no SessionCookie method.
func cookieOf(out any) *SessionCookie {
	if c, ok := out.(interface{ SessionCookie() *SessionCookie }); ok {
		return c.SessionCookie()
	}
	return nil
}

// Permit returns an error if the caller may not call the operation, whatever the input.
// It is for interfaces that do work before Do, such as storing a file.
func (e *Engine) Permit(ctx context.Context, c Call) error { return e.permit(ctx, c) }

// CheckInput returns an error if the input of a call is invalid. It is for interfaces that do
// work before Do.
func (e *Engine) CheckInput(c Call) error {
	_, err := c.Operation.Input.decode(c.Arguments)
	return err
}

// permit returns an error if the caller may not call the operation, whatever the
// input. It checks the scope, the session, the operator permission and the recent
// sign-in. It reads the time of the sign-in from the database and not from a
// cache, so that a confirmed sign-in counts immediately on every server. The refusal
// is not stored for the idempotency key, because the page asks the person to sign in
// again and then retries the same request.
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
