// Package session authenticates callers and limits their rate, for the REST API
// and the MCP endpoint. It checks personal API tokens and counts requests against
// the plan of their owner. It also checks session cookies, and that the requests
// of browsers come from our own pages.
//
// A token or session that was ended, has expired or has lost its owner is rejected
// within one second on every server.
package session
