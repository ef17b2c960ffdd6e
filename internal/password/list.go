package password

import (
	"crypto/sha256"
	_ "embed" // for common.bin
	"encoding/binary"
	"sort"
)

// common contains fingerprints of passwords from public leaks in four tiers: the
// 1,000 most common, the next 9,000, the next 90,000, and all others of ten
// characters or more. Each tier is a count of four bytes and the sorted
// fingerprints, which are searched in place. tools/passwords generates the file
// (docs/adr/020-passwords.md).
//
//go:embed common.bin
var common string

const fingerprint = 5 // bytes; about one in eight million words that are not on the list is found by mistake

// tierBits is the strength of the words of each tier in bits: the binary logarithm
// of the rank of the word in the middle of the tier.
var tierBits = [...]float64{9, 12.5, 15.8, 18}

// wordBits returns the bits of a word, in lower case and without spaces, and
// reports whether the word is on the list.
func wordBits(word string) (bits float64, ok bool) {
	sum := sha256.Sum256([]byte(word))
	key, rest := string(sum[:fingerprint]), common
	for _, bits := range tierBits {
		n := int(binary.BigEndian.Uint32([]byte(rest[:4])))
		tier := rest[4 : 4+n*fingerprint]
		i := sort.Search(n, func(i int) bool { return tier[i*fingerprint:(i+1)*fingerprint] >= key })
		if i < n && tier[i*fingerprint:(i+1)*fingerprint] == key {
			return bits, true
		}
		rest = rest[4+n*fingerprint:]
	}
	return 0, false
}
