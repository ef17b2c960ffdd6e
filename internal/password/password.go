// Package password decides which passwords people may choose. A password must be
// long enough. It must not be common, or consist of words that others know about its
// owner. Even a guesser who knows how people choose passwords must need many
// tries.
//
// The estimate follows zxcvbn (Wheeler, USENIX Security 2016): the password is
// cut into common words, keyboard walks, sequences, repetitions, years and single
// characters in the way that is cheapest to guess. Its time grows with the length
// of the password, and it needs almost no memory.
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

// enough is the minimum strength in bits: about 10^10 guesses, which is more than
// ten random digits have.
const enough = 34

// judged limits how many characters are estimated. More characters cannot make a
// strong password weaker.
const judged = 64

// Verdict is the result of Check.
type Verdict int

// The verdicts.
const (
	Good        Verdict = iota
	Short               // fewer than MinLength characters
	Long                // more than MaxBytes
	Own                 // made of words from the owner's name or address
	Common              // on the list, possibly with added digits and symbols
	Predictable         // made of common words, sequences and repetitions
)

// Check reports whether a password is strong enough. The arguments own are what
// others know about its owner: the name and the email address.
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
	if len(text) > judged {
		text = text[:judged]
	}
	known := bits(text, words)
	switch {
	case known >= enough:
		return Good
	case known < bits(text, map[string]bool{})-1:
		return Own
	}
	return Predictable
}

// squeeze returns a text in lower case without white space.
func squeeze(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), "") }

// ownWords returns the parts of names and addresses with at least three letters,
// the whole texts, and the name of the product.
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

// decoration is the number of digits and symbols around a common password up to
// which it still counts as common.
const decoration = 5

// isCommon reports whether a password is on the list, even with the usual
// substitutions and additions of capitals, digits and symbols, such as
// Password123! and P@ssw0rd2026.
func isCommon(plain string) bool {
	word := squeeze(plain)
	if listed(word) {
		return true
	}
	core := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
	around := utf8.RuneCountInString(word) - utf8.RuneCountInString(core)
	return around <= decoration && utf8.RuneCountInString(core) >= 4 && listed(core)
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
