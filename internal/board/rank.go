package board

import (
	"errors"
	"strings"
)

// Ranks order siblings. A rank is a string of the characters 0-9A-Za-z, compared byte by
// byte. There is always another rank between two ranks. The scheme is David
// Greenspan's fractional indexing. A rank consists of an integer part and a fraction.
// The first character of the integer part is its head. The heads a to z mean 1 to 26
// further digits of an integer that is not negative; the heads Z to A mean the same for
// negative integers. The fraction does not end in the smallest digit. Appending a
// thousand times makes a rank one character longer, whereas simple bisection would add
// well over a hundred.

const rankDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// RankLimit is the length of a rank above which the siblings should get new ranks.
const RankLimit = 50

var errRank = errors.New("rank: invalid rank, or ranks not in order")

// RankBetween returns a rank after a and before b. An empty a means the start,
// and an empty b the end. RankBetween returns an error if a rank is invalid or a is
// not before b.
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
			return wholeB, nil // the integer part alone sorts before its fractions
		}
		if down := stepDown(wholeB); down != "" {
			return down, nil
		}
		return "", errRank // needs 62^26 ranks before the first; not reachable
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

// CheckRank returns an error for an invalid rank, or one longer than RankLimit.
func CheckRank(r string) error {
	if r == "" || len(r) > RankLimit {
		return errRank
	}
	_, _, err := splitRank(r)
	return err
}

// RanksAfter returns n ascending ranks after a. An empty a means the start.
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

// splitRank splits a rank into its integer part and its fraction. The empty
// rank has neither.
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
		return "", "", errRank // a second spelling of the same fraction
	}
	return r[:n], r[n:], nil
}

// wholeLength returns the length of an integer part with the given head, or 0 for an
// invalid head.
func wholeLength(head byte) int {
	switch {
	case head >= 'a' && head <= 'z':
		return int(head-'a') + 2
	case head >= 'A' && head <= 'Z':
		return int('Z'-head) + 2
	}
	return 0
}

// stepUp returns the integer part after w, or "" if there is none.
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

// stepDown returns the integer part before w, or "" if there is none.
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

// middle returns a fraction between two fractions that is as short as possible. An
// empty b stands for 1.
func middle(a, b string) (string, error) {
	if b != "" && a >= b {
		return "", errRank
	}
	if b != "" {
		// Keep the common prefix; a counts as padded with zeros.
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
