// Package mail writes letters and sees to it that they are sent: what a letter
// says (Write), how it leaves (Sender: through SMTP, or into a folder where
// there is no server), and who tries again and when (Post).
//
// It imports board alone. Where letters wait is the store's business, and the
// wiring in cmd hands it over as the functions of a Box.
//
// # What it promises
//
//   - A letter is sent at least once, or given up with a line in the log: after
//     a refusal that is final (SMTP 5xx), or when all retries failed.
//   - Text that people wrote (names of people and workspaces) is one line in a
//     letter, bounded, without control characters, and escaped in HTML. It
//     cannot add a header, a recipient or a tag. A letter loads nothing from
//     anywhere.
//   - No letter holds content of a board, but for one about notifications: that
//     has titles, names and one line of a comment, and of a confidential board
//     nothing.
//   - The link in a letter holds a secret. It is in the letter alone: not in the
//     log, not in an error.
package mail
