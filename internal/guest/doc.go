// Package guest lets people without an account onto the public page of a board:
// they read what its admins chose to show, comment, and submit cards. It stands
// beside package account, and knows no door.
//
// The key in the address of a page is all that lets a guest in. The key is sent
// in bodies alone, so that it is in no log; the store finds the page by its
// fingerprint, under the board's lock where something changes, and says what may
// be done there. What a guest adds goes through the operations that members use,
// with an actor of the type guest. No answer holds an id, an email address or
// anything else by which a guest could ask for more.
package guest
