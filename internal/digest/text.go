package digest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An estimate of tokens is counted in thirds of a token. It never falls below the true number of
// tokens of the vocabulary o200k_base, which is usually about half as large.
const token = 3

// The largest numbers of tokens of some values, in thirds of a token.
const (
	idCost      = 26 * token
	instantCost = 20 * token
)

// maxText is the number of characters of a comment that are read. It exceeds what fits into an
// item, except for texts with much white space.
const maxText = 500

// cost returns an estimate for a text in JSON, which must be valid UTF-8.
func cost(s string) (n int) {
	var previous rune
	for i, r := range s {
		n += runeCost(previous, r, s[i+utf8.RuneLen(r):])
		previous = r
	}
	return n
}

// runeCost returns the cost of a character after the previous one and before the rest of a text.
// Nearly all pairs of lower-case letters are one token, except pairs with a rare letter. Other
// characters are split into up to as many tokens as they have bytes.
func runeCost(previous, r rune, rest string) int {
	switch {
	case r == ' ':
		if rest != "" && isLetter(rune(rest[0])) {
			return 0 // it is part of the next token
		}
		return token
	case r >= 'a' && r <= 'z':
		switch {
		case strings.ContainsRune("jkqxz", r):
			return 4
		case isLetter(previous):
			return 2
		}
		return token
	case r >= 'A' && r <= 'Z':
		return 4
	case r >= '0' && r <= '9':
		if previous >= '0' && previous <= '9' {
			return 1
		}
		return token
	case r == '…':
		return token
	case r == '"' || r == '\\':
		return 2 * token
	case r < ' ' || r == 0x7F || r == '\u2028' || r == '\u2029':
		return 6 * token // escaped
	case r < utf8.RuneSelf:
		return token
	case r >= 'А' && r <= 'я', r >= 'α' && r <= 'ω', r >= 'א' && r <= 'ת':
		return 4
	case r < 0x800, r >= 'ぁ' && r <= 'ヺ':
		return 2 * token
	case r < 0x10000, r >= 0x1F000 && r < 0x20000:
		return 3 * token
	}
	return 4 * token
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// cut returns the beginning of a text that costs at most limit, on one line, and reports whether
// it left something out. If so, the beginning ends with "…". It does not split a character that
// consists of several code points, such as an emoji with a skin tone.
func cut(s string, limit int) (short string, partial bool) {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	var (
		previous       rune
		end, sum, flag int // flag is the number of regional indicators before i
	)
	for i, r := range s {
		if !joins(previous, r, flag) && sum+cost("…") <= limit {
			end = i
		}
		if flag++; !isFlag(r) {
			flag = 0
		}
		if sum += runeCost(previous, r, s[i+utf8.RuneLen(r):]); sum > limit {
			return strings.TrimRight(s[:end], " ") + "…", true
		}
		previous = r
	}
	return s, false
}

const joiner = '\u200d'

func isFlag(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// joins reports whether r belongs to the same character as the previous code point. Two
// regional indicators are a flag.
func joins(previous, r rune, flags int) bool {
	return r == joiner || previous == joiner || unicode.In(r, unicode.M, unicode.Variation_Selector) ||
		r >= 0x1F3FB && r <= 0x1F3FF || r >= 0xE0020 && r <= 0xE007F || isFlag(r) && flags%2 == 1
}
