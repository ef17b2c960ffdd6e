//go:build !torture

package sqldb

// synchronous returns how SQLite makes a commit durable: before it is acknowledged.
func synchronous() string { return "FULL" }
