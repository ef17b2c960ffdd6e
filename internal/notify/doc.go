// Package notify does scheduled work: it reminds people of due cards and queues
// emails about unread notifications. Notifications of a change are written by
// the store together with the change.
//
// Of several servers one does the work at a time, by a lease. Correctness does
// not depend on the lease: a reminder is written only once, and a waiting email
// includes what another would contain.
package notify
