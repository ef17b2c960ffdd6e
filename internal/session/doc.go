// Package session authenticates callers and limits the rate of their requests, for the
// REST API and the MCP endpoint. It checks personal API tokens, and counts requests
// against the limits of the owner's plan. It also checks session cookies, and that changes
// requested by browsers come from pages of this server.
//
// Every server rejects a token or session within one second after it is revoked or
// expires, or the account of its owner is deleted.
package session
