//go:build torture

package sqldb

import "os"

// synchronous returns the value of PRAGMA synchronous. A program built with -tags torture
// can disable syncing, to prove that the tests detect lost commits.
func synchronous() string {
	if mode := os.Getenv("CARDWALL_TORTURE_SYNCHRONOUS"); mode != "" {
		return mode
	}
	return "FULL"
}
