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

// A client finds everything it needs from the URL of the MCP endpoint alone, and receives a
// token that works like any other.
func TestWholeFlow(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		resource := get(s, "/.well-known/oauth-protected-resource/mcp")
		if resource.text("resource") != apptest.BaseURL+"/mcp" ||
			resource.body["authorization_servers"].([]any)[0] != apptest.BaseURL ||
			fmt.Sprint(resource.body["scopes_supported"]) != "[read write]" {
			t.Fatalf("the resource is %s", resource.raw)
		}
		server := get(s, "/.well-known/oauth-authorization-server")
		if server.text("issuer") != apptest.BaseURL || server.body["code_challenge_methods_supported"].([]any)[0] != "S256" ||
			fmt.Sprint(server.body["scopes_supported"]) != "[read write admin]" {
			t.Fatalf("the server is %s", server.raw)
		}
		path := func(name string) string { return strings.TrimPrefix(server.text(name), apptest.BaseURL) }

		p := newProgram(s)
		query := p.request()
		page := get(s, path("authorization_endpoint")+"?"+query.Encode(), "Accept", "text/html")
		if page.status != http.StatusOK || !strings.Contains(page.raw, "<title>Cardwall") {
			t.Fatalf("the consent page is %d %s", page.status, page.raw)
		}
		look := ada.Must("look_at_authorization", fields{"query": query.Encode()})
		if look.Text("name") != "Example Assistant" || look.Text("host") != "assistant.example.com" ||
			look.Text("returnsTo") != "assistant.example.com" || look.Text("place") != "web" ||
			look.Get("verified") != false || look.Get("open") != false || len(look.Get("scopes").([]any)) != 2 {
			t.Errorf("the consent page shows %s", look.Raw)
		}
		sent := p.allow(ada, query, fields{"scopes": []string{"write"}, "workspaceId": workspace})
		if sent.Get("state") != "xyz&=" || sent.Get("iss") != apptest.BaseURL || sent.Get("code") == "" {
			t.Fatalf("the client is sent %v", sent)
		}
		got := p.must(path("token_endpoint"), p.redemption(sent.Get("code"), "resource", apptest.BaseURL+"/mcp"))
		if got.text("token_type") != "Bearer" || got.text("scope") != "read write" || got.body["expires_in"] != 3600.0 ||
			got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the tokens are %s", got.raw)
		}
		if _, ok := board.TokenHash(got.text("access_token")); !ok || !strings.HasPrefix(got.text("refresh_token"), "cwr_") {
			t.Errorf("the tokens are %s", got.raw)
		}
		agent := &apptest.Person{Service: s, Token: got.text("access_token")}
		me := agent.Must("get_me", nil)
		if me.ID() != ada.ID || me.Text("token.name") != "Example Assistant" || me.Text("token.workspaceId") != workspace ||
			len(me.Get("token.scopes").([]any)) != 2 {
			t.Errorf("the token is %s", me.Raw)
		}
		agent.Must("create_board", fields{"workspaceId": workspace, "name": "From afar"})
		agent.Refused(board.CodeInsufficientScope, "list_webhooks", fields{"workspaceId": workspace})

		// The person sees the app separately from the tokens created by hand.
		apps := ada.Must("list_connected_apps", nil)
		for until := time.Now().Add(10 * time.Second); apps.Get("0.lastUsedAt") == nil &&
			time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
			apps = ada.Must("list_connected_apps", nil) // its use is recorded after the request
		}
		if apps.Text("0.name") != "Example Assistant" || apps.Text("0.host") != "assistant.example.com" ||
			apps.Text("0.workspaceId") != workspace || apps.Get("0.lastUsedAt") == nil {
			t.Errorf("the connected apps are %s", apps.Raw)
		}
		if made := ada.Must("list_tokens", nil).Each("name"); slices.Contains(made, "Example Assistant") {
			t.Errorf("the list of tokens created by hand has %v, want none of the client's", made)
		}
		ada.Must("disconnect_app", fields{"appId": apps.Text("0.id")})
		if works(s, agent.Token) {
			t.Error("the token still works after the app was disconnected")
		}
		refused(t, "a refresh token after its owner has disconnected it",
			post(s, "/oauth/token", p.renewal(got.text("refresh_token"))), "invalid_grant")
		if n := len(ada.Must("list_connected_apps", nil).Each("id")); n != 0 {
			t.Errorf("%d apps are connected still, want 0", n)
		}
	})
}

func TestRefreshChangesBothTokens(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		p := newProgram(s)
		first := p.tokens(ada)
		s.Clock.Advance(board.AccessLifetime + time.Second)
		if works(s, first.text("access_token")) {
			t.Error("an access token works for more than an hour")
		}
		if apps := ada.Must("list_connected_apps", nil); len(apps.Each("id")) != 1 {
			t.Errorf("the app is not listed after its access token expired: %s", apps.Raw)
		}
		second := p.must("/oauth/token", p.renewal(first.text("refresh_token"), "resource", apptest.BaseURL+"/mcp"))
		if second.text("access_token") == first.text("access_token") ||
			second.text("refresh_token") == first.text("refresh_token") || second.text("scope") != "read write" {
			t.Errorf("the second tokens are %s", second.raw)
		}
		if !works(s, second.text("access_token")) {
			t.Error("the second access token does not work")
		}
		narrow := p.must("/oauth/token", p.renewal(second.text("refresh_token"), "scope", "read"))
		if narrow.text("scope") != "read" || works(s, second.text("access_token")) || !works(s, narrow.text("access_token")) {
			t.Errorf("the narrower tokens are %s", narrow.raw)
		}
		// RFC 6749, 6: narrowing a token does not narrow the consent
		wide := p.must("/oauth/token", p.renewal(narrow.text("refresh_token")))
		if wide.text("scope") != "read write" {
			t.Errorf("the last tokens are %s", wide.raw)
		}
		s.Clock.Advance(board.RefreshLifetime + time.Second)
		refused(t, "a refresh token that was not used for 90 days",
			post(s, "/oauth/token", p.renewal(wide.text("refresh_token"))), "invalid_grant")
	})
}

// Each step of the flow can be handled by another server.
func TestAnyServerHandlesTheNextStep(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{})
	second, third := s.Node(), s.Node()
	ada := s.Person("Ada")
	p := newProgram(second)
	code := p.code(ada)
	got := program{third, p.id, p.redirect}.must("/oauth/token", p.redemption(code))
	if !works(s, got.text("access_token")) {
		t.Error("the token of one node does not work at another")
	}
	post(second, "/oauth/revoke", values("client_id", p.id, "token", got.text("refresh_token")))
	for i, node := range []*apptest.Service{s, second, third} {
		if works(node, got.text("access_token")) {
			t.Errorf("node %d accepts the revoked token", i)
		}
	}
}

func TestDeny(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	p := newProgram(s)
	to, err := url.Parse(s.Person("Ada").Must("look_at_authorization",
		fields{"query": p.request().Encode()}).Text("denyTo"))
	if err != nil || to.Query().Get("error") != "access_denied" || to.Query().Get("state") != "xyz&=" ||
		to.Query().Get("iss") != apptest.BaseURL || to.Query().Get("code") != "" {
		t.Errorf("after denying, the browser is sent to %s (%v)", to, err)
	}
}

// A disconnected client is rejected by every server within a second.
func TestDisconnectedProgramIsRefusedAtEveryServer(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{})
	ada := s.Person("Ada")
	ada.Workspace("Engines", board.PlanTeam)
	token := newProgram(s).tokens(ada).text("access_token")
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
