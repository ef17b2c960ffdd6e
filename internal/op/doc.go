// Package op runs every call, from REST as well as from MCP: it finds the
// operation, validates the input, checks the scope, opens one transaction, runs
// the function, writes the audit entry and encodes the response.
//
// A Registry holds the operations. One registration provides the route, the
// OpenAPI entry, the MCP tool, validation, idempotency, paging, the audit entry
// and a case in the tests that cover all operations.
package op
