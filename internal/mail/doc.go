// Package mail composes and sends emails: Compose turns a queued email into a
// Message, a Sender delivers it through SMTP or writes it to a folder, and a
// Worker takes emails from the queue and retries failures.
//
// The queue is in the store; cmd passes it as the functions of a Queue.
//
// # Guarantees
//
//   - An email is sent at least once. It is dropped, with a line in the log,
//     after a permanent rejection (SMTP 5xx) or when all retries failed.
//   - Text that people wrote, such as the name of a workspace, is truncated to
//     one line, has no control characters and is escaped in HTML. It cannot add
//     a header, a recipient or a tag. An email loads no external content.
//   - Only emails about notifications contain content of a board: titles, names
//     and one line of a comment, and nothing of a confidential board.
//   - The link in an email contains a secret. It is never logged and never part
//     of an error.
package mail
