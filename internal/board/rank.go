package board

import (
	"errors"
	"strings"
)

// Ranks order things in a list. A rank is text over 0-9A-Za-z that compares
// byte by byte; between any two there is always room for another. The scheme
// is David Greenspan's fractional indexing: a head that says how many digits
// the whole part has (a…z for growing, Z…A for falling), the whole part, and a
// fraction that does not end in the smallest digit. Appending a thousand times
// grows a rank by one character, where plain halving would grow it by hundreds.

const rankDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// RankLimit is the length above which a list is worth ranking anew.
const RankLimit = 50

var errRank = errors.New("rank: not a rank, or not in order")

// RankBetween is a rank after a and before b; an empty a is the beginning, an
// empty b the end.
func RankBetween(a, b string) (string, error) {
	if a != "" && b != "" && a >= b {
		return "", errRank
	}
	wholeA, fracA, err := splitRank(a)
	if err != nil {
		return "", err
	}
	wholeB, fracB, err := splitRank(b)
	if err != nil {
		return "", err
	}
	switch {
	case a == "" && b == "":
		return "a0", nil
	case a == "":
		if fracB != "" {
			return wholeB, nil // the whole part alone sorts before its fractions
		}
		if down := stepDown(wholeB); down != "" {
			return down, nil
		}
		return "", errRank // 62^26 ranks before the first: not reachable
	case b == "":
		if up := stepUp(wholeA); up != "" {
			return up, nil
		}
		frac, err := middle(fracA, "")
		return wholeA + frac, err
	case wholeA == wholeB:
		frac, err := middle(fracA, fracB)
		return wholeA + frac, err
	}
	if up := stepUp(wholeA); up != "" && up < b {
		return up, nil
	}
	frac, err := middle(fracA, "")
	return wholeA + frac, err
}

// CheckRank refuses a text that is no rank, or longer than any that is kept.
func CheckRank(r string) error {
	if r == "" || len(r) > RankLimit {
		return errRank
	}
	_, _, err := splitRank(r)
	return err
}

// RanksAfter makes n ranks in ascending order behind a (empty: from the beginning).
func RanksAfter(a string, n int) ([]string, error) {
	out := make([]string, n)
	for i := range out {
		r, err := RankBetween(a, "")
		if err != nil {
			return nil, err
		}
		out[i], a = r, r
	}
	return out, nil
}

// splitRank parts the whole from the fraction. The empty rank has neither.
func splitRank(r string) (whole, frac string, err error) {
	if r == "" {
		return "", "", nil
	}
	n := wholeLength(r[0])
	if n == 0 || n > len(r) {
		return "", "", errRank
	}
	for i := 1; i < len(r); i++ {
		if strings.IndexByte(rankDigits, r[i]) < 0 {
			return "", "", errRank
		}
	}
	if len(r) > n && r[len(r)-1] == '0' {
		return "", "", errRank // a fraction in more than one spelling
	}
	return r[:n], r[n:], nil
}

// wholeLength is the length of a whole part with that head, 0 for a bad head.
func wholeLength(head byte) int {
	switch {
	case head >= 'a' && head <= 'z':
		return int(head-'a') + 2
	case head >= 'A' && head <= 'Z':
		return int('Z'-head) + 2
	}
	return 0
}

// stepUp is the whole part after w, "" when there is none.
func stepUp(w string) string {
	b := []byte(w)
	for i := len(b) - 1; i > 0; i-- {
		d := strings.IndexByte(rankDigits, b[i]) + 1
		if d < len(rankDigits) {
			b[i] = rankDigits[d]
			return string(b)
		}
		b[i] = '0'
	}
	switch head := b[0]; {
	case head == 'Z':
		return "a0"
	case head == 'z':
		return ""
	case head > 'Z':
		return string(head+1) + string(b[1:]) + "0"
	default:
		return string(head+1) + string(b[1:len(b)-1])
	}
}

// stepDown is the whole part before w, "" when there is none.
func stepDown(w string) string {
	b := []byte(w)
	for i := len(b) - 1; i > 0; i-- {
		d := strings.IndexByte(rankDigits, b[i]) - 1
		if d >= 0 {
			b[i] = rankDigits[d]
			return string(b)
		}
		b[i] = 'z'
	}
	switch head := b[0]; {
	case head == 'a':
		return "Zz"
	case head == 'A':
		return ""
	case head < 'a':
		return string(head-1) + string(b[1:]) + "z"
	default:
		return string(head-1) + string(b[1:len(b)-1])
	}
}

// middle is the shortest fraction between two fractions; an empty b is one.
func middle(a, b string) (string, error) {
	if b != "" && a >= b {
		return "", errRank
	}
	if b != "" {
		// Keep what both share; a reads as padded with zeros.
		n := 0
		for n < len(b) && digitAt(a, n) == b[n] {
			n++
		}
		if n > 0 {
			rest, err := middle(a[min(n, len(a)):], b[n:])
			return b[:n] + rest, err
		}
	}
	low := strings.IndexByte(rankDigits, digitAt(a, 0))
	high := len(rankDigits)
	if b != "" {
		high = strings.IndexByte(rankDigits, b[0])
	}
	if high-low > 1 {
		return rankDigits[(low+high)/2 : (low+high)/2+1], nil
	}
	if len(b) > 1 {
		return b[:1], nil
	}
	rest, err := middle(a[min(1, len(a)):], "")
	return rankDigits[low:low+1] + rest, err
}

func digitAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return '0'
}
