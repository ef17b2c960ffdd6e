//go:build !torture

package sqldb

// synchronous returns the value of PRAGMA synchronous. FULL makes a commit durable before
// it is acknowledged.
func synchronous() string { return "FULL" }
