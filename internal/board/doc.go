// Package board is the domain model of the service. It defines types such as
// workspace, board, list and card; permissions (roles, capabilities, scopes); and
// kinds of events, limits, plans, features and errors. It also computes ranks and
// due dates.
//
// It uses no database and no network. The store, the REST API and tests all use its
// types.
package board
