// Package ical serves a person's due dates to calendar programs, as an RFC 5545
// calendar at a personal address. The address is the only credential: anyone who
// knows it can read the calendar. It is therefore long and stored as a hash, and
// its owner can replace it.
//
// The calendar is read with the current rights of its owner each time. It contains
// nothing from confidential boards, or from boards whose feature calendar is
// disabled.
package ical
