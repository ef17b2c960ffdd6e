// Package app is what the service can do. Each noun has a file; each operation
// has an input type and a function. Operations lists them all: routes, tools,
// checks and many tests follow from that list.
//
// Transactions, scopes and idempotency are the business of package op, not of the
// functions here.
package app
