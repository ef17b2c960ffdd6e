// Package store stores all data in an embedded SQLite file or in PostgreSQL.
//
// A View reads one consistent state. A Tx reads and writes in one transaction.
// Both act for one caller, and each loader checks the caller's rights with the
// query that loads the record. A record that the caller must not see is
// reported as board.NotFound. The service's own work runs as board.System.
//
// When DB.Write returns nil, the transaction is on disk together with its
// activity, its outbox rows and its board versions. Otherwise nothing of it is.
package store
