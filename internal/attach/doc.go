// Package attach stores the files that clients attach to cards, and removes those that
// nothing refers to any more.
//
// A blob is stored in these steps:
//
//  1. The content is written under a temporary name while its hash is computed.
//  2. A row in the database claims the blob's final name.
//  3. The blob gets its final name.
//  4. The transaction of add_attachment writes the attachment.
//
// So a row exists before its blob and is deleted after it, and an attachment exists only
// after its blob. If the server is killed between two steps, Sweep later removes what is
// left over. It waits a day, because the upload may still be running on another server.
//
// When a blob has lost its last attachment, the next sweep records the time. A sweep removes
// the blob a day later, so that a copy of the storage that follows a backup of the database
// contains every file of the backup.
package attach
