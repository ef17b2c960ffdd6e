// Package app implements the operations of the service. Each noun has a file,
// and each operation has an input type and a function. Operations registers
// them all; from a registration follow its route, its MCP tool, its checks and
// its tests.
//
// The functions don't deal with transactions, scopes or idempotency: package op
// does.
package app
