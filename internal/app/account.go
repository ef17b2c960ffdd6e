package app

import (
	"context"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Nothing is the input of an operation without fields.
type Nothing struct{}

// Me is the caller's account with the token that the request used.
type Me struct {
	board.User
	Token *board.Token `json:"token" doc:"The token used for the request; null if none was used."`
}

// GetMe returns the caller's account and, if the request used a token, the token.
func GetMe(ctx context.Context, v *store.View, _ Nothing) (Me, error) {
	user, err := v.User(ctx)
	if err != nil || v.Caller().TokenID == "" {
		return Me{User: user}, err
	}
	token, err := v.Token(ctx)
	return Me{User: user, Token: &token}, err
}

// NewUser holds the fields of a new account.
type NewUser struct {
	Email, Name, PasswordHash, TimeZone string
}

// AddUser creates an account. An empty time zone means UTC.
func AddUser(ctx context.Context, tx *store.Tx, in NewUser) (board.User, error) {
	email, err := board.NormalEmail(in.Email)
	if err != nil {
		return board.User{}, err
	}
	name, err := title("name", in.Name)
	if err != nil {
		return board.User{}, err
	}
	if in.TimeZone == "" {
		in.TimeZone = "UTC"
	}
	if _, err := board.LoadZone("timeZone", in.TimeZone); err != nil {
		return board.User{}, err
	}
	u := board.User{ID: tx.NewID("usr_"), Email: email, Name: name, TimeZone: in.TimeZone}
	return u, tx.InsertUser(ctx, &u, in.PasswordHash)
}

// NewToken holds the fields of a new token.
type NewToken struct {
	Name        string
	Scopes      []board.Scope
	WorkspaceID string         // empty for all workspaces of the owner
	ExpiresAt   *board.Instant // nil for never
}

// AddToken creates a token for the caller. The token always has the read scope.
// AddToken also returns the token's text, because only a hash of it is stored.
func AddToken(ctx context.Context, tx *store.Tx, in NewToken) (board.Token, string, error) {
	name, err := title("name", in.Name)
	if err != nil {
		return board.Token{}, "", err
	}
	t := board.Token{ID: tx.NewID("tok_"), Name: name, Scopes: in.Scopes, ExpiresAt: in.ExpiresAt}
	if !slices.Contains(t.Scopes, board.ScopeRead) {
		t.Scopes = append([]board.Scope{board.ScopeRead}, t.Scopes...)
	}
	if in.ExpiresAt != nil && *in.ExpiresAt <= tx.Now() {
		return t, "", board.Invalid("expiresAt must be in the future.").In("expiresAt", board.RuleValue)
	}
	if in.WorkspaceID != "" {
		if _, err := tx.View.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
			return t, "", err
		}
		t.WorkspaceID = &in.WorkspaceID
	}
	text := board.NewToken()
	hash, _ := board.TokenHash(text)
	t.LastFour = text[len(text)-4:]
	return t, text, tx.InsertToken(ctx, tx.Caller().UserID, &t, hash)
}
