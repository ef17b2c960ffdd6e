// Package mail composes and sends emails: Compose turns a queued email into a
// Message, a Sender delivers it through SMTP or writes it to a folder, and a
// Worker takes emails from the queue and retries failures.
//
// The queue is in the store; cmd passes it as the functions of a Queue.
//
// # Guarantees
//
//   - An email that the queue returns is sent at least once, unless the Worker drops
//     it. The Worker drops and logs an email if the mail server permanently rejects
//     the recipient or the message (SMTP 5xx), if the email cannot be composed, or if
//     all retries fail.
//   - Text that people wrote, such as the name of a workspace, is truncated to
//     one line, has no control characters and is escaped in HTML. It cannot add
//     a header, a recipient or a tag. An email loads no external content.
//   - Only emails about notifications contain board content: titles, names and one
//     line of a comment. They contain no content of a confidential board.
//   - The link in an email can contain a secret. The secret is never logged and
//     never part of an error.
package mail
