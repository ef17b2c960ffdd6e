// Package catalog is the list of all operations of the program, of which every
// door and every document of the interface is made.
package catalog

import (
	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/automate"
	"cardwall/internal/connect"
	"cardwall/internal/guest"
	"cardwall/internal/op"
	"cardwall/internal/transfer"
)

// Parts are those of a server whose operations keep something in memory. For a
// document of the interface, which calls nothing, each may be nil.
type Parts struct {
	Accounts *account.Accounts
	Programs *connect.Server
	Pages    *guest.Pages
}

// New lists all operations, in the order in which documents show them.
func New(p Parts) *op.Registry {
	r := automate.AddOperations(transfer.AddOperations(app.Operations()))
	return guest.AddOperations(connect.AddOperations(account.AddOperations(r, p.Accounts), p.Programs), p.Pages)
}
