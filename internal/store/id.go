package store

import (
	"encoding/base32"
	"encoding/binary"
	"sync"
	"time"

	"github.com/google/uuid"
)

// crockford is Douglas Crockford's base 32 alphabet in lower case. It lacks i, l, o and
// u.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns a new identifier: the prefix of its kind ("crd_") and a UUIDv7
// (RFC 9562) in 26 characters. Ids sort by their time of creation.
func NewID(prefix string) string {
	return encodeID(prefix, uuid.Must(uuid.NewV7())) // fails only if the system has no source of randomness
}

func encodeID(prefix string, id uuid.UUID) string {
	return prefix + base32.NewEncoding(crockford).WithPadding(base32.NoPadding).EncodeToString(id[:])
}

// minID returns a string that sorts before all ids with the prefix that were created at
// the given instant or later, and after all earlier ids.
func minID(prefix string, at time.Time) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(min(max(at.UnixMilli(), 0), 1<<48-1))<<16)
	const timeLen = 10 // characters that hold the 48 bits of the time
	return encodeID(prefix, id)[:len(prefix)+timeLen]
}

// clockedIDs returns a generator of ids whose times come from the given clock. It
// generates ids in ascending order, even within a millisecond.
func clockedIDs(clock func() time.Time) func(prefix string) string {
	var (
		mu   sync.Mutex
		last int64
	)
	return func(prefix string) string {
		mu.Lock()
		last = max(last+1, clock().UnixMilli()<<12) // the 12 bits after the time count ids within a millisecond
		stamp := last
		mu.Unlock()
		id := uuid.New() // random; the first bytes are replaced
		binary.BigEndian.PutUint64(id[:8], uint64(stamp>>12)<<16|7<<12|uint64(stamp&0xfff))
		return encodeID(prefix, id)
	}
}
