// Package notify does what nobody asks for: it reminds people of cards that are
// due, and has emails written about what they have not read. Who is told of a
// change is written by the store with the change itself.
//
// Of several servers one does the work at a time, by a lease. Nothing rests on that:
// a reminder is written once whoever asks for it, and an email that waits takes
// with it what another would tell.
package notify
