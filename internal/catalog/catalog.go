// Package catalog lists all operations of the program. All interfaces and their
// documentation are generated from this list.
package catalog

import (
	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/automate"
	"cardwall/internal/connect"
	"cardwall/internal/digest"
	"cardwall/internal/guest"
	"cardwall/internal/op"
	"cardwall/internal/transfer"
	"cardwall/internal/undo"
)

// Parts holds the components whose operations have state in memory. They may be nil if
// their operations are not called, for example when documents are generated.
type Parts struct {
	Accounts *account.Accounts
	Programs *connect.Server
	Guests   *guest.Limiter
}

// New returns a registry of all operations, in the order in which documents list them.
func New(p Parts) *op.Registry {
	r := automate.AddOperations(digest.AddOperations(undo.AddOperations(transfer.AddOperations(app.Operations()))))
	return guest.AddOperations(connect.AddOperations(account.AddOperations(r, p.Accounts), p.Programs), p.Guests)
}
