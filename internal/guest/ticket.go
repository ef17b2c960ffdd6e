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

// A ticket contains the time when a page was loaded. A change that is sent faster
// than a person can type comes from a program. Tickets expire, so that a program
// cannot reuse one for long.
const (
	ticketAge  = 3 * time.Second
	ticketLife = 24 * time.Hour
	ticketMAC  = 16
)

// tickets issues and checks the tickets of one page. All servers of a database
// accept them.
type tickets struct{ secret, page []byte }

func ticketsOf(db *store.DB, caller board.Caller) tickets {
	return tickets{db.CursorKey(), caller.Guest.Key}
}

// issue returns the time and the first 16 bytes of the HMAC-SHA256 of time and page.
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

// check returns invalid_request for a ticket that is too old or not for this page,
// and rate_limited for one that is too new.
func (t tickets) check(ticket string, now time.Time) error {
	raw, err := base64.RawURLEncoding.DecodeString(ticket)
	if err != nil || len(raw) != 8+ticketMAC || !hmac.Equal(raw, t.sign(binary.BigEndian.Uint64(raw))) {
		return board.Invalid("ticket is not valid for this page. Reload the page and try again.").
			In("ticket", board.RuleValue)
	}
	age := now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(raw))))
	switch {
	case age > ticketLife:
		return board.Invalid("ticket is more than a day old. Reload the page and try again.").
			In("ticket", board.RuleValue)
	case age < ticketAge:
		return &board.Fault{
			Code: board.CodeRateLimited, RetryAfter: ticketAge - age,
			Message: "This was sent faster than a person can type. Send it again in a moment.",
		}
	}
	return nil
}
