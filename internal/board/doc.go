// Package board defines the domain of the service: its types (workspace, board,
// list, card …), permissions (roles, capabilities, scopes), kinds of events,
// limits, plans, features and errors, and the calculations for ranks and due
// dates.
//
// It performs no I/O: a value of this package is the same in the database, in
// the REST API and in a test.
package board
