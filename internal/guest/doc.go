// Package guest implements the public page of a board for people without an
// account. They can read what the board's admins chose to show, comment, and
// submit cards.
//
// The key in the address of a page is the only credential of a guest. It is sent
// only in request bodies, so that it is never logged. The store finds the page by
// the hash of the key, under the board's lock for a change, and decides what is
// allowed. Changes of a guest go through the same operations as those of members,
// with an actor of type guest. No response contains an id, an email address or
// anything else that gives access to more.
package guest
