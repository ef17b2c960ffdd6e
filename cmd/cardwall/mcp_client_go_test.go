package main

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"cardwall/internal/apptest"
)

// TestMCPGoClient connects the client of the Go SDK to the server, with a token and with a person's
// consent. With consent, the client asks the person again when it needs another scope.
func TestMCPGoClient(t *testing.T) {
	t.Parallel()
	address := apptest.ReserveAddress(t)
	s := serveMCP(t, program(t), address, "http://"+address)
	token := &oauth2.Token{AccessToken: s.token}
	s.workWithGo(t, "token", &mcp.StreamableClientTransport{
		Endpoint: s.base + "/mcp", HTTPClient: oauth2.NewClient(t.Context(), oauth2.StaticTokenSource(token)),
	})

	consents := 0
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Go SDK", RedirectURIs: []string{"http://127.0.0.1:8123/callback"},
			GrantTypes: []string{"authorization_code", "refresh_token"}, TokenEndpointAuthMethod: "none",
		}},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			consents++
			redirect, err := url.Parse(s.grant(t, args.URL))
			if err != nil {
				return nil, err
			}
			q := redirect.Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	session := s.workWithGo(t, "consent", &mcp.StreamableClientTransport{Endpoint: s.base + "/mcp", OAuthHandler: handler})
	if consents != 1 {
		t.Errorf("asked for consent %d times, want once", consents)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "trash_board", Arguments: map[string]any{"boardId": "brd_00000000000000000000000000"},
	})
	if err != nil || consents != 2 || !strings.HasPrefix(resultText(result), "not_found: ") {
		t.Errorf("a tool that needs the admin scope: asked for consent %d times, got %s (%v); want a second consent, then not_found",
			consents, resultText(result), err)
	}
}

// workWithGo connects a client of the Go SDK, which lists the tools and creates a board.
func (s *mcpServer) workWithGo(t *testing.T, name string, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "Go SDK", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatalf("connect by %s: %v", name, err)
	}
	t.Cleanup(func() { _ = session.Close() })
	var tools []string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, tool.Name)
	}
	if !slices.Contains(tools, "create_board") || slices.Contains(tools, "trash_board") != (name == "token") {
		t.Errorf("by %s: got tools %q, want create_board, and trash_board only with the token", name, tools)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "create_board", Arguments: map[string]any{"workspaceId": s.workspace, "name": "By " + name, "idempotencyKey": name},
	})
	if err != nil || result.IsError {
		t.Fatalf("create a board by %s: %s (%v)", name, resultText(result), err)
	}
	return session
}

// resultText returns the text of a result, or "" for nil.
func resultText(r *mcp.CallToolResult) (text string) {
	if r != nil {
		for _, c := range r.Content {
			if part, ok := c.(*mcp.TextContent); ok {
				text += part.Text
			}
		}
	}
	return text
}
