package store

import (
	"encoding/base32"

	"github.com/google/uuid"
)

// crockford is Douglas Crockford's base 32 in lower case: no i, l, o, u.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID makes an identifier: the prefix of its kind ("crd_"), then a UUIDv7
// (RFC 9562) in 26 characters, so that ids sort by the time of their making.
func NewID(prefix string) string {
	id := uuid.Must(uuid.NewV7()) // fails only when the system has no randomness
	return prefix + base32.NewEncoding(crockford).WithPadding(base32.NoPadding).EncodeToString(id[:])
}
