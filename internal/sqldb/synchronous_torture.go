//go:build torture

package sqldb

import "os"

// synchronous returns how SQLite makes a commit durable. A program built with
// -tags torture can turn that off, to prove that the trials notice it.
func synchronous() string {
	if mode := os.Getenv("CARDWALL_TORTURE_SYNCHRONOUS"); mode != "" {
		return mode
	}
	return "FULL"
}
