// Package undo takes back changes to a board.
//
// A call that changes a board leaves an entry in the audit log, and consecutive entries in
// the board's activity. The audit log says who made the call, and with which token. The
// activity says what each change replaced. undo_changes makes the opposite changes, newest
// first, through the operations of package app and with the caller's present permissions.
//
// It takes a change back only where nobody else changed the same thing since: the same field
// of a card, the same label on a card, and so on. A new object is removed only if nobody
// touched it since. Everything else is refused, and the result says who changed it. A change
// that cannot be taken back for another reason does not prevent the caller's older changes from
// being taken back.
//
// Two orders may differ after an undo: a restored card may be at another place in its list, and
// a person who is assigned again comes last.
//
// An entry that takes back another one names its version in the field "undoes". Neither of
// the two counts as a later change, so that earlier changes can be taken back as well. An
// undo is a call like any other, and can be taken back in the same way.
package undo
