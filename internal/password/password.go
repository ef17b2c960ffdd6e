// Package password decides which passwords people may choose. A password must be
// long enough. It must not be common, or consist of words that others know about its
// owner. It must also resist an attacker who knows how people choose passwords.
//
// The estimate follows zxcvbn (Wheeler, USENIX Security 2016). It divides the
// password into common words, keyboard walks, sequences, repetitions, years and
// single characters in the way that is cheapest to guess. Its time grows with the
// length of the password, and it needs almost no memory.
package password

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The bounds of a password.
const (
	MinLength = 10   // characters
	MaxBytes  = 1000 // as UTF-8
)

// minBits is the minimum strength in bits: about 10^10 guesses, slightly more than
// for ten random digits.
const minBits = 34

// maxEstimated is the maximum number of characters that are estimated. Further characters
// cannot make a strong password weaker.
const maxEstimated = 64

// Verdict is the result of Check.
type Verdict int

// The verdicts.
const (
	Good        Verdict = iota
	Short               // fewer than MinLength characters
	Long                // more than MaxBytes
	Own                 // made of words from the owner's name or address
	Common              // on the list of common passwords, possibly with added digits and symbols
	Predictable         // made of common words, sequences and repetitions
)

// Check returns Good if a password is strong enough, or else the reason why it is not.
// The own arguments are what others know about the owner: the name and the email address.
func Check(password string, own ...string) Verdict {
	if len(password) > MaxBytes {
		return Long
	}
	if utf8.RuneCountInString(password) < MinLength {
		return Short
	}
	plain := norm.NFKC.String(password)
	words := ownWords(own)
	if words[squeeze(plain)] {
		return Own
	}
	if isCommon(plain) {
		return Common
	}
	text := []rune(plain)
	if len(text) > maxEstimated {
		text = text[:maxEstimated]
	}
	strength := bits(text, words)
	switch {
	case strength >= minBits:
		return Good
	case strength < bits(text, map[string]bool{})-1:
		return Own
	}
	return Predictable
}

// squeeze returns s in lower case without white space.
func squeeze(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), "") }

// ownWords returns the words in names and addresses that have at least three
// characters, the complete names and addresses, and the name of the product.
func ownWords(own []string) map[string]bool {
	words := map[string]bool{"cardwall": true}
	for _, text := range own {
		text = norm.NFKC.String(text)
		local, _, _ := strings.Cut(text, "@")
		parts := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for _, part := range append(parts, text, local, strings.Join(parts, "")) {
			if part = squeeze(part); utf8.RuneCountInString(part) >= 3 {
				words[part] = true
			}
		}
	}
	return words
}

// maxDecoration is the maximum number of digits and symbols around a common password
// with which it still counts as common.
const maxDecoration = 5

// isCommon reports whether a password is on the list of common passwords. It ignores
// the usual substitutions and added capitals, digits and symbols, as in Password123!
// and P@ssw0rd2026.
func isCommon(plain string) bool {
	word := squeeze(plain)
	if listed(word) {
		return true
	}
	core := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
	around := utf8.RuneCountInString(word) - utf8.RuneCountInString(core)
	return around <= maxDecoration && utf8.RuneCountInString(core) >= 4 && listed(core)
}

// examples are passwords that are well known from articles about passwords.
var examples = []string{"correcthorsebatterystaple", "tr0ub4dor&3"}

func listed(word string) bool {
	if slices.Contains(examples, word) {
		return true
	}
	if _, ok := wordBits(word); ok {
		return true
	}
	_, ok := wordBits(unleet(word))
	return ok
}

// unleet replaces digits and symbols with the letters that they stand for.
func unleet(s string) string {
	const signs, letters = "4@8(3610!|$5+7", "aabcegloiisstt"
	return strings.Map(func(r rune) rune {
		if i := strings.IndexRune(signs, r); i >= 0 {
			return rune(letters[i])
		}
		return r
	}, s)
}
