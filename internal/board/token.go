package board

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"io"
	"strings"
)

// TokenPrefix begins every API token, so that scanners for leaked secrets
// know one when they see it.
const TokenPrefix = "cwl_"

const (
	tokenAlphabet = rankDigits // base 62
	tokenRandom   = 30
	tokenCheck    = 6
)

// NewToken makes the text of an API token: the prefix, 30 random characters
// of base 62 (178 bits) and 6 that hold the CRC-32 (IEEE) of what is before.
func NewToken() string { return tokenFrom(rand.Reader) }

// tokenFrom makes a token from a source of random bytes that never fails.
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

// TokenHash is the fingerprint by which a token is stored and found. It is
// false for text that cannot be a token, so that a typing error costs no query.
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
