package password

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// bits estimates the strength of text, in bits, against an attacker who knows the words
// in own. It finds the cheapest way to compose the text from pieces.
func bits(text []rune, own map[string]bool) float64 {
	if unit := period(text); unit < len(text) {
		return bits(text[:unit], own) + math.Log2(float64(len(text)/unit)) // the attacker must also guess the number of repetitions
	}
	lower := []rune(strings.ToLower(string(text)))
	if len(lower) != len(text) { // some letters become two characters in lower case
		lower = text
	}
	best := make([]float64, len(text)+1) // minimum bits of the first i characters
	for end := 1; end <= len(text); end++ {
		best[end] = best[end-1] + charBits(text[end-1])
		for start := max(0, end-longestPiece); start <= end-shortestPiece; start++ {
			if piece, ok := pieceBits(text[start:end], lower[start:end], own); ok {
				best[end] = min(best[end], best[start]+piece)
			}
		}
	}
	return best[len(text)]
}

// The lengths of pieces in characters. A word of two letters is not cheaper to guess
// than its letters.
const (
	shortestPiece = 3
	longestPiece  = 32
)

// period returns the length of the shortest unit that occurs at least twice in a row
// and makes up the text. The last occurrence may be incomplete. If there is no such
// unit, period returns the length of the text.
func period(text []rune) int {
	for unit := 1; unit <= len(text)/2; unit++ {
		if slices.Equal(text[unit:], text[:len(text)-unit]) {
			return unit
		}
	}
	return len(text)
}

// charBits returns the bits of a character that is not part of a piece.
func charBits(r rune) float64 {
	switch {
	case r >= '0' && r <= '9':
		return 3.3
	case r == ' ':
		return 1.5 // common between words
	case r >= 'a' && r <= 'z':
		return 4.7
	case r < unicode.MaxASCII:
		return 5.5
	case unicode.IsLetter(r):
		return 5
	}
	return 7
}

// pieceBits returns the bits of a piece that an attacker would try as a whole. It
// returns false if the text is not such a piece.
func pieceBits(text, lower []rune, own map[string]bool) (float64, bool) {
	if run, ok := runBits(lower); ok {
		return run, true
	}
	word := string(lower)
	if len(word) == 4 && (strings.HasPrefix(word, "19") || strings.HasPrefix(word, "20")) && isDigits(word) {
		return 7, true // a year
	}
	for _, variant := range []struct {
		word  string
		extra float64
	}{{word, 0}, {unleet(word), 1}, {backwards(lower), 1}} {
		if own[variant.word] {
			return 1 + variant.extra + caseBits(text, lower), true
		}
		if listed, ok := wordBits(variant.word); ok && !isDigits(variant.word) {
			return listed + variant.extra + caseBits(text, lower), true
		}
	}
	return 0, false
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

func backwards(s []rune) string {
	s = slices.Clone(s)
	slices.Reverse(s)
	return string(s)
}

// caseBits returns the bits that capital letters add to a word. Capital letters at
// the usual positions add few.
func caseBits(text, lower []rune) float64 {
	upper := 0
	for i := range text {
		if text[i] != lower[i] {
			upper++
		}
	}
	switch {
	case upper == 0:
		return 0
	case upper == len(text), upper == 1 && text[0] != lower[0]:
		return 1
	}
	return float64(min(upper, len(text)-upper)) + 2
}

// runBits returns the bits of a repeated character, of a sequence such as cdef or
// 8642, or of a keyboard walk. They depend on the start, the direction and the
// length.
func runBits(lower []rune) (float64, bool) {
	length := math.Log2(float64(len(lower)))
	if step := lower[1] - lower[0]; step >= -3 && step <= 3 && steady(lower, step) {
		return charBits(lower[0]) + 1 + length, true
	}
	turns, ok := walk(lower)
	if !ok {
		return 0, false
	}
	return 5 + length + 2.5*float64(turns), true
}

func steady(text []rune, step rune) bool {
	for i := 1; i < len(text); i++ {
		if text[i]-text[i-1] != step {
			return false
		}
	}
	return true
}

// keyboards are the rows of keyboard layouts. Each row is about half a key to the
// right of the row above. The second layout is the first with Shift pressed.
var keyboards = [][]string{
	{"1234567890-=", "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./"},
	{"!@#$%^&*()_+", "qwertyuiop{}", `asdfghjkl:"`, "zxcvbnm<>?"},
	{"1234567890", "qwertzuiopü", "asdfghjklöä", "yxcvbnm,.-"},
	{"&é\"'(-è_çà)=", "azertyuiop^$", "qsdfghjklmù", "wxcvbn,;:!"},
	{"йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю."},
}

// walk reports whether each character is next to the previous one on a keyboard. It
// returns how often the direction changes. Continuing in the next column, as in
// 1qaz2wsx, counts as two changes.
func walk(lower []rune) (turns int, ok bool) {
	if len(lower) < 4 {
		return 0, false
	}
	for _, rows := range keyboards {
		if turns, ok := walkOn(rows, lower); ok {
			return turns, true
		}
	}
	return 0, false
}

func walkOn(rows []string, lower []rune) (turns int, ok bool) {
	var direction [2]int
	for i := range lower {
		if i == 0 {
			continue
		}
		row, column, ok := key(rows, lower[i-1])
		toRow, toColumn, toOK := key(rows, lower[i])
		if !ok || !toOK {
			return 0, false
		}
		step := [2]int{toRow - row, toColumn - column}
		across := step[0] >= -1 && step[0] <= 1 && step[1] >= -1 && step[1] <= 1
		down := step[0] <= -2 && step[1] >= 0 && step[1] <= 2 // from the end of a column to the next
		if !across && !down {
			return 0, false
		}
		if step != direction && i > 1 {
			turns++
		}
		direction = step
	}
	return turns, true
}

// key returns the position of a character on a keyboard.
func key(rows []string, r rune) (row, column int, ok bool) {
	for row, keys := range rows {
		if i := slices.Index([]rune(keys), r); i >= 0 {
			return row, i, true
		}
	}
	return 0, 0, false
}
