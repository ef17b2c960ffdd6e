//go:build torture

package store

import "os"

// synchronous is how SQLite makes a commit durable. `go build -tags torture` makes
// a program in which that can be taken away, to prove that the trials see it.
func synchronous() string {
	if mode := os.Getenv("CARDWALL_TORTURE_SYNCHRONOUS"); mode != "" {
		return mode
	}
	return "FULL"
}
