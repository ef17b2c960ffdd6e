// Package notify does scheduled work: it reminds people of due cards and queues
// emails about unread notifications. It also handles one-click unsubscription from
// these emails. Notifications of a change are written by the store together with the
// change.
//
// If several servers share a database, only the holder of a lease does the work.
// Correctness does not depend on the lease: a reminder is written only once, and a
// queued email covers all notifications that a second email would contain.
package notify
