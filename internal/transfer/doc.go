// Package transfer takes boards out of the program and brings them in: in a
// format of our own, cardwall-export/1, and from Trello's "Export as JSON".
//
// Export streams a board in constant memory; Import of that document makes the
// same board again, with new ids, and refuses a document that is not whole.
// What has no place here becomes a line in a Report, never a silent loss, and
// no import makes an account that somebody could sign in with.
//
// An import runs in the caller's transaction, which it makes quiet: no webhook
// hears of it. An error of it must end the transaction; then nothing of it
// remains. It reads to the end while the transaction is open, so hand it a
// file and not a slow connection, and rewind it in the function given to
// DB.Write, which may run twice.
package transfer
