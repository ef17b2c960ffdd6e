package connect

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// resourcePaths are the paths of the protected resources (RFC 9728, 3.1). A token is
// valid for all of them.
var resourcePaths = []string{"", "/mcp", "/api/public/v1"}

var scopes = []board.Scope{board.ScopeRead, board.ScopeWrite, board.ScopeAdmin}

// scopesAt returns the scopes in the metadata of a resource. MCP clients request
// all scopes they find there (MCP, Scope Selection Strategy), so the MCP endpoint
// lists only those that an assistant needs.
func scopesAt(path string) []board.Scope {
	if path == board.MCPPath {
		return board.WorkScopes()
	}
	return scopes
}

// resourceMetadata is the metadata of a protected resource (RFC 9728, 2).
type resourceMetadata struct {
	Resource      string        `json:"resource"`
	Name          string        `json:"resource_name"`
	Servers       []string      `json:"authorization_servers"`
	Scopes        []board.Scope `json:"scopes_supported"`
	Methods       []string      `json:"bearer_methods_supported"`
	Documentation string        `json:"resource_documentation"`
}

// serverMetadata is the metadata of the authorization server (RFC 8414, 2), with
// the extensions of RFC 8628 (4), RFC 9207 (3), RFC 9728 (4) and client ID
// metadata documents.
type serverMetadata struct {
	Issuer            string        `json:"issuer"`
	Authorize         string        `json:"authorization_endpoint"`
	Token             string        `json:"token_endpoint"`
	Register          string        `json:"registration_endpoint,omitempty"`
	Revoke            string        `json:"revocation_endpoint"`
	Device            string        `json:"device_authorization_endpoint"`
	Scopes            []board.Scope `json:"scopes_supported"`
	ResponseTypes     []string      `json:"response_types_supported"`
	ResponseModes     []string      `json:"response_modes_supported"`
	GrantTypes        []string      `json:"grant_types_supported"`
	TokenMethods      []string      `json:"token_endpoint_auth_methods_supported"`
	RevokeMethods     []string      `json:"revocation_endpoint_auth_methods_supported"`
	ChallengeMethods  []string      `json:"code_challenge_methods_supported"`
	IssInResponses    bool          `json:"authorization_response_iss_parameter_supported"`
	ClientDocuments   bool          `json:"client_id_metadata_document_supported"`
	ProtectedResource []string      `json:"protected_resources"`
	Documentation     string        `json:"service_documentation"`
}

// metadata returns the discovery documents by path. Some clients mistake the
// address of a resource for the issuer, so the metadata of the authorization
// server is served at the paths for resources too.
func (s *Server) metadata() map[string][]byte {
	server := serverMetadata{
		Issuer: s.base, Authorize: s.base + "/oauth/authorize", Token: s.base + "/oauth/token",
		Revoke: s.base + "/oauth/revoke", Device: s.base + "/oauth/device_authorization", Scopes: scopes,
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query"}, GrantTypes: grantTypes,
		TokenMethods: []string{"none"}, RevokeMethods: []string{"none"}, ChallengeMethods: []string{"S256"},
		IssInResponses: true, ClientDocuments: true, Documentation: s.base + "/auth.md",
	}
	if s.opts.Registration {
		server.Register = s.base + "/oauth/register"
	}
	out := map[string][]byte{}
	for _, path := range resourcePaths {
		server.ProtectedResource = append(server.ProtectedResource, s.base+path)
		out["/.well-known/oauth-protected-resource"+path] = encoded(resourceMetadata{
			Resource: s.base + path, Name: "Cardwall", Servers: []string{s.base},
			Scopes: scopesAt(path), Methods: []string{"header"}, Documentation: s.base + "/auth.md",
		})
	}
	for _, path := range resourcePaths {
		out["/.well-known/oauth-authorization-server"+path] = encoded(server)
	}
	return out
}

// encoded returns a document as JSON.
func encoded(v any) []byte {
	body, err := json.Marshal(v, jsontext.WithIndent("  "))
	if err != nil {
		panic(err) // the types above cannot fail to encode
	}
	return append(body, '\n')
}
