// Package password decides which passwords people may choose. A password must be
// long enough, must not be common or made of what is known of its owner, and must
// take a guesser who knows how people choose passwords many tries.
//
// The estimate follows zxcvbn (Wheeler, USENIX Security 2016): the password is
// cut into common words, keyboard walks, sequences, repetitions, years and single
// characters in the way that is cheapest to guess. It takes time that grows with
// the length of the password, and no memory to speak of.
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

// enough is how many bits a password must have: some 10^10
// guesses, which is also more than ten digits have.
const enough = 34

// judged is how many characters are looked at. What is strong enough by then
// stays so.
const judged = 64

// Verdict says whether a password may be chosen, and else why not.
type Verdict int

// The verdicts.
const (
	Good        Verdict = iota
	Short               // fewer than MinLength characters
	Long                // more than MaxBytes
	Own                 // made of the owner's own words
	Common              // one of the list, perhaps with digits and signs around
	Predictable         // made of common words, sequences and repetitions
)

// Check judges a password. The words are what others know of its owner: the name
// and the address.
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

// ownWords are the parts of names and addresses of three letters and more, alone
// and with the whole, and the product's name.
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

// decoration is how many digits and signs around a common password do not make
// it another one.
const decoration = 5

// isCommon reports whether a password is on the list, written as people do who
// must use capitals, digits and signs: Password123!, P@ssw0rd2026.
func isCommon(plain string) bool {
	word := squeeze(plain)
	if listed(word) {
		return true
	}
	core := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
	around := utf8.RuneCountInString(word) - utf8.RuneCountInString(core)
	return around <= decoration && utf8.RuneCountInString(core) >= 4 && listed(core)
}

// examples are passwords that everybody knows from articles about passwords.
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

// unleet undoes the digits and signs that people write for letters.
func unleet(s string) string {
	const signs, letters = "4@8(3610!|$5+7", "aabcegloiisstt"
	return strings.Map(func(r rune) rune {
		if i := strings.IndexRune(signs, r); i >= 0 {
			return rune(letters[i])
		}
		return r
	}, s)
}
