package app_test

import (
	"context"
	"net/url"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const programRedirect = "https://assistant.example.com/callback"

// registered returns a client that registered itself.
func (w *world) registered() board.Client {
	w.T.Helper()
	c := board.Client{ID: store.NewID("cli_"), Name: "Example Assistant", RedirectURIs: []string{programRedirect},
		GrantTypes: []string{board.GrantCode, board.GrantRefresh, board.GrantDevice}}
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.InsertClient(ctx, c) })
	return c
}

// authorization returns the query of a client's authorization request.
func (w *world) authorization() string {
	return url.Values{
		"response_type": {"code"}, "client_id": {w.registered().ID}, "redirect_uri": {programRedirect},
		"state":          {"af0ifjsldkj"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"},
	}.Encode()
}

// device returns the user code that a device shows to start a connection.
func (w *world) device() string {
	w.T.Helper()
	c, code := w.registered(), board.NewUserCode()
	d := board.Device{ID: store.NewID("dev_"),
		Consent: board.Consent{ClientID: c.ID, ClientName: c.Name, Scopes: []board.Scope{board.ScopeRead, board.ScopeWrite}}}
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		hash, _ := board.UserCodeHash(code)
		_, err := tx.InsertDevice(ctx, d, board.SecretHash(board.NewSecret()), hash)
		return err
	})
	return code
}

// connected returns a client that the owner has authorized.
func (w *world) connected() (id string) {
	w.T.Helper()
	until := board.InstantOf(w.Clock.Now().Add(board.AccessLifetime))
	w.Write(board.Person(w.owner.ID), func(ctx context.Context, tx *store.Tx) error {
		t, _, err := app.AddToken(ctx, tx,
			app.NewToken{Name: "Example Assistant", Scopes: []board.Scope{board.ScopeRead}, ExpiresAt: &until})
		if err != nil {
			return err
		}
		id = t.ID
		family := board.NewFamily()
		return tx.InsertGrant(ctx, t, board.Consent{Host: "assistant.example.com", Scopes: t.Scopes},
			board.SecretHash(family), board.SecretHash(family+board.NewSecret()))
	})
	return id
}
