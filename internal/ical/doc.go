// Package ical serves a person's due dates to calendar programs, as an RFC 5545
// calendar at a personal URL. The URL is the only credential: anyone who knows it
// can read the calendar. The URL therefore contains a long secret, of which the
// database stores only a hash. The person can replace the URL.
//
// Each request is served with the current permissions of the calendar's owner. The
// calendar contains nothing from confidential boards, or from boards whose calendar
// feature is disabled.
package ical
