// Package app implements the operations of the service. Each noun has a file,
// and each operation has an input type and a function. The Operations function
// registers all operations. Their routes, MCP tools, input checks and contract
// tests are derived from the registrations.
//
// Package op handles transactions, scopes and idempotency for the operations.
package app
