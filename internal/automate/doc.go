// Package automate runs the rules of boards: when something happens, and the card
// satisfies a query, it does operations of the registry as actor automation, with
// the rights of the rule's owner and never more.
//
// It works behind the change, never inside it: what happened is read from the
// boards' activity, from where the board's changes were handled last. A run is one
// transaction: its actions, their events, their entries in the audit and its line
// in the log. So an event is handled at least once and a rule's actions are done
// once for it, wherever the server is killed. Of several servers one is at a board
// at a time, by a lease.
//
// Rules cannot set each other off without end. A change by a rule carries its
// first cause and the rules since: none runs twice in that row, the row is short,
// one cause has so many runs at most, and a card so many in a minute. What a brake
// stops stands in the log with its reason.
package automate
