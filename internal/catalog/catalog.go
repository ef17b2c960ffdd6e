// Package catalog lists all operations of the program. All interfaces and their
// documents are generated from this list.
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

// Parts holds the components whose operations keep state in memory. To generate
// documents, which calls no operation, they may be nil.
type Parts struct {
	Accounts *account.Accounts
	Programs *connect.Server
	Pages    *guest.Pages
}

// New returns all operations, in the order in which documents show them.
func New(p Parts) *op.Registry {
	r := automate.AddOperations(transfer.AddOperations(app.Operations()))
	return guest.AddOperations(connect.AddOperations(account.AddOperations(r, p.Accounts), p.Programs), p.Pages)
}
