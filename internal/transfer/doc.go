// Package transfer exports and imports boards in its own format
// cardwall-export/1 and from Trello's "Export as JSON".
//
// Export streams a board in constant memory. Import creates the same board from
// that document, with new ids, and refuses an incomplete document. Everything
// that cannot be imported is listed in a Report. No import creates an account
// that can be used to sign in.
//
// It runs in the caller's transaction and disables the events of it, so
// webhooks receive none. After an error the caller must roll the transaction
// back. The import reads its input while the transaction is open. So give it a
// file and not a slow connection, and rewind the file in the function given to
// DB.Write, which may run twice.
package transfer
