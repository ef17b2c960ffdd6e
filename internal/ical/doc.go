// Package ical serves people's due dates to calendar programs, as a calendar of
// RFC 5545 at an address of each person's own. The address is all that a program
// has to know, and whoever knows it reads the calendar: so it is long, is kept as
// a fingerprint, and its owner can take another.
//
// What a calendar shows is read with its owner's rights each
// time; of confidential boards, and of those whose feature calendar is off, that
// is nothing.
package ical
