package board

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"io"
	"strings"
)

// TokenPrefix starts every API token, so that secret scanners can recognize tokens.
const TokenPrefix = "cwl_"

const (
	tokenAlphabet = rankDigits // base 62
	tokenRandom   = 30
	tokenCheck    = 6
)

// NewToken returns a new API token: the prefix, 30 random base-62 characters
// (178 bits), and 6 characters with the CRC-32 (IEEE) of everything before
// them.
func NewToken() string { return tokenFrom(rand.Reader) }

// tokenFrom returns a token from a source of random bytes that never fails.
func tokenFrom(source io.Reader) string {
	var b strings.Builder
	b.WriteString(TokenPrefix)
	for b.Len() < len(TokenPrefix)+tokenRandom {
		var raw [1]byte
		_, _ = io.ReadFull(source, raw[:])
		if n := int(raw[0]); n < 4*len(tokenAlphabet) {
			b.WriteByte(tokenAlphabet[n%len(tokenAlphabet)])
		}
	}
	return b.String() + tokenChecksum(b.String())
}

// TokenHash returns the hash under which a token is stored. It returns false
// for a string that cannot be a token, so that a mistyped token needs no database
// query.
func TokenHash(token string) ([]byte, bool) {
	if len(token) != len(TokenPrefix)+tokenRandom+tokenCheck || !strings.HasPrefix(token, TokenPrefix) {
		return nil, false
	}
	body := token[:len(token)-tokenCheck]
	if tokenChecksum(body) != token[len(body):] {
		return nil, false
	}
	sum := sha256.Sum256([]byte(token))
	return sum[:], true
}

func tokenChecksum(body string) string {
	n := crc32.ChecksumIEEE([]byte(body))
	var out [tokenCheck]byte
	for i := tokenCheck - 1; i >= 0; i-- {
		out[i] = tokenAlphabet[n%uint32(len(tokenAlphabet))]
		n /= uint32(len(tokenAlphabet))
	}
	return string(out[:])
}
