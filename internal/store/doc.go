// Package store keeps everything, in an embedded SQLite or in PostgreSQL.
//
// A View reads one consistent state; a Tx reads and writes in one transaction.
// Both belong to one caller, and every loader authorizes with the query that
// loads: there is no other way to a record. What the caller may not see is
// board.NotFound; the service's own work runs as board.System.
//
// It promises that a Tx whose function returned nil and whose Write returned
// nil is on disk, with its activity, its outbox rows and its boardVersions,
// and that nothing of any other Tx is.
package store
