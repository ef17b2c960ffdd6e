// Package automate runs the automation rules of boards. When an event happens
// and the card matches the rule's query, the rule performs operations of the
// registry. The actor is the rule, with the permissions of the rule's owner and
// no more.
//
// Rules run after the change that triggers them, never inside its transaction.
// The engine reads events from the boards' activity, starting after the last
// change it has handled. A run is one transaction with its actions, their
// events, their audit entries and its log entry. So every event is handled at
// least once, and a rule's actions take effect at most once per event, even if the
// server is killed. If there are several servers, a lease ensures that only one
// handles a board at a time.
//
// Rules cannot trigger each other endlessly. A change by a rule records its cause,
// which is the event that triggered the first rule, and the chain of rules that led
// from there to the change. No rule runs twice in such a chain. The length of a
// chain, the number of runs per cause, and the number of runs per card and minute
// are limited. When a limit stops a run, the log says which.
package automate
