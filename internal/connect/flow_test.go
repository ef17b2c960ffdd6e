package connect_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A client discovers everything it needs from the URL of the MCP endpoint. It receives a token
// that works like any other token.
func TestAuthorizationFlow(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		resource := get(s, "/.well-known/oauth-protected-resource/mcp")
		if resource.text("resource") != apptest.BaseURL+"/mcp" ||
			resource.body["authorization_servers"].([]any)[0] != apptest.BaseURL ||
			fmt.Sprint(resource.body["scopes_supported"]) != "[read write]" {
			t.Fatalf("got resource metadata %s, want that of the MCP endpoint with the scopes read and write", resource.raw)
		}
		server := get(s, "/.well-known/oauth-authorization-server")
		if server.text("issuer") != apptest.BaseURL || server.body["code_challenge_methods_supported"].([]any)[0] != "S256" ||
			fmt.Sprint(server.body["scopes_supported"]) != "[read write admin]" {
			t.Fatalf("got server metadata %s, want the issuer %s, S256 and three scopes", server.raw, apptest.BaseURL)
		}
		path := func(name string) string { return strings.TrimPrefix(server.text(name), apptest.BaseURL) }

		p := newClient(s)
		query := p.request()
		page := get(s, path("authorization_endpoint")+"?"+query.Encode(), "Accept", "text/html")
		if page.status != http.StatusOK || !strings.Contains(page.raw, "<title>Cardwall") {
			t.Fatalf("consent page: got status %d, body %s; want 200 and a page with the title Cardwall", page.status, page.raw)
		}
		details := ada.Must("get_authorization_request", fields{"query": query.Encode()})
		if details.Text("name") != "Example Assistant" || details.Text("host") != "assistant.example.com" ||
			details.Text("returnsTo") != "assistant.example.com" || details.Text("place") != "web" ||
			details.Get("verified") != false || details.Get("open") != false || len(details.Get("scopes").([]any)) != 2 {
			t.Errorf("got request details %s, want those of Example Assistant, unverified, with two scopes", details.Raw)
		}
		response := p.allow(ada, query, fields{"scopes": []string{"write"}, "workspaceId": workspace})
		if response.Get("state") != "xyz&=" || response.Get("iss") != apptest.BaseURL || response.Get("code") == "" {
			t.Fatalf("got authorization response %v, want a code, the state and the issuer", response)
		}
		got := p.must(path("token_endpoint"), p.redemption(response.Get("code"), "resource", apptest.BaseURL+"/mcp?tools=core"))
		if got.text("token_type") != "Bearer" || got.text("scope") != "read write" || got.body["expires_in"] != 3600.0 ||
			got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("got tokens %s, headers %v; want Bearer for an hour with the scope %q, not cached", got.raw, got.header,
				"read write")
		}
		if _, ok := board.TokenHash(got.text("access_token")); !ok || !strings.HasPrefix(got.text("refresh_token"), "cwr_") {
			t.Errorf("got tokens %s, want an API token and a refresh token that begins with cwr_", got.raw)
		}
		agent := &apptest.Person{Service: s, Token: got.text("access_token")}
		me := agent.Must("get_me", nil)
		if me.ID() != ada.ID || me.Text("token.name") != "Example Assistant" || me.Text("token.workspaceId") != workspace ||
			len(me.Get("token.scopes").([]any)) != 2 {
			t.Errorf("get_me returned %s, want the client's token", me.Raw)
		}
		agent.Must("create_board", fields{"workspaceId": workspace, "name": "From afar"})
		agent.Refused(board.CodeInsufficientScope, "list_webhooks", fields{"workspaceId": workspace})

		// The person sees the app separately from the tokens created by hand.
		apps := apptest.Await(t, "the use of the app is recorded", func() (a apptest.Response, done bool) {
			a = ada.Must("list_connected_apps", nil)
			return a, a.Get("0.lastUsedAt") != nil
		})
		if apps.Text("0.name") != "Example Assistant" || apps.Text("0.host") != "assistant.example.com" ||
			apps.Text("0.workspaceId") != workspace {
			t.Errorf("got connected apps %s, want Example Assistant in workspace %s", apps.Raw, workspace)
		}
		if names := ada.Must("list_tokens", nil).Each("name"); slices.Contains(names, "Example Assistant") {
			t.Errorf("list_tokens returned %v, want no token of the client", names)
		}
		ada.Must("disconnect_app", fields{"appId": apps.Text("0.id")})
		if works(s, agent.Token) {
			t.Error("the token still works after the app was disconnected")
		}
		wantError(t, "a refresh token of a disconnected app",
			post(s, "/oauth/token", p.refresh(got.text("refresh_token"))), "invalid_grant")
		if n := len(ada.Must("list_connected_apps", nil).Each("id")); n != 0 {
			t.Errorf("got %d connected apps, want 0", n)
		}
	})
}

func TestRefreshChangesBothTokens(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p := newClient(s)
		first := p.tokens(ada)
		s.Clock.Advance(board.AccessLifetime + time.Second)
		if works(s, first.text("access_token")) {
			t.Error("the access token works for more than an hour")
		}
		if apps := ada.Must("list_connected_apps", nil); len(apps.Each("id")) != 1 {
			t.Errorf("got connected apps %s, want the app, although its access token has expired", apps.Raw)
		}
		second := p.must("/oauth/token", p.refresh(first.text("refresh_token"), "resource", apptest.BaseURL+"/mcp"))
		if second.text("access_token") == first.text("access_token") ||
			second.text("refresh_token") == first.text("refresh_token") || second.text("scope") != "read write" {
			t.Errorf("got second tokens %s, want new ones", second.raw)
		}
		if !works(s, second.text("access_token")) {
			t.Error("the second access token does not work")
		}
		narrow := p.must("/oauth/token", p.refresh(second.text("refresh_token"), "scope", "read"))
		if narrow.text("scope") != "read" || works(s, second.text("access_token")) || !works(s, narrow.text("access_token")) {
			t.Errorf("got narrower tokens %s, want the scope read", narrow.raw)
		}
		// RFC 6749, 6: narrowing a token does not narrow the consent
		wide := p.must("/oauth/token", p.refresh(narrow.text("refresh_token")))
		if wide.text("scope") != "read write" {
			t.Errorf("got last tokens %s, want the scope %q", wide.raw, "read write")
		}
		s.Clock.Advance(board.RefreshLifetime + time.Second)
		wantError(t, "a refresh token that was not used for 90 days",
			post(s, "/oauth/token", p.refresh(wide.text("refresh_token"))), "invalid_grant")
	})
}

// A different server can handle each step of the flow.
func TestAnyServerHandlesTheNextStep(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{})
	second, third := s.Node(), s.Node()
	ada := s.Person("Ada")
	p := newClient(second)
	code := p.code(ada)
	got := oauthClient{third, p.id, p.redirect}.must("/oauth/token", p.redemption(code))
	if !works(s, got.text("access_token")) {
		t.Error("a token issued by one server does not work on another")
	}
	post(second, "/oauth/revoke", values("client_id", p.id, "token", got.text("refresh_token")))
	for i, node := range []*apptest.Service{s, second, third} {
		if works(node, got.text("access_token")) {
			t.Errorf("server %d accepts the revoked token", i)
		}
	}
}

func TestDeny(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	p := newClient(s)
	to, err := url.Parse(s.Person("Ada").Must("get_authorization_request",
		fields{"query": p.request().Encode()}).Text("denyTo"))
	if err != nil || to.Query().Get("error") != "access_denied" || to.Query().Get("state") != "xyz&=" ||
		to.Query().Get("iss") != apptest.BaseURL || to.Query().Get("code") != "" {
		t.Errorf("got denyTo %s, error %v; want a redirect with access_denied", to, err)
	}
}

// A disconnected client is rejected by every server within a second.
func TestDisconnectedClientIsRejectedByEveryServer(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{})
	ada := s.Person("Ada")
	ada.Workspace("Engines", board.PlanTeam)
	token := newClient(s).tokens(ada).text("access_token")
	nodes := []*apptest.Service{s, s.Node(), s.Node()}
	for i, node := range nodes {
		if !works(node, token) {
			t.Fatalf("server %d rejects the client", i)
		}
	}
	ada.At(nodes[1]).Must("disconnect_app", fields{"appId": ada.Must("list_connected_apps", nil).Text("0.id")})
	time.Sleep(time.Second)
	for i, node := range nodes {
		if works(node, token) {
			t.Errorf("server %d still accepts the client", i)
		}
	}
}
