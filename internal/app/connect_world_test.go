package app_test

import (
	"context"
	"net/url"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const programRedirect = "https://assistant.example.com/callback"

// newClient stores a client as if it had registered itself, and returns it.
func (w *world) newClient() board.Client {
	w.T.Helper()
	c := board.Client{ID: store.NewID("cli_"), Name: "Example Assistant", RedirectURIs: []string{programRedirect},
		GrantTypes: []string{board.GrantCode, board.GrantRefresh, board.GrantDevice}}
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.InsertClient(ctx, c) })
	return c
}

// authorizationQuery returns the query of an authorization request by a new client.
func (w *world) authorizationQuery() string {
	return url.Values{
		"response_type": {"code"}, "client_id": {w.newClient().ID}, "redirect_uri": {programRedirect},
		"state":          {"af0ifjsldkj"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"},
	}.Encode()
}

// newUserCode stores an authorization request by a device, and returns the user code that the device
// shows.
func (w *world) newUserCode() string {
	w.T.Helper()
	c, code := w.newClient(), board.NewUserCode()
	d := board.Device{ID: store.NewID("dev_"),
		Consent: board.Consent{ClientID: c.ID, ClientName: c.Name, Scopes: []board.Scope{board.ScopeRead, board.ScopeWrite}}}
	w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		hash, _ := board.UserCodeHash(code)
		_, err := tx.InsertDevice(ctx, d, board.SecretHash(board.NewSecret()), hash)
		return err
	})
	return code
}

// connectedClient connects a client to the owner's account. It returns the ID of the connection,
// which is the ID of its token.
func (w *world) connectedClient() (id string) {
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
