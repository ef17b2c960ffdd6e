// Package live sends browsers server-sent events (WHATWG HTML, 9.2) about the boards
// that they show: each change in the format of list_board_changes, the people who
// have the board open, the loss of access to a board, and the number of unread
// notifications.
//
// A stream is an optimization. The page fills any gap with list_board_changes, so
// a lost connection loses no changes. All data is read from the database with the
// permissions of the stream's caller, so a revoked permission also takes effect on
// open streams. The server polls the board versions to find changes made on other
// servers; correctness does not depend on database notifications.
package live
