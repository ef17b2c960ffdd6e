// Package guest implements the public page of a board for people without an
// account. They can read what the board's admins chose to show. If the admins
// allow it, they can also comment and submit cards.
//
// The key in the address of a page is the only credential of a guest. Operations
// receive the key in the body, and the log omits it from the path of the page, so
// that the key is never logged. The store finds the page by the hash of the key and
// decides what the guest may do. For a change, the store does so under the board's
// lock. Guests change boards through the same code as members, with an actor of
// type guest. No response to a guest contains the id of a record, an email address or
// the key.
package guest
