package store

import (
	"encoding/base32"
	"encoding/binary"
	"sync"
	"time"

	"github.com/google/uuid"
)

// crockford is Douglas Crockford's base 32 in lower case: no i, l, o, u.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID makes an identifier: the prefix of its kind ("crd_"), then a UUIDv7
// (RFC 9562) in 26 characters, so that ids sort by the time of their making.
func NewID(prefix string) string {
	return encodeID(prefix, uuid.Must(uuid.NewV7())) // fails only when the system has no randomness
}

func encodeID(prefix string, id uuid.UUID) string {
	return prefix + base32.NewEncoding(crockford).WithPadding(base32.NoPadding).EncodeToString(id[:])
}

// minID is before all ids with the prefix that were made at an instant or
// later, and behind all that were made before it.
func minID(prefix string, at time.Time) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(min(max(at.UnixMilli(), 0), 1<<48-1))<<16)
	const timed = 10 // characters hold the 48 bits of the time
	return encodeID(prefix, id)[:len(prefix)+timed]
}

// clockedIDs makes ids by another clock than the system's, which sort by the
// order of their making too.
func clockedIDs(clock func() time.Time) func(prefix string) string {
	var (
		mu   sync.Mutex
		last int64
	)
	return func(prefix string) string {
		mu.Lock()
		last = max(last+1, clock().UnixMilli()<<12) // the 12 bits behind the time count within a millisecond
		stamp := last
		mu.Unlock()
		id := uuid.New() // at random
		binary.BigEndian.PutUint64(id[:8], uint64(stamp>>12)<<16|7<<12|uint64(stamp&0xfff))
		return encodeID(prefix, id)
	}
}
