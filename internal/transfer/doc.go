// Package transfer exports and imports boards in the cardwall-export/1 format. It
// also imports files written by Trello's "Export as JSON".
//
// Export streams a board page by page as one document. Import creates the same board
// from that document, with new ids. It rejects an incomplete document. The Report lists
// everything that was skipped or changed. No import creates an account that can
// be used to sign in.
//
// An import adds records to a store.Draft and does not notify webhooks. After an
// error, the caller must roll back the draft's transaction. The import reads its
// input while the transaction is open, so the input must be a file and not a slow
// connection. DB.Write may call its function more than once, so each call must
// read the file from the beginning.
package transfer
