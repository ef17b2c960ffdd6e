// Package op runs every call of an operation, over REST and MCP alike. It checks
// the scope, validates the input, opens one transaction, runs the operation's
// function, writes the audit entry and encodes the response.
//
// A Registry holds the operations. One registration provides the route, the
// OpenAPI entry, the MCP tool, validation, idempotency, paging, the audit entry
// and a case in the tests that cover all operations.
package op
