package account

import (
	"context"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// maxTokens is the maximum number of active tokens of one person.
const maxTokens = 100

// ListTokensInput selects a page of the caller's tokens.
type ListTokensInput struct {
	op.Paging
}

// ListTokens lists the caller's active tokens, newest first.
func ListTokens(ctx context.Context, v *store.View, in ListTokensInput) (op.Page[board.UsedToken], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.UsedToken]{}, err
	}
	all, err := v.UsedTokens(ctx, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(t board.UsedToken) any { return t.ID }), err
}

// CreateTokenInput describes a new token.
type CreateTokenInput struct {
	Name        string         `json:"name" minLength:"1" maxLength:"512" doc:"Name that describes what the token is for." example:"Deploy script"`
	Scopes      []string       `json:"scopes" maxItems:"3" enum:"read,write,admin" doc:"Scopes of the token; read is always included." example:"[\"read\",\"write\"]"`
	WorkspaceID string         `json:"workspaceId,omitempty" maxLength:"64" doc:"Id of the workspace that the token is limited to. If absent, the token can access all of the caller's workspaces." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ExpiresAt   *board.Instant `json:"expiresAt,omitempty" format:"date-time" doc:"When the token expires. If absent, it never expires." example:"2027-01-05T09:00:00.000Z"`
}

// MadeToken is a new token with its secret.
type MadeToken struct {
	board.Token
	Secret string `json:"secret" doc:"The token itself. It is shown only once." example:"cwl_3mK9vQ2xT7bN4wR8sJ1hF6dL5pZ0cYeU1aBc2d"`
}

// CreateToken creates a token for the caller.
func CreateToken(ctx context.Context, tx *store.Tx, in CreateTokenInput) (MadeToken, error) {
	scopes, err := board.ParseScopes(in.Scopes)
	if err != nil {
		return MadeToken{}, err
	}
	have, err := tx.Tokens(ctx, tx.Caller().UserID)
	if err == nil {
		err = board.CheckLimit("API tokens of one person", len(have), 1, maxTokens)
	}
	if err != nil {
		return MadeToken{}, err
	}
	t, text, err := app.AddToken(ctx, tx, app.NewToken{
		Name: in.Name, Scopes: scopes, WorkspaceID: in.WorkspaceID, ExpiresAt: in.ExpiresAt,
	})
	if err == nil {
		err = tx.InsertEmail(ctx, board.EmailTokenCreated, t.ID, 0)
	}
	return MadeToken{Token: t, Secret: text}, err
}

// RevokeTokenInput is the input of RevokeToken.
type RevokeTokenInput struct {
	TokenID string `json:"tokenId" maxLength:"64" doc:"Id of one of the caller's API tokens." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// RevokeToken revokes a token of the caller. It returns a not_found error for any other id.
func RevokeToken(ctx context.Context, tx *store.Tx, in RevokeTokenInput) (app.Deleted, error) {
	return app.Deleted{ID: in.TokenID}, tx.RevokeOwnToken(ctx, in.TokenID)
}
