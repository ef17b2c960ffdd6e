package board_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cardwall/internal/board"
)

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// between returns RankBetween(a, b), and fails the test if the result is not a valid rank between
// them.
func between(t interface{ Fatalf(string, ...any) }, a, b string) string {
	r, err := board.RankBetween(a, b)
	if err != nil {
		t.Fatalf("between %q and %q: %v", a, b, err)
	}
	if r <= a || b != "" && r >= b {
		t.Fatalf("%q is not between %q and %q", r, a, b)
	}
	if strings.Trim(r, digits) != "" || len(r) < 2 {
		t.Fatalf("%q, between %q and %q, is not a valid rank", r, a, b)
	}
	// The integer part may end in 0 (a0, Y10). A fraction must not, because no rank fits between a0V and a0V0.
	whole := 0
	switch head := r[0]; {
	case head >= 'a' && head <= 'z':
		whole = int(head-'a') + 2
	case head >= 'A' && head <= 'Z':
		whole = int('Z'-head) + 2
	}
	if whole == 0 || len(r) < whole || len(r) > whole && strings.HasSuffix(r, "0") {
		t.Fatalf("%q, between %q and %q, has an invalid integer part or a fraction that ends in 0", r, a, b)
	}
	return r
}

func TestRankKnownValues(t *testing.T) {
	t.Parallel()
	// Greenspan's examples, except that RankBetween chooses the lower of two middle digits.
	for _, c := range [][3]string{
		{"", "", "a0"}, {"", "a0", "Zz"}, {"", "Zz", "Zy"}, {"a0", "", "a1"}, {"a1", "", "a2"}, {"a0", "a1", "a0V"}, {"a1", "a2", "a1V"},
		{"a0V", "a1", "a0k"}, {"Zz", "a0", "ZzV"}, {"Zz", "a1", "a0"}, {"", "Y00", "Xzzz"}, {"bzz", "", "c000"}, {"a0", "a0V",
			"a0F"}, {"a0", "a0G", "a08"},
		{"b125", "b129", "b127"}, {"a0", "a1V", "a1"}, {"Zz", "a01", "a0"}, {"", "a0V", "a0"}, {"", "b999", "b99"}, {"az", "",
			"b00"}, {"a0", "a01V", "a01"},
	} {
		if got, err := board.RankBetween(c[0], c[1]); err != nil || got != c[2] {
			t.Errorf("between %q and %q: got %q (%v), want %q", c[0], c[1], got, err, c[2])
		}
	}
}

func TestInvalidRanks(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"a1", "a0"}, {"a0", "a0"}, {"a", ""}, {"", "a"}, {"0", ""}, {"a0V0", ""}, {"", "a00"}, {"a-", ""}, {"aä", ""}, {"!a0",
			""}, {"b1", ""}, {"", "Y0"}, {"a0 ", "a1"},
	} {
		if got, err := board.RankBetween(c[0], c[1]); err == nil {
			t.Errorf("between %q and %q: got %q, want an error", c[0], c[1], got)
		}
	}
}

func TestTenThousandRandomInserts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 5))
	var ranks []string
	for range 10_000 {
		at := random.IntN(len(ranks) + 1)
		lo, hi := "", ""
		if at > 0 {
			lo = ranks[at-1]
		}
		if at < len(ranks) {
			hi = ranks[at]
		}
		ranks = slices.Insert(ranks, at, between(t, lo, hi))
	}
	longest := 0
	for i, r := range ranks {
		if i > 0 && r <= ranks[i-1] {
			t.Fatalf("%q does not come after %q", r, ranks[i-1])
		}
		longest = max(longest, len(r))
	}
	if longest > 12 {
		t.Errorf("the longest rank has %d characters, want at most 12", longest)
	}
}

// Ranks hardly grow when cards are appended or prepended. Inserting into one gap adds a character
// about every six inserts.
func TestRankLengths(t *testing.T) {
	t.Parallel()
	grow := func(n int, next func(i int, last string) string) (longest int) {
		last := ""
		for i := range n {
			last = next(i, last)
			longest = max(longest, len(last))
		}
		return longest
	}
	if n := grow(100_000, func(_ int, last string) string { return between(t, last, "") }); n > 4 {
		t.Errorf("100,000 appended cards: got a rank of %d characters, want at most 4", n)
	}
	if n := grow(100_000, func(_ int, last string) string { return between(t, "", last) }); n > 5 {
		t.Errorf("100,000 prepended cards: got a rank of %d characters, want at most 5", n)
	}
	if n := grow(1000, func(i int, last string) string {
		if i == 0 {
			last = "a1"
		}
		return between(t, "a0", last)
	}); n < 100 || n > 210 {
		t.Errorf("1,000 cards after one sibling: got a longest rank of %d characters, want 100 to 210", n)
	}
	lo, hi := "a0", "a1"
	if n := grow(1000, func(i int, _ string) string {
		r := between(t, lo, hi)
		if i%2 == 0 {
			lo = r
		} else {
			hi = r
		}
		return r
	}); n > 210 {
		t.Errorf("1,000 cards in one gap: got a rank of %d characters, want at most 210", n)
	}
	ranks, err := board.RanksAfter("", 200_000)
	if err != nil || len(ranks) != 200_000 || !slices.IsSorted(ranks) || len(ranks[len(ranks)-1]) > 4 {
		t.Errorf("got %d ranks, error %v; want 200,000 in order, with at most 4 characters in the last", len(ranks), err)
	}
	if len(slices.Compact(ranks)) != 200_000 {
		t.Error("RanksAfter returned a rank twice")
	}
}

// There is a rank between any two ranks that inserts can produce.
func TestRankBetweenAnyTwo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ranks := []string{}
		for range rapid.IntRange(1, 60).Draw(rt, "inserts") {
			// Insert mostly in one gap, where ranks get long.
			at := min(len(ranks), rapid.IntRange(0, 4).Draw(rt, "at"))
			lo, hi := "", ""
			if at > 0 {
				lo = ranks[at-1]
			}
			if at < len(ranks) {
				hi = ranks[at]
			}
			ranks = slices.Insert(ranks, at, between(rt, lo, hi))
		}
		i := rapid.IntRange(0, len(ranks)-1).Draw(rt, "i")
		j := rapid.IntRange(i, len(ranks)-1).Draw(rt, "j")
		if i < j {
			between(rt, ranks[i], ranks[j])
		}
	})
}

// For any two strings, RankBetween returns a rank between them or an error.
func FuzzRankBetween(f *testing.F) {
	for _, c := range [][2]string{{"", ""}, {"a0", "a1"}, {"Zz", "a0"}, {"a0V", "a0W"}, {"zzzzzzzzzzzzzzzzzzzzzzzzzzz", ""},
		{"", "A00000000000000000000000000"}, {"a0", "a00001"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if _, err := board.RankBetween(a, b); err == nil {
			between(t, a, b)
		}
	})
}
