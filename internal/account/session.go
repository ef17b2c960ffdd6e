package account

import (
	"context"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListSessionsInput selects a page of the caller's sessions.
type ListSessionsInput struct {
	op.Paging
}

// ListSessions lists the caller's sessions, newest first.
func ListSessions(ctx context.Context, v *store.View, in ListSessionsInput) (op.Page[board.Session], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.Session]{}, err
	}
	all, err := v.Sessions(ctx, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(s board.Session) any { return s.ID }), err
}

// ListWrongPasswordsInput selects a page of wrong passwords.
type ListWrongPasswordsInput struct {
	op.Paging
}

// ListWrongPasswords lists the attempts of the last 30 days to sign in to the caller's
// account with a wrong password, newest first.
func ListWrongPasswords(ctx context.Context, v *store.View, in ListWrongPasswordsInput) (op.Page[board.WrongPassword], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.WrongPassword]{}, err
	}
	all, err := v.WrongPasswords(ctx, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(w board.WrongPassword) any { return w.ID }), err
}

// EndSessionInput is the input of EndSession.
type EndSessionInput struct {
	SessionID string `json:"sessionId" maxLength:"64" doc:"Id of one of the caller's sessions." example:"ses_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// EndSession ends a session of the caller. It returns a not_found error for any other id.
func EndSession(ctx context.Context, tx *store.Tx, in EndSessionInput) (app.Deleted, error) {
	return app.Deleted{ID: in.SessionID}, tx.EndSession(ctx, in.SessionID)
}
