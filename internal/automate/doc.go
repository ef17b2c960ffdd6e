// Package automate runs the automation rules of boards. When an event happens
// and the card matches the rule's query, the rule performs operations of the
// registry. The actor is the rule, with the permissions of the rule's owner and
// no more.
//
// Rules run after the change that triggers them, never inside its transaction.
// The engine reads events from the boards' activity, starting after the last
// change it has handled. A run is one transaction with its actions, their
// events, their audit entries and its log entry. So every event is handled at
// least once, and a rule's actions are done once per event, even if the server
// is killed. Of several servers only one works on a board at a time, by a
// lease.
//
// Rules cannot trigger each other endlessly. A change by a rule carries its
// first cause and the rules triggered since. No rule runs twice in such a
// chain. The length of a chain, the number of runs per cause, and the number of
// runs per card and minute are limited. When a limit stops a run, the log says
// which.
package automate
