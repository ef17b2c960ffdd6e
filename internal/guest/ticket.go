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

// A ticket says when a page was looked at. What comes sooner than a person can
// write was written by a program; what comes a day later may be sent again by one.
const (
	ticketAge  = 3 * time.Second
	ticketLife = 24 * time.Hour
	ticketMAC  = 16
)

// tickets makes and checks those of one page, on any server of the same database.
type tickets struct{ secret, page []byte }

func ticketsOf(db *store.DB, caller board.Caller) tickets {
	return tickets{db.CursorKey(), caller.Guest.Key}
}

// issue is the time, and the first 16 bytes of HMAC-SHA256 over time and page.
func (t tickets) issue(now time.Time) string {
	return base64.RawURLEncoding.EncodeToString(t.sign(uint64(now.UnixMilli())))
}

func (t tickets) sign(at uint64) []byte {
	out := binary.BigEndian.AppendUint64(nil, at)
	mac := hmac.New(sha256.New, t.secret)
	_, _ = mac.Write([]byte("guest ticket\x00")) // a hash never fails
	_, _ = mac.Write(out)
	_, _ = mac.Write(t.page)
	return append(out, mac.Sum(nil)[:ticketMAC]...)
}

// check refuses with invalid_request a ticket that is none of this page or too
// old, and with rate_limited one that is too new.
func (t tickets) check(ticket string, now time.Time) error {
	raw, err := base64.RawURLEncoding.DecodeString(ticket)
	if err != nil || len(raw) != 8+ticketMAC || !hmac.Equal(raw, t.sign(binary.BigEndian.Uint64(raw))) {
		return board.Invalid("ticket is none of this page; look at the page again.")
	}
	age := now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(raw))))
	switch {
	case age > ticketLife:
		return board.Invalid("ticket is more than a day old; look at the page again.")
	case age < ticketAge:
		return &board.Fault{Code: board.CodeRateLimited, RetryAfter: ticketAge - age, Message: "This came sooner than a person can write; send it again in a moment."}
	}
	return nil
}
