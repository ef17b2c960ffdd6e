package mcp_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// connected returns the person with the token of a connected app.
func (w *world) connected(scopes ...board.Scope) *apptest.Person {
	w.T.Helper()
	p := w.ada.With(scopes...)
	until := board.InstantOf(w.Clock.Now().Add(time.Hour))
	w.Write(board.Person(p.ID), func(ctx context.Context, tx *store.Tx) error {
		c, _, err := tx.CallerOfToken(ctx, board.SecretHash(p.Token))
		if err != nil {
			return err
		}
		return tx.InsertGrant(ctx, board.Token{ID: c.TokenID, ExpiresAt: &until},
			board.Consent{Host: "assistant.example.com", Scopes: scopes}, nil, nil)
	})
	return p
}

// If a call of a connected app needs a scope that its token does not have, the response has the
// status and the header with which a client asks the person for it. Nothing is changed. An API token
// cannot get a scope, so its call gets a result that the model reads.
func TestConnectedAppIsAskedForTheMissingScope(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		reader, worker := w.connected(board.ScopeRead), w.connected(board.ScopeRead, board.ScopeWrite)
		for _, c := range []struct {
			p     *apptest.Person
			tool  string
			in    fields
			scope string
		}{
			{reader, "create_card", fields{"listId": w.list, "title": "x"}, "read write"},
			{reader, "create_card", fields{"nonsense": 1}, "read write"},
			{reader, "trash_board", fields{"boardId": w.board}, "read write admin"},
			{worker, "trash_board", fields{"boardId": "Launch"}, "read write admin"},
			{worker, "update_board", fields{"boardId": w.board, "name": "Changed", "visibility": "private"}, "read write admin"},
		} {
			for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
				for _, kind := range []string{"application/json", "application/json; charset=utf-8"} {
					r := c.p.RPCRequest(revision, "tools/call", fields{"name": c.tool, "arguments": c.in})
					r.Header.Set("Content-Type", kind) // the SDK handles the second
					a := c.p.Message(r)
					want := `Bearer realm="cardwall", error="insufficient_scope", scope="` + c.scope +
						`", resource_metadata="` + apptest.BaseURL + `/.well-known/oauth-protected-resource/mcp"`
					if got := a.Header.Get("WWW-Authenticate"); a.Status != 403 || got != want {
						t.Errorf("%s in %s as %s: got status %d and challenge %s; want 403 and %s", c.tool, revision, kind, a.Status, got, want)
					}
					if !strings.HasPrefix(string(a.Raw), `{"jsonrpc":"2.0","id":1,"error":{`) ||
						!strings.Contains(string(a.Raw), `"data":{"code":"insufficient_scope"`) {
						t.Errorf("%s in %s as %s: got body %s, want an error with the request's id", c.tool, revision, kind, a.Raw)
					}
				}
			}
		}
		if name := w.ada.Must("get_board", fields{"boardId": w.board}).Text("name"); name != "Launch" {
			t.Errorf("got board %q, want no change", name)
		}
		token := w.ada.With(board.ScopeRead).Tool("create_card", fields{"listId": w.list, "title": "x"})
		if token.Status != 200 || token.Code != board.CodeInsufficientScope || token.Header.Get("WWW-Authenticate") != "" {
			t.Errorf("API token: got status %d, %s, headers %v; want a result", token.Status, token.Raw, token.Header)
		}
	})
}
