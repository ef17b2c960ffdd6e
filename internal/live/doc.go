// Package live tells browsers what happens on the boards that they show, as
// server-sent events (WHATWG HTML, 9.2): each change as list_board_changes
// tells it, who else is there, that a board is not theirs to see any more, and
// how many notifications wait for them.
//
// A stream is a hint with content: the page closes any gap with
// list_board_changes, so nothing is lost with a connection. What a stream
// sends is read from the database for its own caller each time, so a right that
// ended ends there too. Changes of other servers are found by looking at the
// boards' versions; nothing rests on notifications.
package live
