package session

import (
	"net/http"
	"slices"

	"cardwall/internal/board"
)

// SetChallenge sets the header that tells a program how to get a token, or one with another scope,
// if a request was refused for lack of it (RFC 6750, 3; RFC 9728, 5.1). Some programs ask for
// exactly the scopes of the header, so it always contains those that they need to work on boards.
func SetChallenge(header http.Header, baseURL, path string, f *board.Fault) {
	scopes, problem := board.WorkScopes(), ""
	switch f.Code {
	case board.CodeUnauthenticated:
	case board.CodeInsufficientScope:
		problem = `error="insufficient_scope", `
		if !slices.Contains(scopes, f.Scope) {
			scopes = append(scopes, f.Scope)
		}
	default:
		return
	}
	if path != board.MCPPath {
		path = "" // only the MCP endpoint has its own metadata (RFC 9728, 3.1)
	}
	header.Set("WWW-Authenticate", `Bearer realm="cardwall", `+problem+`scope="`+board.ScopeText(scopes)+
		`", resource_metadata="`+baseURL+`/.well-known/oauth-protected-resource`+path+`"`)
}
