//go:build !torture

package store

// synchronous is how SQLite makes a commit durable: always before it is
// acknowledged.
func synchronous() string { return "FULL" }
