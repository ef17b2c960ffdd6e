// Package live tells browsers about events on the boards they show, as
// server-sent events (WHATWG HTML, 9.2): each change in the format of
// list_board_changes, who else has the board open, that a board is no longer
// visible to the caller, and the number of unread notifications.
//
// A stream is an optimization. The page fills any gap with list_board_changes,
// so a lost connection loses nothing. Everything sent is read from the database
// for the stream's own caller, so a revoked permission also takes effect on
// open streams. Changes of other servers are found by polling the versions of boards;
// correctness does not depend on database notifications.
package live
