// Package board holds the language of the service: the nouns (workspace,
// board, list, card …), who may do what (roles, capabilities, scopes), the
// kinds of events, limits, plans, features and faults, and the arithmetic of
// ranks and due dates.
//
// It does no input or output: a value of this package is the same in the
// database, in the REST interface and in a test.
package board
