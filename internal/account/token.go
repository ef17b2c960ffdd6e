package account

import (
	"context"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// maxTokens is how many tokens of one person can work.
const maxTokens = 100

// ListTokensInput pages through the caller's tokens.
type ListTokensInput struct {
	op.Paging
}

// ListTokens lists the caller's tokens that work, newest first.
func ListTokens(ctx context.Context, v *store.View, in ListTokensInput) (op.Page[board.UsedToken], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.UsedToken]{}, err
	}
	all, err := v.UsedTokens(ctx, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(t board.UsedToken) any { return t.ID }), err
}

// CreateTokenInput says what a token is for.
type CreateTokenInput struct {
	Name        string         `json:"name" minLength:"1" maxLength:"512" doc:"What it is for." example:"Deploy script"`
	Scopes      []string       `json:"scopes" maxItems:"3" enum:"read,write,admin" doc:"What it allows; read is always among them." example:"[\"read\",\"write\"]"`
	WorkspaceID string         `json:"workspaceId,omitempty" maxLength:"64" doc:"The one workspace it reaches; all of the caller's when absent." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ExpiresAt   *board.Instant `json:"expiresAt,omitempty" format:"date-time" doc:"When it stops working; never when absent." example:"2027-01-05T09:00:00.000Z"`
}

// MadeToken is a new token with its text.
type MadeToken struct {
	board.Token
	Secret string `json:"secret" doc:"The token itself, which is shown this once." example:"cwl_3mK9vQ2xT7bN4wR8sJ1hF6dL5pZ0cYeU1aBc2d"`
}

// CreateToken makes a token for the caller.
func CreateToken(ctx context.Context, tx *store.Tx, in CreateTokenInput) (MadeToken, error) {
	scopes, err := board.ParseScopes(in.Scopes)
	if err != nil {
		return MadeToken{}, err
	}
	have, err := tx.Tokens(ctx, tx.Caller().UserID)
	if err == nil {
		err = board.Room("API tokens of one person", len(have), 1, maxTokens)
	}
	if err != nil {
		return MadeToken{}, err
	}
	t, text, err := app.AddToken(ctx, tx, app.NewToken{Name: in.Name, Scopes: scopes, WorkspaceID: in.WorkspaceID, ExpiresAt: in.ExpiresAt})
	if err == nil {
		err = tx.InsertLetter(ctx, board.LetterTokenCreated, t.ID, 0)
	}
	return MadeToken{Token: t, Secret: text}, err
}

// RevokeTokenInput names a token.
type RevokeTokenInput struct {
	TokenID string `json:"tokenId" maxLength:"64" doc:"A token of the caller." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// RevokeToken ends a token of the caller; any other is not found.
func RevokeToken(ctx context.Context, tx *store.Tx, in RevokeTokenInput) (app.Deleted, error) {
	return app.Deleted{ID: in.TokenID}, tx.RevokeOwnToken(ctx, in.TokenID)
}
