package guest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// A ticket contains the time when a page was loaded. A change that arrives faster
// than a person can type comes from a program. Tickets expire, so that a program
// cannot use the same ticket for long.
const (
	minTicketAge = 3 * time.Second
	maxTicketAge = 24 * time.Hour
	ticketMAC    = 16 // bytes
)

// tickets issues and checks the tickets of one page. All servers that share a
// database accept each other's tickets.
type tickets struct{ secret, page []byte }

func ticketsOf(db *store.DB, caller board.Caller) tickets {
	return tickets{db.CursorKey(), caller.Guest.Key}
}

// issue returns a ticket: the time in milliseconds, and the first 16 bytes of the
// HMAC-SHA256 of the time and the page.
func (t tickets) issue(now time.Time) string {
	return base64.RawURLEncoding.EncodeToString(t.sign(uint64(now.UnixMilli())))
}

func (t tickets) sign(at uint64) []byte {
	out := binary.BigEndian.AppendUint64(nil, at)
	mac := hmac.New(sha256.New, t.secret)
	_, _ = mac.Write([]byte("guest ticket\x00")) // never fails
	_, _ = mac.Write(out)
	_, _ = mac.Write(t.page)
	return append(out, mac.Sum(nil)[:ticketMAC]...)
}

// check returns an invalid_request error if a ticket is malformed, too old or for another
// page. It returns a rate_limited error if the ticket is too new.
func (t tickets) check(ticket string, now time.Time) error {
	raw, err := base64.RawURLEncoding.DecodeString(ticket)
	if err != nil || len(raw) != 8+ticketMAC || !hmac.Equal(raw, t.sign(binary.BigEndian.Uint64(raw))) {
		return board.Invalid("ticket is not valid for this page. Reload the page and try again.").
			In("ticket", board.RuleValue)
	}
	age := now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(raw))))
	switch {
	case age > maxTicketAge:
		return board.Invalid("ticket is more than a day old. Reload the page and try again.").
			In("ticket", board.RuleValue)
	case age < minTicketAge:
		return &board.Fault{
			Code: board.CodeRateLimited, RetryAfter: minTicketAge - age,
			Message: "This was sent faster than a person can type. Send it again in a moment.",
		}
	}
	return nil
}
