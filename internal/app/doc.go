// Package app is what the service can do. Each noun has a file, each operation
// a type for its input and a function; Operations lists them all, and from
// each line there follow its route, its tool, its checks and its tests.
//
// It imports op, store, query and board, and is imported by those who wire the
// program. A function of it promises nothing about transactions, scopes or
// idempotency: package op sees to these around it.
package app
