// Package store stores all data in a SQLite file or in PostgreSQL.
//
// A View reads one consistent state. A Tx reads and writes in one transaction.
// Both act for one caller. The service's own work runs as board.System.
//
// A loader, such as View.Board or Tx.Card, loads a record and checks the caller's
// permissions with the same query. It returns a not_found error for a record that the
// caller must not see. A method for a loaded record or board does not check permissions
// again. Its caller must have loaded the record, or any record of the board, with the
// same View or Tx.
//
// When DB.Write returns nil, the transaction is on disk together with its activity, its
// outbox rows and its board versions. If the transaction itself fails, nothing is
// written. If DB.Write returns an unavailable error, it may be unknown whether the
// transaction was committed.
package store
